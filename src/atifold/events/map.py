"""Model maps: parts of an agent, with prompt and tools of their own, that are in use or set aside."""

from __future__ import annotations

from typing import Literal

from atifold.events.payload import Always, Content, Flag, Open, Payload, Structure, Whole

MapEvidence = Open[Literal["explicit", "structural", "semantic", "lexical", "assumed"]]
"""What speaks for a map, from a plain request down to a guess; the last three wear off."""


class MapEngaged(Payload):
    """A map is in use from now on, or stays so for a better reason or at another place."""

    map_id: Always[Structure[str]] = None
    iteration: Always[Structure[Whole]] = None
    by: Always[Structure[MapEvidence]] = None
    witness: Content[str] = None
    """The words that a guess rests on."""
    reengaged: Structure[Flag] = None
    """True where the map had been set aside."""
    upgraded: Structure[Flag] = None
    """True where it was in use already, and better evidence was found."""
    founded_by: Structure[MapEvidence] = None
    """What spoke for it at first, where `upgraded` or `tenant_changed`."""
    tenant_changed: Structure[Flag] = None
    """True where another member of the same map took over."""
    at: Structure[str] = None
    """That member."""


class MapParked(Payload):
    """A map is set aside, since the turn goes on elsewhere. It keeps its position."""

    map_id: Always[Structure[str]] = None
    iteration: Always[Structure[Whole]] = None
    by: Always[Structure[MapEvidence]] = None
    """What had spoken for it."""
    idle_calls: Always[Structure[Whole]] = None
    """Model calls in a row that used none of its tools."""
    witness: Content[str] = None
