"""Model what people and programs hand in: the fields of a start, of an end, and of both in one.

Unknown keys are refused and null is no value: what is not known is left out. Texts are trimmed. Numbers
are JSON's, as `ecmascript.parse_json` reads them.
"""

from __future__ import annotations

import math
import re
from typing import Annotated, Any, Final, TypeVar, Union

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from typing_extensions import Self

from atifold.kinds import is_object
from atifold.runs.ecmascript import MOST_EXACT, time_ms, trim, utf16_length
from atifold.runs.refusal import RefusedError

RUN_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
LONGEST_EXCERPT: Final = 500
"""UTF-16 units of an instruction's excerpt."""

_KIND: Final = re.compile(r"[a-z][a-z0-9-]*")
_RECORD: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


def _text(value: object) -> str:
    plain = trim(value) if isinstance(value, str) else ""
    if not plain or "\r" in plain or "\n" in plain:
        raise ValueError("one line of text was wanted")
    return plain


def _excerpt(value: object) -> str:
    plain = trim(value) if isinstance(value, str) else ""
    if not plain or utf16_length(plain) > LONGEST_EXCERPT:
        raise ValueError(f"a text of {LONGEST_EXCERPT} UTF-16 units at most was wanted")
    return plain


def _time(value: object) -> str:
    if not isinstance(value, str) or time_ms(value) is None:
        raise ValueError("a date and time such as 2026-11-30T10:48:04.872Z was wanted")
    return value


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_EXACT:
        raise ValueError("a whole number from 0 to 2^53 - 1 was wanted")
    return value


def _line_number(value: object) -> int:
    if _count(value) < 1:
        raise ValueError("the number of a line, from 1 on, was wanted")
    return _count(value)


