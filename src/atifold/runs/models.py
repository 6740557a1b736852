"""Model the documents that the verbs of the ledger print: the shape that their JSON schemas are made of.

A document is a plain dict of JSON values everywhere else. Readers pass over keys that they do not know.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar, Union

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue

from atifold.runs.refusal import Code


class _Absent:
    """Mark a field that is left out where there is nothing to say, and is never null."""

    def __get_pydantic_json_schema__(self, core: Any, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(core["schema"] if core["type"] == "nullable" else core)


_T = TypeVar("_T")
Absent = Annotated[_T | None, _Absent()]
Hex64 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0)]
Class = Literal["runner", "service"]
VerdictCode = Literal[
    "envelope-invalid",
    "envelope-untrusted",
    "run-statement-invalid",
    "run-statement-signer-mismatch",
    "run-statement-mismatch",
]
WorkspaceCode = Literal[
    "declaration-missing",
    "declaration-ambiguous",
    "declaration-unparseable",
    "declaration-invalid",
    "placement-invalid",
    "reader-too-old",
    "root-chant-required",
    "not-a-git-repository",
    "revision-unknown",
]
StatementCode = Literal[WorkspaceCode, "write-usage-invalid", "run-unknown", "run-not-ended"]
WriteSchema = Literal["https://intentius.io/chant/schemas/workspace/runs-write/v1/runs-write.schema.json"]
StatementSchema = Literal["https://intentius.io/chant/schemas/workspace/run-statement/v1/run-statement.schema.json"]
ReadSchema = Literal["https://intentius.io/chant/schemas/workspace/runs/v1/runs.schema.json"]


class _Object(BaseModel):
    model_config = ConfigDict(protected_namespaces=(), populate_by_name=True)


# ---- a run -----------------------------------------------------------------------------------------


class Harness(_Object):
    """What ran the agent."""

    name: str
    version: str | None


class Unit(_Object):
    """A work item."""

    id: str
    kind: str | None


class RecordName(_Object):
    """A record of the workspace, by its kind and id."""

    kind: str
    id: str


class Record(_Object):
    """The digest of a run's start and end, which statements sign."""

    sha256: Hex64


class Pin(_Object):
    """A file that is known by its hash and kept elsewhere."""

    sha256: Hex64
    bytes: Count | None = Field(description="Its size; null where the writer gave the hash alone.")
    ref: str | None = Field(description="Where the writer keeps it.")
    excerpt: Annotated[Absent[str], Field(max_length=500, description="Words of an instruction, to show.")] = None


class Cost(_Object):
    """A sum of money, and what priced it."""

    amount: Annotated[float, Field(ge=0)]
    currency: Annotated[str, Field(pattern="^[A-Z]{3}$", description="As ISO 4217 has it.")]
    source: str = Field(description="A harness's report, a price list or a bill, by name.")


class Usage(_Object):
    """Turns, and tokens in four counts that do not overlap; null is unknown."""

    turns: Count | None
    inputTokens: Count | None  # noqa: N815 - the ledger's spelling, here and below
    outputTokens: Count | None  # noqa: N815
    cacheReadTokens: Count | None  # noqa: N815
    cacheWriteTokens: Count | None  # noqa: N815


class ModelUsage(_Object):
    """What one model had of a run."""

    model: str
    provider: str | None
    inputTokens: Count | None  # noqa: N815
    outputTokens: Count | None  # noqa: N815
    cacheReadTokens: Count | None  # noqa: N815
    cacheWriteTokens: Count | None  # noqa: N815
    cost: Cost | None


class Hunk(_Object):
    """Lines of one file that a run wrote, as its commit has them."""

    path: str
    start: Annotated[int, Field(ge=1)]
    end: Annotated[int, Field(ge=1)]


Hunks = Annotated[list[Hunk], Field(min_length=1)]


class Commit(_Object):
    """A commit that a run made, and how that is known."""

    sha: Annotated[str, Field(pattern="^[0-9a-f]{40,64}$")]
    patchId: str | None = Field(description="Its stable patch id; null where it changes nothing.")  # noqa: N815
    joinedBy: Annotated[list[Literal["record", "trailer"]], Field(min_length=1)]  # noqa: N815
    hunks: Hunks | None = Field(default=None, description="The run's lines of it; null for the whole commit.")


