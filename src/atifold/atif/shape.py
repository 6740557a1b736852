"""Check a document against the models, and say in our words what does not fit.

The validation itself is pydantic's. Its errors name the members of a union in their place
(`message.list[ContentPart].0`) and complain once for each; here each complaint is about one place,
of the member that the value was meant to be.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic import ValidationError

from atifold.atif.findings import Finding, at, shown
from atifold.atif.models import Trajectory
from atifold.kinds import field, is_list, is_object

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails


class _Member(NamedTuple):
    """One member of a union: how it is called for people, and whether a value was meant to be it."""

    wanted: str
    fits: Callable[[object, object], bool]


def _fits_text(value: object, _: object) -> bool:
    return isinstance(value, str)


def _fits_number(value: object, _: object) -> bool:
    return isinstance(value, float)


def _fits_parts(value: object, _: object) -> bool:
    return is_list(value)


def _fits_image(value: object, part: object) -> bool:
    return is_object(value) and field(part, "type") != "audio"


def _fits_audio(value: object, part: object) -> bool:
    return is_object(value) and field(part, "type") == "audio"


_MEMBERS: Final[Mapping[str, _Member]] = {
    "str": _Member("a string", _fits_text),
    "float": _Member("a number", _fits_number),
    "list[ContentPart]": _Member("a list of content parts", _fits_parts),
    "ImageSource": _Member("the source of an image", _fits_image),
    "AudioSource": _Member("the source of an audio file", _fits_audio),
}
"""The names that pydantic puts into a place for the members of unions; no field of ATIF is called so."""

_WANTED: Final[Mapping[str, str]] = {
    "missing": "it: the field is required",
    "extra_forbidden": "fields of ATIF only; free data goes into `extra`",
    "literal_error": "one of {expected}",
    "string_type": "a string",
    "string_unicode": "text of whole Unicode characters",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number of fewer digits",
    "int_from_float": "a whole number",
    "finite_number": "a finite number",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "too_short": "at least {min_length}",
    "greater_than_equal": "at least {ge:g}",
    "recursion_loop": "documents nested less deeply",
    "recursion_depth_exceeded": "documents nested less deeply",
    "invalid_key": "names that are strings",
}
"""What was wanted, by the type of pydantic's error; `{}` is filled from its context."""


class _Place(NamedTuple):
    """Where an error is: the path for people, the value there, and the unions on the way.

    A union stands as (its path, its value, the object that has it, the member that was tried).
    """

    path: str
    value: object
    unions: tuple[tuple[str, object, object, str], ...]


def misfits(document: dict[str, Any]) -> list[Finding]:
    """Return what in a document does not fit the models, in the order of the fields; empty if all fits."""
    try:
        Trajectory.model_validate(document)
    except ValidationError as error:
        details = error.errors(include_url=False)
    else:
        return []
    placed = [(detail, _place(document, detail)) for detail in details]
    tried: defaultdict[str, dict[str, bool]] = defaultdict(dict)
    for _, place in placed:
        for path, value, owner, member in place.unions:
            tried[path][member] = _MEMBERS[member].fits(value, owner)
    found = [_finding(detail, place, tried) for detail, place in placed]
    return list(dict.fromkeys(finding for finding in found if finding is not None))


def _finding(detail: ErrorDetails, place: _Place, tried: Mapping[str, Mapping[str, bool]]) -> Finding | None:
    """Return the complaint, or None where another member of a union is the one to complain."""
    for path, value, _, member in place.unions:
        members = tried[path]
        if not any(members.values()):
            wanted = " or ".join(_MEMBERS[name].wanted for name in members)
            return Finding(path, f"found {shown(value)}, wanted {wanted}")
        if not members[member]:
            return None
    return Finding(place.path, f"found {_found(detail, place)}, wanted {_wanted(detail)}")


def _place(document: object, detail: ErrorDetails) -> _Place:
    path, value, owner = "", document, None
    unions: list[tuple[str, object, object, str]] = []
    # An unknown field may be called like the member of a union; it stands last.
    last = len(detail["loc"]) - 1 if detail["type"] == "extra_forbidden" else None
    for index, key in enumerate(detail["loc"]):
        if isinstance(key, str) and key in _MEMBERS and index != last:
            unions.append((path, value, owner, key))
        elif key != "[key]":  # pydantic's word for "the name itself", not a step further down
            path, value, owner = at(path, key), _item(value, key), value
    return _Place(path, value, tuple(unions))


def _item(value: Any, key: int | str) -> object:
    """Return a field or an item, None where there is none."""
    try:
        return value[key]
    except (LookupError, TypeError):
        return None


def _found(detail: ErrorDetails, place: _Place) -> str:
    match detail["type"]:
        case "missing":
            return "none"
        case "extra_forbidden":
            return f"an unknown field ({shown(place.value)})"
        case "recursion_loop" | "recursion_depth_exceeded":
            return "a document inside itself, or too many inside one another"
        case _:
            return shown(place.value)


def _wanted(detail: ErrorDetails) -> str:
    """Return what was wanted; of an error that the table lacks, pydantic's own words, in one line."""
    wanted = _WANTED.get(detail["type"])
    if wanted is None:
        return " ".join(detail["msg"].split())
    return wanted.format_map(detail.get("ctx", {}))
