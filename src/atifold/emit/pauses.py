"""Remember paused legs until one of their calls is answered, in a later run."""

from __future__ import annotations

from collections import Counter, OrderedDict
from typing import Final

from atifold.emit.record import Moment
from atifold.emit.state import Leg

_MOST_LEGS: Final = 1_000  # paused calls that may never be answered
_MOST_SAID: Final = 16  # of one leg before it is recognised
_NEAR_NS: Final = 2_000_000  # clocks of whole milliseconds, each rounded for itself


class Pauses:
    """The legs that wait, by session and call id."""

    def __init__(self, counts: Counter[str]) -> None:
        """Take where a leg that is given up is counted."""
        self._legs: OrderedDict[tuple[str | None, str], list[Leg]] = OrderedDict()  # oldest first
        self._counts = counts

    def clear(self) -> None:
        """Forget all."""
        self._legs.clear()

    def add(self, leg: Leg) -> None:
        """Keep a leg until one of its calls is answered; of too many the oldest is given up."""
        for call_id in leg.tools:
            if len(self._legs) >= _MOST_LEGS:
                self._legs.popitem(last=False)
                self._counts["pauses_forgotten"] += 1
            self._legs.setdefault((leg.session_id, call_id), []).append(leg)

    def find(self, call_id: str, session_id: str | None, route: tuple[str, ...], begun_ns: int | None) -> Leg | None:
        """Return the leg in which a call waits: of the same session, else the only one that may be meant.

        Call ids are a model's and may come again in another conversation, whose answer is not this
        one. Of several legs of one session that of the same runner (`route`) is meant, then that in which
        the call began when its end says (`begun_ns`), then the oldest.
        """
        exact = self._legs.get((session_id, call_id))
        if exact:
            alike = [leg for leg in exact if leg.route == route] or exact
            if begun_ns is None or len(alike) == 1:
                return alike[0]
            return min(alike, key=lambda leg: abs(leg.tools[call_id].record.start_ns - begun_ns))
        others = [
            legs[0]
            for (session, waiting), legs in self._legs.items()
            if waiting == call_id and not (session and session_id)
        ]
        return others[0] if len(others) == 1 else None

    def tell(self, moment: Moment, session_id: str | None, paused_ns: int | None) -> bool:
        """Note what is said of the next leg: on the only one of the session that waits; False where none is meant.

        Of several it is the one that paused when the event says (`paused_ns`), to a few milliseconds.
        """
        waiting = {id(leg): leg for legs in self._legs.values() for leg in legs}
        meant = [leg for leg in waiting.values() if session_id is None or leg.session_id == session_id]
        if len(meant) > 1 and paused_ns is not None:
            meant = [leg for leg in meant if abs(leg.paused_ns - paused_ns) <= _NEAR_NS]
        if len(meant) != 1 or len(meant[0].said) >= _MOST_SAID:
            return False
        meant[0].said.append(moment)
        return True

    def take(self, leg: Leg) -> None:
        """Give up a leg that is recognised."""
        for call_id in leg.tools:
            key = leg.session_id, call_id
            left = [other for other in self._legs.get(key, ()) if other is not leg]
            if left:
                self._legs[key] = left
            else:
                self._legs.pop(key, None)

    def __len__(self) -> int:
        """Return how many calls wait."""
        return len(self._legs)
