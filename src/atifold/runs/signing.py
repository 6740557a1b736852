"""Sign a run that has ended, here with a key or by an envelope that was signed elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from atifold.runs import dsse, trust
from atifold.runs.ecmascript import parse_json
from atifold.runs.reading import run_of
from atifold.runs.refusal import RefusedError
from atifold.runs.statement import Verdict, attest, judge, payload_of, statement_of
from atifold.runs.view import Run, fold, join_trailers
from atifold.runs.writing import Appended, Writer

Envelope = Any
"""JSON that should be a DSSE envelope."""

Signature = Callable[[Run, trust.Policy], Envelope]
"""Makes the envelope of a run under a policy; raises RefusedError."""


class Signed(NamedTuple):
    """What came of a signature: the run with it, its statements' worth, and the envelope with its verdict."""

    run: Run
    attestation: dict[str, Any]
    appended: Appended
    envelope: Envelope
    verdict: Verdict


def sign(writer: Writer, run_id: str, signature: Signature, base: str | None = None) -> Signed:
    """Store a statement of a run, once it verifies under the policy at base; raises RefusedError."""
    workspace = writer.workspace
    run = run_of(workspace, run_id)
    if run["record"] is None:
        raise RefusedError("run-not-ended", f"run {run_id} has not ended, and a statement is of the whole record")
    policy = trust.at_base(workspace.git, base)
    if policy.problems:
        raise RefusedError(
            "trust-policy-unreadable", f"the policy at base cannot be read: {'; '.join(policy.problems)}"
        )
    envelope = signature(run, policy)
    verdict = judge(envelope, policy.runners, run)
    if verdict["status"] != "verified":
        raise RefusedError(verdict["code"], verdict["reason"])
    appended = writer.statement(run_id, envelope, run["record"]["sha256"])
    after = fold(appended.run, appended.file, appended.lines) or run
    join_trailers([after], workspace.git)
    return Signed(after, attest(after, policy.runners), appended, envelope, verdict)


def with_key(pem: bytes) -> Signature:
    """Sign with a runner's key, as the principal that the policy lists for it."""

    def make(run: Run, policy: trust.Policy) -> Envelope:
        key = dsse.load_key(pem)
        if any(signer.key == key.public for signer in policy.signers):
            words = "the key is a person's, who signs commits with it: a run is signed by a service or in CI"
            raise RefusedError("runner-key-is-signer", words)
        listed = next((runner for runner in policy.runners if runner.key == key.public), None)
        if listed is None:
            words = f"the policy at base lists no runner with this key; as {trust.FILE} names it, it is {key.public}"
            raise RefusedError("runner-key-unlisted", words)
        return dsse.sign(payload_of(statement_of(run, listed.principal)), key)

    return make


def with_envelope(text: str) -> Signature:
    """Take what was signed elsewhere, as JSON."""

    def make(_run: Run, _policy: trust.Policy) -> Envelope:
        try:
            return parse_json(text)
        except ValueError as error:
            raise RefusedError("envelope-unreadable", f"--envelope is no JSON: {error}") from None

    return make