def _amount(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < math.inf:
        raise ValueError("an amount of 0 or more was wanted")
    return value


def _like(pattern: str, wanted: str) -> BeforeValidator:
    compiled = re.compile(pattern)

    def check(value: object) -> str:
        if not isinstance(value, str) or compiled.fullmatch(value) is None:
            raise ValueError(f"{wanted} was wanted")
        return value

    return BeforeValidator(check)


def _given(value: Any) -> Any:
    if value is None:
        raise ValueError("null is no value: leave the key out")
    return value


def _record(value: object) -> dict[str, str]:
    kind, colon, name = value.partition(":") if isinstance(value, str) else ("", "", "")
    kind, name = trim(kind), trim(name)
    if not (colon and _KIND.fullmatch(kind) and _RECORD.fullmatch(name)):
        raise ValueError("<kind>:<id> was wanted")
    return {"kind": kind, "id": name}


def _named(key: str) -> BeforeValidator:
    """Read a text where an object is wanted as that object with its one key."""
    return BeforeValidator(lambda value: {key: value} if isinstance(value, str) else value)


def _relative(value: object) -> str:
    path = _text(value)
    if path.startswith("/") or ".." in path.split("/"):
        raise ValueError("a path from the repository's top was wanted")
    return path


_T = TypeVar("_T")
Given = Annotated[_T | None, BeforeValidator(_given)]
"""What may be left out, and is no null where it is there."""

Text = Annotated[str, BeforeValidator(_text)]
Time = Annotated[str, BeforeValidator(_time)]
Count = Annotated[int, BeforeValidator(_count)]
LineNumber = Annotated[int, BeforeValidator(_line_number)]
Sha256 = Annotated[str, _like("[0-9a-f]{64}", "a sha256 of 64 lower-case hex digits")]
CommitName = Annotated[str, _like("[0-9a-f]{4,64}", "a commit id of 4 to 64 lower-case hex digits")]
Currency = Annotated[str, _like("[A-Z]{3}", "a currency such as USD")]
RunId = Annotated[str, _like(RUN_ID.pattern, "letters, digits, '.', '_' and '-', 100 at most, the first no sign")]


class _Fields(BaseModel):
    model_config = ConfigDict(extra="forbid", protected_namespaces=())


class Harness(_Fields):
    """What ran the agent."""

    name: Text
    version: Given[Text] = None


class Unit(_Fields):
    """The work item that a run was for."""

    id: Text
    kind: Given[Text] = None


class Pin(_Fields):
    """A file that is pinned: by its hash, or by a path to be hashed."""

    sha256: Given[Sha256] = None
    path: Given[Text] = None
    ref: Given[Text] = None

    @model_validator(mode="after")
    def _one_of(self) -> Self:
        if (self.sha256 is None) == (self.path is None):
            raise ValueError("either sha256 or path was wanted")
        return self


class Instruction(Pin):
    """The instruction that a run was given, pinned, and words of it to show."""

    excerpt: Given[Annotated[str, BeforeValidator(_excerpt)]] = None


class Cost(_Fields):
    """A sum of money, and what priced it."""

    amount: Annotated[Union[int, float], BeforeValidator(_amount)]
    currency: Currency
    source: Text


class Usage(_Fields):
    """Turns, and tokens of four kinds that do not overlap."""

    turns: Given[Count] = None
    inputTokens: Given[Count] = None  # noqa: N815 - the ledger's spelling, here and below
    outputTokens: Given[Count] = None  # noqa: N815
    cacheReadTokens: Given[Count] = None  # noqa: N815
    cacheWriteTokens: Given[Count] = None  # noqa: N815


class ModelUsage(_Fields):
    """What one model had of a run."""

    model: Text
    provider: Given[Text] = None
    inputTokens: Given[Count] = None  # noqa: N815
    outputTokens: Given[Count] = None  # noqa: N815
    cacheReadTokens: Given[Count] = None  # noqa: N815
    cacheWriteTokens: Given[Count] = None  # noqa: N815
    cost: Given[Cost] = None


class Hunk(_Fields):
    """Lines of one file, as a commit has them."""

    path: Annotated[str, BeforeValidator(_relative)]
    start: LineNumber
    end: LineNumber

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.end < self.start:
            raise ValueError("an end that is not before its start was wanted")
        return self


class Commit(_Fields):
    """A commit that a run made, whole or in hunks."""

    sha: CommitName
    hunks: Annotated[Given[list[Hunk]], Field(min_length=1)] = None

    @model_validator(mode="before")
    @classmethod
    def _object_or_id(cls, value: Any) -> Any:
        if is_object(value) and "hunks" not in value:
            raise ValueError("hunks were wanted beside a sha; without them the id alone is the value")
        return value


def _commit(value: object) -> Any:
    return Commit.model_construct(sha=_checked_name(value), hunks=None) if isinstance(value, str) else value


def _checked_name(value: str) -> str:
    if re.fullmatch("[0-9a-f]{4,64}", value) is None:
        raise ValueError("a commit id of 4 to 64 lower-case hex digits was wanted")
    return value


class StartFields(_Fields):
    """The fields of a start."""

    id: Given[RunId] = None
    startedAt: Given[Time] = None  # noqa: N815
    by: Given[Text] = None
    agent: Given[Text] = None
    harness: Annotated[Harness, _named("name")]
    model: Given[Text] = None
    provider: Given[Text] = None
    unit: Given[Annotated[Unit, _named("id")]] = None
    lease: Given[Text] = None
    records: Given[list[Annotated[dict[str, str], BeforeValidator(_record)]]] = None
    instruction: Given[Instruction] = None


class EndFields(_Fields):
    """The fields of an end."""

    endedAt: Given[Time] = None  # noqa: N815
    outcome: Given[Text] = None
    usage: Given[Usage] = None
    models: Given[list[ModelUsage]] = None
    cost: Given[Cost] = None
    transcript: Given[Pin] = None
    commits: Given[list[Annotated[Commit, BeforeValidator(_commit)]]] = None


class RecordFields(StartFields, EndFields):
    """The fields of a run that is over: a start and an end in one."""


_M = TypeVar("_M", bound=_Fields)


def read(model: type[_M], value: object) -> _M:
    """Return the fields that a JSON object holds; raises RefusedError that names each that is wrong."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        words = "; ".join(f"{_place(fault['loc'])}: {_words(fault)}" for fault in error.errors())
        raise RefusedError("write-input-invalid", words) from None


def _place(way: tuple[int | str, ...]) -> str:
    return ".".join(map(str, way)) or "the fields"


def _words(fault: Any) -> str:
    """Return what is wrong in few words; what was given is not repeated, since it may be anybody's text."""
    kinds = {"extra_forbidden": "no such field", "missing": "it was wanted"}
    return kinds.get(fault["type"]) or str(fault["msg"]).removeprefix("Value error, ")
