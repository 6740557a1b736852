"""Model one thing standing in for another that failed."""

from __future__ import annotations

from typing import Literal

from atifold.events.payload import Always, Content, Open, Payload, Structure


class FallbackTriggered(Payload):
    """A substitute takes over: `fallback` is who really served."""

    kind: Always[Structure[Open[Literal["provider", "tool", "skill"]]]] = None
    primary: Always[Structure[str]] = None
    fallback: Always[Structure[str]] = None
    reason: Always[Content[str]] = None
