"""Model texts becoming vectors."""

from __future__ import annotations

from typing import Literal

from atifold.events.payload import Always, Number, Open, Payload, Structure, Whole


class EmbeddingGenerated(Payload):
    """A batch of texts was embedded; the event comes when it is done."""

    model: Always[Structure[str]] = None
    provider: Always[Structure[Open[Literal["openai", "cohere", "voyage", "local", "custom"]]]] = None
    input_kind: Always[Structure[Open[Literal["query", "document"]]]] = None
    dimension: Always[Structure[Whole]] = None
    """The length of each vector."""
    count: Always[Structure[Whole]] = None
    """How many texts."""
    duration_ms: Always[Structure[Number]] = None
    tokens_spent: Structure[Whole] = None
    """None: the provider does not say."""