class ReadCommit(Commit):
    """A commit of a run that was read: it may be another one of the same patch."""

    joinedBy: Annotated[list[Literal["record", "trailer", "patch-id"]], Field(min_length=1)]  # type: ignore[assignment]  # noqa: N815
    recordedAs: Absent[str] = Field(default=None, description="The commit that the run recorded.")  # noqa: N815


class Signature(_Object):
    """One signature of an envelope."""

    keyid: str = Field(description="The key's ssh fingerprint.")
    sig: str


class Envelope(_Object):
    """A DSSE envelope."""

    payloadType: str  # noqa: N815
    payload: str = Field(description="The payload in base64.")
    signatures: list[Signature]


class StoredStatement(_Object):
    """A statement as the ledger holds it."""

    at: str
    envelope: Envelope


# ---- statements and what they are worth ------------------------------------------------------------


class CommitDigest(_Object):
    """A commit by its id."""

    gitCommit: str  # noqa: N815


class Annotations(_Object):
    """What a statement says of a commit beside its id."""

    patchId: Absent[str] = None  # noqa: N815


class Subject(_Object):
    """A commit that a statement is about."""

    name: str
    digest: CommitDigest
    annotations: Absent[Annotations] = None


class StatedRun(_Object):
    """The run that a statement is of."""

    id: str
    record: Record


class Predicate(_Object):
    """What a statement says."""

    signer: str = Field(description="The principal whose key signs.")
    run: StatedRun
    unit: Unit | None
    harness: Harness
    model: str | None
    provider: str | None
    by: str | None


class Statement(_Object):
    """An in-toto statement of a run."""

    type_: Literal["https://in-toto.io/Statement/v1"] = Field(alias="_type")
    subject: list[Subject]
    predicateType: Literal["https://intentius.io/chant/agent-run/v1"]  # noqa: N815
    predicate: Predicate


class Verdict(_Object):
    """What one stored statement is worth."""

    status: Literal["verified", "mismatch", "untrusted", "invalid"]
    code: Absent[VerdictCode] = None
    reason: str
    signer: Absent[str] = None
    class_: Absent[Class] = Field(default=None, alias="class")
    keyid: Absent[str] = None
    statement: Absent[Statement] = None


class Attestation(_Object):
    """What all statements of a run come to."""

    status: Literal["signed", "unsigned", "mismatch", "untrusted", "invalid"]
    signer: str | None
    class_: Class | None = Field(alias="class")
    keyid: str | None
    code: VerdictCode | None
    reason: str
    commits: list[str]
    statements: list[Verdict]


class Runner(_Object):
    """Who may sign runs."""

    principal: str
    class_: Class = Field(alias="class")


class Trust(_Object):
    """The trust policy at base."""

    base: str | None
    baseFrom: Literal["flag", "origin/HEAD", "main", "master"] | None  # noqa: N815
    runners: list[Runner]
    problems: list[str]


class _RunFields(_Object):
    id: str
    state: Literal["running", "ended"]
    startedAt: str  # noqa: N815
    endedAt: str | None  # noqa: N815
    outcome: str | None
    by: str | None
    agent: str | None
    harness: Harness
    model: str | None
    provider: str | None
    unit: Unit | None
    lease: str | None
    records: list[RecordName]
    instruction: Pin | None
    usage: Usage | None
    models: list[ModelUsage]
    cost: Cost | None = Field(description="What it cost; null for unknown, never zero.")
    transcript: Pin | None
    commits: list[Commit]
    decisions: list[str]
    ledger: str = Field(description="Its file on the branch.")
    record: Record | None = Field(description="Null until the run has ended.")
    statements: list[StoredStatement]


class Run(_RunFields):
    """A run after a write."""

    attestation: Absent[Attestation] = None


class ReadRun(_RunFields):
    """A run that was read."""

    commits: list[ReadCommit]  # type: ignore[assignment]
    attestation: Attestation


# ---- the documents ---------------------------------------------------------------------------------


class Where(_Object):
    """Where a write went."""

    branch: Literal["chant/lifecycle"]
    path: str
    commit: str
    pushed: bool
    notPushed: Absent[str] = Field(default=None, description="Why the remote has it not.")  # noqa: N815


class SignedBy(_Object):
    """The statement that a signature stored."""

    signer: str
    class_: Class = Field(alias="class")
    keyid: str
    envelope: Envelope


