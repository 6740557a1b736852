"""Model the producer's checks on its own run: contradictions found, and which checks ran at all."""

from __future__ import annotations

from typing import Any, Literal

from atifold.events.payload import Always, Content, Flag, Nested, Number, Open, Payload, Structure, Whole

IntegritySeam = Open[Literal["write", "compose", "wire", "choice", "claim"]]
"""Where in a run a check sits."""


class SubjectRef(Nested):
    """What an assertion is about: a kind of thing, open to the app's own kinds, and its id."""

    kind: Always[Content[str]] = None
    id: Always[Content[str]] = None


class Assertion(Nested):
    """Something that the run stated about one subject."""

    subject: Always[Content[SubjectRef]] = None
    predicate: Always[Content[str]] = None
    """The relation that is stated."""
    value: Always[Content[Any]] = None
    epoch: Structure[Whole] = None
    """The subject's version at that time; only assertions of one epoch can contradict each other."""
    stratum: Always[Structure[Open[Literal["asserted", "quoted"]]]] = None
    """Only what is `asserted` can contradict."""
    provenance: Always[Content[str]] = None
    runtime_stage_id: Content[str] = None
    synthetic: Structure[Flag] = None


class IntegrityContextError(Payload):
    """Two things in the run's context cannot both be true, or one of them has no ground."""

    kind: Always[
        Structure[
            Open[
                Literal[
                    "invariant-violation",
                    "unsupported-argument",
                    "dangling-reference",
                    "duplicate-execution",
                    "unsupported-claim",
                ]
            ]
        ]
    ] = None
    seam: Always[Structure[IntegritySeam]] = None
    subjects: Always[Content[list[SubjectRef]]] = None
    witnesses: Always[Content[list[Assertion]]] = None
    """The assertions that prove it."""
    predicate: Content[str] = None
    epoch: Structure[Whole] = None
    synthetic: Structure[Flag] = None
    """True for the producer's own test material; it is no finding about the run."""
    advisory: Structure[Flag] = None
    """True for a doubt, which is less than a contradiction."""
    message: Always[Content[str]] = None
    iteration: Structure[Whole] = None


class CheckReport(Nested):
    """How often one check, at one place, could run and what it found."""

    check: Always[Structure[str]] = None
    seam: Always[Structure[IntegritySeam]] = None
    checked: Always[Structure[Whole]] = None
    findings: Always[Structure[Whole]] = None
    not_applicable: Always[Structure[Whole]] = None
    unreachable: Always[Structure[Whole]] = None
    """Times that nothing said what the facts were about, so that nothing could be compared."""
    last_fired_at: Structure[Number] = None
    """Milliseconds since the epoch; None: it never found anything."""
    synthetic: Always[Structure[Whole]] = None
    """Findings about test material, counted apart."""


class IntegrityDisposition(Payload):
    """The accounting of all checks of a run: the last event that a run emits."""

    posture: Always[Structure[Open[Literal["observe", "dev"]]]] = None
    work_existed: Always[Structure[Flag]] = None
    """Whether the run made at least one model call."""
    rows: Always[Structure[list[CheckReport]]] = None


class IntegrityExternalGroundUsed(Payload):
    """An argument that nothing in the run served is let pass, because the app vouches for it. Since 9.72."""

    tool_name: Always[Structure[str]] = None
    tool_call_id: Always[Structure[str]] = None
    path: Always[Structure[str]] = None
    """Where in the arguments, keys joined by dots."""
    value: Always[Content[str]] = None
    source: Always[Structure[str]] = None
    """The app's name for where it has the value from."""
    iteration: Always[Structure[Whole]] = None
