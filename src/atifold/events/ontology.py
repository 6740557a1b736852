"""Model the declared meanings that a model is given to read."""

from __future__ import annotations

from atifold.events.payload import Always, Payload, Structure, Whole


class OntologyServed(Payload):
    """A model call was shown the ontology: which one, and how large it is, but not its text."""

    iteration: Always[Structure[Whole]] = None
    id: Always[Structure[str]] = None
    version: Always[Structure[str]] = None
    hash: Always[Structure[str]] = None
    """Of the declaration."""
    nodes: Always[Structure[Whole]] = None
    sources: Always[Structure[Whole]] = None
    edges: Always[Structure[Whole]] = None
