"""Model what an agent reads from its memories and documents, and what it writes to them."""

from __future__ import annotations

from typing import Literal

from atifold.events.payload import Always, Body, Content, Flag, Nested, Number, Open, Payload, Structure, Whole


class MemoryStrategyApplied(Payload):
    """A strategy chose among the memories at hand."""

    strategy_id: Always[Structure[str]] = None
    strategy_kind: Always[
        Structure[Open[Literal["sliding-window", "summarizing", "semantic", "fact-extraction", "hybrid"]]]
    ] = None
    reason: Always[Content[str]] = None
    score_evidence: Content[Body] = None
    """The figures that the choice rests on, an object of the strategy."""
    input_memory_count: Always[Structure[Whole]] = None
    output_memory_count: Always[Structure[Whole]] = None
    dropped_ids: Always[Structure[list[str]]] = None
    added_ids: Always[Structure[list[str]]] = None


class MemoryAttached(Payload):
    """One stored piece went into the prompt. The stage id of the envelope says which retrieval it was."""

    memory_id: Always[Structure[str]] = None
    """The id in the store; for documents that of the passage."""
    content_summary: Always[Content[str]] = None
    score: Structure[Number] = None
    rank: Structure[Whole] = None
    source: Always[Structure[Open[Literal["store", "auto-extract", "manual"]]]] = None
    retriever: Structure[Open[Literal["pinecone", "weaviate", "qdrant", "chroma", "custom"]]] = None


class RetrievedCandidate(Nested):
    """One piece that a retrieval looked at, taken or not."""

    id: Always[Structure[str]] = None
    score: Always[Structure[Number]] = None
    rank: Always[Structure[Whole]] = None
    admitted: Always[Structure[Flag]] = None
    reason: Structure[Open[Literal["below-threshold", "over-budget", "over-max-entries", "over-char-budget"]]] = None
    """Why it was left out; None where it was taken."""
    doc_uri: Structure[str] = None
    page: Structure[Whole] = None
    heading: Content[str] = None


class MemoryRetrieved(Payload):
    """A retrieval is done. The query's text is not here, nor how long it took."""

    strategy: Always[Structure[str]] = None
    """The name of the rule that decided what is taken."""
    query_hash: Always[Structure[str]] = None
    """The same text has the same hash."""
    k: Always[Structure[Whole]] = None
    """The most pieces that could be taken."""
    threshold: Structure[Number] = None
    """The least score; None: there was none."""
    max_chars: Structure[Whole] = None
    """The most characters that could be taken; None: there was no such limit."""
    chars_used: Structure[Whole] = None
    """Characters of the pieces taken, without what is put around them; given together with `max_chars`."""
    embedder_id: Structure[str] = None
    dimensions: Structure[Whole] = None
    """The length of the query's vector."""
    considered_count: Always[Structure[Whole]] = None
    admitted_count: Always[Structure[Whole]] = None
    rejected_count: Always[Structure[Whole]] = None
    candidates: Structure[list[RetrievedCandidate]] = None
    """None: the store cannot tell; empty: nothing was found."""
    candidates_complete: Always[Structure[Flag]] = None
    """False where further pieces existed that were not looked at."""
    candidates_omitted_reason: Content[str] = None
    """Why `candidates` is None."""
    corpus_empty: Always[Structure[Flag]] = None
    """True where the store held nothing to search."""
    namespace: Content[str] = None


class MemoryDetached(Payload):
    """A piece is no longer in the prompt; the store keeps it."""

    memory_id: Always[Structure[str]] = None
    reason: Always[Structure[Open[Literal["stale", "budget", "score_low", "policy"]]]] = None


class MemoryWritten(Payload):
    """A piece was put into a store."""

    memory_id: Always[Structure[str]] = None
    content_summary: Always[Content[str]] = None
    source: Always[Structure[Open[Literal["auto", "manual"]]]] = None
    actor: Content[str] = None
    """Who wrote it."""
