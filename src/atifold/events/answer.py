"""Model how far a run's own record supports its answer."""

from __future__ import annotations

from atifold.events.payload import Always, Payload, Structure, Whole
from atifold.events.shapes import AnswerAssessment


class AnswerAssessed(Payload, AnswerAssessment):
    """An answer was judged, once, before it is delivered."""

    turn: Always[Structure[Whole]] = None
    """Which turn of the conversation; unlike `turn_index` it counts them."""
    iteration: Always[Structure[Whole]] = None
    """The round that gave the answer."""
