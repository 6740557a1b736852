"""Make the documents that the verbs of the ledger print, and their failures."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Literal

from atifold.runs import branch, dsse, trust
from atifold.runs.declaration import READER
from atifold.runs.git import TRAILER
from atifold.runs.reading import Filter, ledger_of, newest_first, read, run_of
from atifold.runs.refusal import RefusedError
from atifold.runs.signing import Signed
from atifold.runs.statement import attest, foreign_subjects, payload_of, statement_of
from atifold.runs.view import Run, fold, join_trailers, shown
from atifold.runs.workspace import Workspace
from atifold.runs.writing import Appended

_SCHEMAS: Final = "https://intentius.io/chant/schemas/workspace"
WRITE: Final = f"{_SCHEMAS}/runs-write/v1/runs-write.schema.json"
STATEMENT: Final = f"{_SCHEMAS}/run-statement/v1/run-statement.schema.json"
READ: Final = f"{_SCHEMAS}/runs/v1/runs.schema.json"

Document = dict[str, Any]
WriteVerb = Literal["start", "end", "record", "sign"]
StatementVerb = Literal["statement", "verify"]


def _head(schema: str) -> Document:
    """Return the keys that a document begins with; those that are read say whose rules they follow."""
    return {"$schema": schema, "contract": 1, **({} if schema == WRITE else {"chant": READER})}


def failure(schema: str, error: RefusedError, verb: str | None = None) -> Document:
    """Return the document of a verb that did nothing; the read document names no verb."""
    told = {} if schema == READ else {"verb": verb}
    return {**_head(schema), **told, "error": {"code": error.code, "message": error.message}}


def written(verb: WriteVerb, appended: Appended) -> Document:
    """Return the document of a write."""
    run = fold(appended.run, appended.file, appended.lines)
    if run is None:
        raise RefusedError("run-unknown", f"the ledger has no start of run {appended.run}")
    return _result(verb, run, appended)


def _result(verb: WriteVerb, run: Run, appended: Appended) -> Document:
    where = appended.written
    ledger = {"branch": branch.NAME, "path": appended.file, "commit": where.commit, "pushed": where.not_pushed is None}
    if where.not_pushed is not None:
        ledger["notPushed"] = where.not_pushed
    return {**_head(WRITE), "verb": verb, "run": shown(run), "trailer": f"{TRAILER}: {run['id']}", "ledger": ledger}


def signed(done: Signed) -> Document:
    """Return the document of a signature."""
    document = _result("sign", done.run, done.appended)
    document["run"]["attestation"] = done.attestation
    who = {key: done.verdict[key] for key in ("signer", "class", "keyid")}
    return {**document, "statement": {**who, "envelope": done.envelope}}


def statement(workspace: Workspace, run_id: str, signer: str) -> Document:
    """Return the document with what a signer signs elsewhere; raises RefusedError."""
    run = run_of(workspace, run_id)
    if run["record"] is None:
        raise RefusedError("run-not-ended", f"run {run_id} has not ended, and a statement is of the whole record")
    made = statement_of(run, signer)
    payload = base64.b64encode(payload_of(made)).decode()
    told = {"run": run_id, "payloadType": dsse.PAYLOAD_TYPE, "payload": payload, "statement": made}
    return {**_head(STATEMENT), "verb": "statement", **told}


def verified(
    workspace: Workspace, run_id: str | None = None, *, require: bool = False, base: str | None = None, folder: Path
) -> Document:
    """Return the verdicts on the statements of one run or all; raises RefusedError.

    Beyond what the ledger's own rules ask, transcripts that are at hand are hashed again, and commits of
    a statement are compared with the run's; what is found stands under `atifold`.
    """
    runs = ledger_of(workspace).runs
    if run_id is not None and run_id not in runs:
        raise RefusedError("run-unknown", f"the ledger has no run {run_id}")
    chosen = newest_first(runs.values() if run_id is None else [runs[run_id]])
    join_trailers(chosen, workspace.git)
    policy = trust.at_base(workspace.git, base)
    judged = [(run, attest(run, policy.runners)) for run in chosen]
    unsigned = [f"{run['id']} is {told['status']}: {told['reason']}" for run, told in judged if _lacks(run, told)]
    failures = unsigned if require else []
    findings = [finding for run, told in judged for finding in _findings(run, told, (folder, workspace.folder))]
    changed = [finding["message"] for finding in findings if finding["kind"] == "transcript-changed"]
    more: Document = {"atifold": {"findings": findings}} if findings else {}
    statuses = [told["status"] for _, told in judged]
    return {
        **_head(STATEMENT),
        "verb": "verify",
        "trust": policy.document(),
        "require": "signed" if require else None,
        "runs": [{**{key: run[key] for key in ("id", "state", "record")}, "attestation": told} for run, told in judged],
        "summary": {
            "runs": len(judged),
            "signed": statuses.count("signed"),
            "unsigned": statuses.count("unsigned"),
            "failed": sum(status not in ("signed", "unsigned") for status in statuses),
            "running": sum(run["state"] == "running" for run, _ in judged),
        },
        "failures": [*failures, *changed],
        "ok": not failures and not changed,
        **more,
    }


def _lacks(run: Run, attestation: Document) -> bool:
    return bool(run["state"] == "ended" and attestation["status"] != "signed")


def _findings(run: Run, attestation: Document, folders: Sequence[Path]) -> list[Document]:
    found = []
    foreign = foreign_subjects(run, attestation)
    if foreign:
        words = f"{run['id']}: the statement and the run name different commits: {', '.join(foreign)}"
        found.append({"run": run["id"], "kind": "subjects-differ", "message": f"{words} (a check of atifold's own)"})
    fault = _transcript_fault(run["transcript"], folders)
    if fault:
        words = f"{run['id']}: {fault} (a check of atifold's own)"
        found.append({"run": run["id"], "kind": "transcript-changed", "message": words})
    return found


def _transcript_fault(pin: Document | None, folders: Sequence[Path]) -> str | None:
    """Return how a transcript at hand differs from its pin; None where it does not, or is not at hand."""
    if pin is None or not pin["ref"]:
        return None
    hashes = []
    for path in dict.fromkeys(folder / pin["ref"] for folder in folders):
        try:
            hashes.append(hashlib.sha256(path.read_bytes()).hexdigest())
        except (OSError, ValueError):  # not there, or no name that a file can have
            continue
    if not hashes or pin["sha256"] in hashes:
        return None
    return f"the transcript {pin['ref']} has changed: its sha256 is {hashes[0]}, {pin['sha256']} was recorded"


def runs(workspace: Workspace, wanted: Filter, base: str | None = None) -> Document:
    """Return the read document: runs that a filter keeps, and their totals; raises RefusedError."""
    return {**_head(READ), **read(workspace, wanted, base)}
