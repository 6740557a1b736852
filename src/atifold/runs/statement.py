"""Make the in-toto statement of a run, and judge the statements that the ledger holds of it.

https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)
from typing_extensions import Self

from atifold.runs import dsse
from atifold.runs.canonical import canonical
from atifold.runs.dsse import RunnerKey
from atifold.runs.ecmascript import parse_json
from atifold.runs.refusal import Code, RefusedError
from atifold.runs.view import Run

TYPE: Final = "https://in-toto.io/Statement/v1"
PREDICATE: Final = "https://intentius.io/chant/agent-run/v1"

Verdict = dict[str, Any]
"""What documents say of one statement."""

_STATUS: Final[dict[Code, str]] = {"envelope-untrusted": "untrusted", "run-statement-mismatch": "mismatch"}
"""The status by code; what is not here is invalid."""
_BEST_FIRST: Final = ("mismatch", "untrusted", "invalid")
_UNSIGNED: Final = {
    "running": "the run has not ended; a statement is of one that has",
    "ended": "the ledger holds no statement of this run",
}


def _given(value: Any) -> Any:
    if value is None:
        raise ValueError("null is no value: leave the key out")
    return value


def _some(text: str) -> str:
    if not text:
        raise ValueError("a text was wanted")
    return text


_Text = Annotated[str, AfterValidator(_some)]
"""A text that is not empty. pydantic's own limits refuse half a surrogate pair, which the ledger may hold."""

_Commit = Annotated[str, StringConstraints(pattern=r"^(?:[0-9a-f]{40}|[0-9a-f]{64})\z")]
_Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}\z")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, protected_namespaces=())


class _Digest(_Strict):
    gitCommit: _Commit  # noqa: N815 - in-toto's spelling


class _Annotations(_Strict):
    patchId: _Commit  # noqa: N815 - the predicate's spelling


class _Subject(_Strict):
    name: _Commit
    digest: _Digest
    annotations: Annotated[_Annotations | None, BeforeValidator(_given)] = None

    @model_validator(mode="after")
    def _named_by_itself(self) -> Self:
        if self.name != self.digest.gitCommit:
            raise ValueError("a commit is named by its own id")
        return self


class _Record(_Strict):
    sha256: _Sha256


class _RunOf(_Strict):
    id: _Text
    record: _Record


class _Unit(_Strict):
    id: _Text
    kind: _Text | None


class _Harness(_Strict):
    name: _Text
    version: _Text | None


class _Predicate(_Strict):
    signer: _Text
    run: _RunOf
    unit: _Unit | None
    harness: _Harness
    model: _Text | None
    provider: _Text | None
    by: _Text | None


class _Statement(_Strict):
    type_: Literal["https://in-toto.io/Statement/v1"] = Field(alias="_type")
    subject: list[_Subject]
    predicateType: Literal["https://intentius.io/chant/agent-run/v1"]  # noqa: N815 - in-toto's spelling
    predicate: _Predicate


def statement_of(run: Run, signer: str) -> dict[str, Any]:
    """Return the statement of a run that has ended, as `signer` would sign it."""
    commits = sorted({commit["sha"]: commit for commit in run["commits"]}.values(), key=lambda commit: commit["sha"])
    return {
        "_type": TYPE,
        "subject": [_subject(commit["sha"], commit["patchId"]) for commit in commits],
        "predicateType": PREDICATE,
        "predicate": {
            "signer": signer,
            "run": {"id": run["id"], "record": run["record"]},
            **{name: run[name] for name in ("unit", "harness", "model", "provider", "by")},
        },
    }


def _subject(sha: str, patch_id: str | None) -> dict[str, Any]:
    plain = {"name": sha, "digest": {"gitCommit": sha}}
    return {**plain, "annotations": {"patchId": patch_id}} if patch_id else plain


