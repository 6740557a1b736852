"""Model the documents that the verbs of the ledger print: the shape that their JSON schemas are made of.

A document is a plain dict of JSON values everywhere else. Readers pass over keys that they do not know.
"""

from __future__ import annotations

from typing import Annotated, Literal, Union

from pydantic import Field

from atifold.runs.parts import Absent, Attestation, Class, Count, Envelope, Part, ReadRun, Record, Run, Statement, Trust
from atifold.runs.refusal import Code

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


class Where(Part):
    """Where a write went."""

    branch: Literal["chant/lifecycle"]
    path: str
    commit: str
    pushed: bool
    notPushed: Absent[str] = Field(default=None, description="Why the remote has it not.")  # noqa: N815


class SignedBy(Part):
    """The statement that a signature stored."""

    signer: str
    class_: Class = Field(alias="class")
    keyid: str
    envelope: Envelope


class Result(Part):
    """What a write prints."""

    schema_: WriteSchema = Field(alias="$schema")
    contract: Literal[1]
    verb: Literal["start", "end", "record", "sign"]
    run: Run
    trailer: Annotated[str, Field(pattern="^Chant-Run: ", description="The line that commits of the run carry.")]
    ledger: Where
    statement: Absent[SignedBy] = None


class WriteError(Part):
    """Why nothing was written."""

    code: Code
    message: str


class WriteFailure(Part):
    """What a write prints that was refused."""

    schema_: WriteSchema = Field(alias="$schema")
    contract: Literal[1]
    verb: Literal["start", "end", "record", "sign"] | None
    error: WriteError


class StatementResult(Part):
    """What is to be signed elsewhere."""

    schema_: StatementSchema = Field(alias="$schema")
    contract: Literal[1]
    chant: str
    verb: Literal["statement"]
    run: str
    payloadType: Literal["application/vnd.in-toto+json"]  # noqa: N815
    payload: str
    statement: Statement


class JudgedRun(Part):
    """A run and what its statements are worth."""

    id: str
    state: Literal["running", "ended"]
    record: Record | None
    attestation: Attestation


class Summary(Part):
    """How many runs are what."""

    runs: Count
    signed: Count
    unsigned: Count
    failed: Count
    running: Count


class VerifyResult(Part):
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


class StatementError(Part):
    """Why there is nothing to sign or to judge."""

    code: StatementCode
    message: str


class StatementFailure(Part):
    """What `statement` and `verify` print that were refused."""

    schema_: StatementSchema = Field(alias="$schema")
    contract: Literal[1]
    chant: str
    verb: Literal["statement", "verify"] | None
    error: StatementError


class ReadWorkspace(Part):
    """Whose runs these are."""

    name: str
    root: str


class ReadLedger(Part):
    """What was read."""

    branch: Literal["chant/lifecycle"]
    dir: str
    commit: str | None


class ReadFilter(Part):
    """Which runs were wanted."""

    unit: str | None
    decision: str | None
    by: str | None
    since: str | None


class Tokens(Part):
    """Tokens summed up."""

    input: Count
    output: Count
    cacheRead: Count  # noqa: N815
    cacheWrite: Count  # noqa: N815


class Money(Part):
    """Costs of one currency summed up."""

    currency: str
    amount: float


class Totals(Part):
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


class AllTotals(Part):
    """The totals of all runs, and by what they were for."""

    all: Totals
    byUnit: list[UnitTotals]  # noqa: N815
    byDecision: list[DecisionTotals]  # noqa: N815
    byPrincipal: list[PrincipalTotals]  # noqa: N815


class Reason(Part):
    """Why a part of a read is missing."""

    code: Literal["runs-no-ledger", "runs-ledger-malformed", "kind-unreadable"]
    message: str


class ReadResult(Part):
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


class ReadError(Part):
    """Why nothing was read."""

    code: WorkspaceCode
    message: str


class ReadFailure(Part):
    """What a read prints that was refused."""

    schema_: ReadSchema = Field(alias="$schema")
    contract: Literal[1]
    chant: str
    error: ReadError


RunsWrite = Union[Result, WriteFailure]
RunStatement = Union[StatementResult, VerifyResult, StatementFailure]
Runs = Union[ReadResult, ReadFailure]