class Result(_Object):
    """What a write prints."""

    schema_: WriteSchema = Field(alias="$schema")
    contract: Literal[1]
    verb: Literal["start", "end", "record", "sign"]
    run: Run
    trailer: Annotated[str, Field(pattern="^Chant-Run: ", description="The line that commits of the run carry.")]
    ledger: Where
    statement: Absent[SignedBy] = None


class WriteError(_Object):
    """Why nothing was written."""

    code: Code
    message: str


class WriteFailure(_Object):
    """What a write prints that was refused."""

    schema_: WriteSchema = Field(alias="$schema")
    contract: Literal[1]
    verb: Literal["start", "end", "record", "sign"] | None
    error: WriteError


class StatementResult(_Object):
    """What is to be signed elsewhere."""

    schema_: StatementSchema = Field(alias="$schema")
    contract: Literal[1]
    chant: str
    verb: Literal["statement"]
    run: str
    payloadType: Literal["application/vnd.in-toto+json"]  # noqa: N815
    payload: str
    statement: Statement


class JudgedRun(_Object):
    """A run and what its statements are worth."""

    id: str
    state: Literal["running", "ended"]
    record: Record | None
    attestation: Attestation


class Summary(_Object):
    """How many runs are what."""

    runs: Count
    signed: Count
    unsigned: Count
    failed: Count
    running: Count


class VerifyResult(_Object):
    """The verdicts on the statements of runs."""

    schema_: StatementSchema = Field(alias="$schema")
    contract: Literal[1]
    chant: str
    verb: Literal["verify"]
    trust: Trust
    require: Literal["signed"] | None
    runs: list[JudgedRun]
    summary: Summary
    failures: list[str]
    ok: bool


class StatementError(_Object):
    """Why there is nothing to sign or to judge."""

    code: StatementCode
    message: str


class StatementFailure(_Object):
    """What `statement` and `verify` print that were refused."""

    schema_: StatementSchema = Field(alias="$schema")
    contract: Literal[1]
    chant: str
    verb: Literal["statement", "verify"] | None
    error: StatementError


class ReadWorkspace(_Object):
    """Whose runs these are."""

    name: str
    root: str


class ReadLedger(_Object):
    """What was read."""

    branch: Literal["chant/lifecycle"]
    dir: str
    commit: str | None


class ReadFilter(_Object):
    """Which runs were wanted."""

    unit: str | None
    decision: str | None
    by: str | None
    since: str | None


class Tokens(_Object):
    """Tokens summed up."""

    input: Count
    output: Count
    cacheRead: Count  # noqa: N815
    cacheWrite: Count  # noqa: N815


class Money(_Object):
    """Costs of one currency summed up."""

    currency: str
    amount: float


class Totals(_Object):
    """What runs sum up to; those that told no cost or no tokens are named."""

    runs: Count
    running: Count
    tokens: Tokens
    cost: list[Money]
    unpriced: list[str]
    unreported: list[str]


class UnitTotals(Totals):
    """The totals of a work item."""

    unit: str | None


class DecisionTotals(Totals):
    """The totals of a decision."""

    decision: str


class PrincipalTotals(Totals):
    """The totals of whom runs worked for."""

    principal: str | None


class AllTotals(_Object):
    """The totals of all runs, and by what they were for."""

    all: Totals
    byUnit: list[UnitTotals]  # noqa: N815
    byDecision: list[DecisionTotals]  # noqa: N815
    byPrincipal: list[PrincipalTotals]  # noqa: N815


class Reason(_Object):
    """Why a part of a read is missing."""

    code: Literal["runs-no-ledger", "runs-ledger-malformed", "kind-unreadable"]
    message: str


class ReadResult(_Object):
    """Runs, their commits and their totals."""

    schema_: ReadSchema = Field(alias="$schema")
    contract: Literal[1]
    chant: str
    workspace: ReadWorkspace
    ledger: ReadLedger
    filter: ReadFilter
    trust: Trust
    runs: list[ReadRun]
    totals: AllTotals
    malformed: Count
    reasons: list[Reason]


class ReadError(_Object):
    """Why nothing was read."""

    code: WorkspaceCode
    message: str


class ReadFailure(_Object):
    """What a read prints that was refused."""

    schema_: ReadSchema = Field(alias="$schema")
    contract: Literal[1]
    chant: str
    error: ReadError


RunsWrite = Union[Result, WriteFailure]
RunStatement = Union[StatementResult, VerifyResult, StatementFailure]
Runs = Union[ReadResult, ReadFailure]