def judge(envelope: Any, runners: Sequence[RunnerKey], run: Run) -> Verdict:
    """Return the verdict on one envelope: who signed it, and whether it says what the run's record says."""
    who: dict[str, Any] = {}
    try:
        signed = dsse.verify(envelope, runners)
        who = {"signer": signed.runner.principal, "class": signed.runner.class_, "keyid": signed.keyid}
        statement = _read(signed)
        _compare(statement, signed.runner.principal, run)
    except RefusedError as error:
        status = _STATUS.get(error.code, "invalid")
        return {"status": status, "code": error.code, "reason": error.message, **who}
    return {"status": "verified", "reason": f"signed by {who['signer']}", **who, "statement": statement}


def _read(signed: dsse.Signed) -> dict[str, Any]:
    if signed.payload_type != dsse.PAYLOAD_TYPE:
        words = f"the payload's type is {signed.payload_type}, {dsse.PAYLOAD_TYPE} was wanted"
        raise RefusedError("run-statement-invalid", words)
    try:
        value = parse_json(signed.payload.decode("utf-8", "replace"))
        _Statement.model_validate(value)
    except ValidationError as error:
        words = "; ".join(f"{'.'.join(map(str, fault['loc'])) or '/'}: {fault['msg']}" for fault in error.errors())
        raise RefusedError("run-statement-invalid", f"the payload is no statement of a run: {words}") from None
    except ValueError:
        raise RefusedError("run-statement-invalid", "the payload is no JSON") from None
    found: dict[str, Any] = value
    return found


def _compare(statement: dict[str, Any], principal: str, run: Run) -> None:
    told = statement["predicate"]
    if told["signer"] != principal:
        words = f"the statement names {told['signer']!r} as its signer, and the key of {principal} signed it"
        raise RefusedError("run-statement-signer-mismatch", words)
    differs = [] if told["run"] == {"id": run["id"], "record": run["record"]} else [_other_run(told["run"], run)]
    differs += [
        f"{name} is {told[name]!r} there and {run[name]!r} in the record"
        for name in ("unit", "harness", "model", "provider", "by")
        if told[name] != run[name]
    ]
    if differs:
        words = f"signed by {principal}, but not of this record of {run['id']}: {'; '.join(differs)}"
        raise RefusedError("run-statement-mismatch", words)


def _other_run(told: dict[str, Any], run: Run) -> str:
    if told["id"] != run["id"]:
        return f"it is of run {told['id']}"
    now = run["record"]["sha256"][:12] if run["record"] else "that of no end"
    return f"the record's digest was {told['record']['sha256'][:12]} when it was signed and is {now} now"


def attest(run: Run, runners: Sequence[RunnerKey]) -> dict[str, Any]:
    """Return what a run's statements come to: one that verifies, else the best that fails, else none."""
    verdicts = [judge(item["envelope"], runners, run) for item in run["statements"]]
    good = next((verdict for verdict in verdicts if verdict["status"] == "verified"), None)
    ranked = sorted(verdicts, key=lambda verdict: _BEST_FIRST.index(verdict["status"])) if good is None else [good]
    best = ranked[0] if ranked else {"status": "unsigned", "reason": _UNSIGNED[run["state"]]}
    return {
        "status": "signed" if good else best["status"],
        "signer": best.get("signer"),
        "class": best.get("class"),
        "keyid": best.get("keyid"),
        "code": best.get("code"),
        "reason": best["reason"],
        "commits": [] if good is None else [subject["name"] for subject in good["statement"]["subject"]],
        "statements": verdicts,
    }


def foreign_subjects(run: Run, attestation: dict[str, Any]) -> list[str]:
    """Return the commits that a verified statement names and the run does not have, or the other way round."""
    if attestation["status"] != "signed":
        return []
    return sorted(set(attestation["commits"]) ^ {commit["sha"] for commit in run["commits"]})


def payload_of(statement: dict[str, Any]) -> bytes:
    """Return the bytes that are signed."""
    return canonical(statement)
