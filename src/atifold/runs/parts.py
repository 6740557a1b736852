"""Model what documents of the ledger are made of: runs, pins, costs, envelopes, statements and verdicts."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue


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


class Part(BaseModel):
    """A part of a document."""

    model_config = ConfigDict(protected_namespaces=(), populate_by_name=True)


# ---- a run -----------------------------------------------------------------------------------------


class Harness(Part):
    """What ran the agent."""

    name: str
    version: str | None


class Unit(Part):
    """A work item."""

    id: str
    kind: str | None


class RecordName(Part):
    """A record of the workspace, by its kind and id."""

    kind: str
    id: str


class Record(Part):
    """The digest of a run's start and end, which statements sign."""

    sha256: Hex64


class Pin(Part):
    """A file that is known by its hash and kept elsewhere."""

    sha256: Hex64
    bytes: Count | None = Field(description="Its size; null where the writer gave the hash alone.")
    ref: str | None = Field(description="Where the writer keeps it.")
    excerpt: Annotated[Absent[str], Field(max_length=500, description="Words of an instruction, to show.")] = None


class Cost(Part):
    """A sum of money, and what priced it."""

    amount: Annotated[float, Field(ge=0)]
    currency: Annotated[str, Field(pattern="^[A-Z]{3}$", description="As ISO 4217 has it.")]
    source: str = Field(description="A harness's report, a price list or a bill, by name.")


class Usage(Part):
    """Turns, and tokens in four counts that do not overlap; null is unknown."""

    turns: Count | None
    inputTokens: Count | None  # noqa: N815 - the ledger's spelling, here and below
    outputTokens: Count | None  # noqa: N815
    cacheReadTokens: Count | None  # noqa: N815
    cacheWriteTokens: Count | None  # noqa: N815


class ModelUsage(Part):
    """What one model had of a run."""

    model: str
    provider: str | None
    inputTokens: Count | None  # noqa: N815
    outputTokens: Count | None  # noqa: N815
    cacheReadTokens: Count | None  # noqa: N815
    cacheWriteTokens: Count | None  # noqa: N815
    cost: Cost | None


class Hunk(Part):
    """Lines of one file that a run wrote, as its commit has them."""

    path: str
    start: Annotated[int, Field(ge=1)]
    end: Annotated[int, Field(ge=1)]


Hunks = Annotated[list[Hunk], Field(min_length=1)]


class Commit(Part):
    """A commit that a run made, and how that is known."""

    sha: Annotated[str, Field(pattern="^[0-9a-f]{40,64}$")]
    patchId: str | None = Field(description="Its stable patch id; null where it changes nothing.")  # noqa: N815
    joinedBy: Annotated[list[Literal["record", "trailer"]], Field(min_length=1)]  # noqa: N815
    hunks: Hunks | None = Field(default=None, description="The run's lines of it; null for the whole commit.")


class ReadCommit(Commit):
    """A commit of a run that was read: it may be another one of the same patch."""

    joinedBy: Annotated[list[Literal["record", "trailer", "patch-id"]], Field(min_length=1)]  # type: ignore[assignment]  # noqa: N815
    recordedAs: Absent[str] = Field(default=None, description="The commit that the run recorded.")  # noqa: N815


class Signature(Part):
    """One signature of an envelope."""

    keyid: str = Field(description="The key's ssh fingerprint.")
    sig: str


class Envelope(Part):
    """A DSSE envelope."""

    payloadType: str  # noqa: N815
    payload: str = Field(description="The payload in base64.")
    signatures: list[Signature]


class StoredStatement(Part):
    """A statement as the ledger holds it."""

    at: str
    envelope: Envelope


# ---- statements and what they are worth ------------------------------------------------------------


class CommitDigest(Part):
    """A commit by its id."""

    gitCommit: str  # noqa: N815


class Annotations(Part):
    """What a statement says of a commit beside its id."""

    patchId: Absent[str] = None  # noqa: N815


class Subject(Part):
    """A commit that a statement is about."""

    name: str
    digest: CommitDigest
    annotations: Absent[Annotations] = None


class StatedRun(Part):
    """The run that a statement is of."""

    id: str
    record: Record


class Predicate(Part):
    """What a statement says."""

    signer: str = Field(description="The principal whose key signs.")
    run: StatedRun
    unit: Unit | None
    harness: Harness
    model: str | None
    provider: str | None
    by: str | None


class Statement(Part):
    """An in-toto statement of a run."""

    type_: Literal["https://in-toto.io/Statement/v1"] = Field(alias="_type")
    subject: list[Subject]
    predicateType: Literal["https://intentius.io/chant/agent-run/v1"]  # noqa: N815
    predicate: Predicate


class Verdict(Part):
    """What one stored statement is worth."""

    status: Literal["verified", "mismatch", "untrusted", "invalid"]
    code: Absent[VerdictCode] = None
    reason: str
    signer: Absent[str] = None
    class_: Absent[Class] = Field(default=None, alias="class")
    keyid: Absent[str] = None
    statement: Absent[Statement] = None


class Attestation(Part):
    """What all statements of a run come to."""

    status: Literal["signed", "unsigned", "mismatch", "untrusted", "invalid"]
    signer: str | None
    class_: Class | None = Field(alias="class")
    keyid: str | None
    code: VerdictCode | None
    reason: str
    commits: list[str]
    statements: list[Verdict]


class Runner(Part):
    """Who may sign runs."""

    principal: str
    class_: Class = Field(alias="class")


class Trust(Part):
    """The trust policy at base."""

    base: str | None
    baseFrom: Literal["flag", "origin/HEAD", "main", "master"] | None  # noqa: N815
    runners: list[Runner]
    problems: list[str]


class _RunFields(Part):
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
