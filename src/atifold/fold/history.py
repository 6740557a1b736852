"""Recognise what a request repeats of its history, and what is new in it.

Requests are cumulative: each holds all that came before. The usual request repeats the one before
it whole, which two comparisons show (its first and its last message stand where they stood), so
that a run of any length costs only what is new in it. Histories that were shortened, rewritten or
that hold only the news are aligned message by message instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Generic, TypeVar

from atifold.calls import Message, ModelCall
from atifold.fold.forks import Forks
from atifold.fold.messages import (
    Mark,
    body_of,
    responses_of,
    system_texts,
    user_marks,
)
from atifold.fold.units import Unit, after_answer, aligned, extend, is_shorter, leading_copies, replayed, units_of

_SLACK: Final = 64
"""How many turns more than twice its own length a request is searched for: windows slide, heads are cut."""

StepT = TypeVar("StepT")


@dataclass(slots=True, eq=False)
class _Lane(Generic[StepT]):
    """One history as far as it is known.

    `seen` is the last request that held all of it, `delta` the last that held only news; `answered`
    says that an answer came since. `askers` are the steps that the last turn came from. `forks` are the
    histories that begin alike, where there are several.
    """

    known: list[Unit] = field(default_factory=list)
    seen: tuple[Message, ...] = ()
    delta: tuple[Message, ...] = ()
    system: tuple[str, ...] = ()
    askers: list[StepT] = field(default_factory=list)
    answered: bool = False
    forks: Forks[_Lane[StepT]] | None = None

    def goes_on_in(self, body: Sequence[Message]) -> bool:
        """Tell whether a request repeats the last one, as its ends show, and then the answer to it."""
        count = len(self.seen)
        if not self.answered or not 0 < count < len(body) or body[count - 1] != self.seen[-1]:
            return False
        answer = units_of(body[count:])[:1]
        return bool(answer) and answer[0].kind == "model" and bool(answer[0].marks & self.known[-1].marks)


@dataclass(frozen=True, slots=True)
class News:
    """What a request adds: new instructions, the last answer as it was replayed, and new turns.

    The replay is more than one unit where the last call stands for several rounds of the model. The
    first `copied` of the units are history from before the first call that is known.
    """

    system: tuple[str, ...] = ()
    replay: tuple[Unit, ...] = ()
    units: tuple[Unit, ...] = ()
    copied: int = 0


class History(Generic[StepT]):
    """Follow the requests of one thread, in order.

    A thread may hold several histories beside each other (a title that is asked for in between, the
    next agent's after a hand-off): each is a lane, known by its first message.
    """

    def __init__(self) -> None:
        """Start with nothing known."""
        self._lanes: dict[Mark, _Lane[StepT]] = {}
        self._lane: _Lane[StepT] = _Lane()
        self._any = False

    @property
    def askers(self) -> list[StepT]:
        """Return the steps whose calls the next results belong to."""
        return self._lane.askers

    def read(self, call: ModelCall, prompt: Mark | None = None, *, opens: bool = False) -> News:
        """Return what a request adds to what is known; nothing where it was not captured.

        `prompt` is the mark of the user's message that this turn is known to begin with: it is not copied
        from before. `opens` says that a turn ended before: then it is new even if it was said before.
        """
        if call.input is None:
            texts = system_texts(call)
            return News(system=self._new_system(texts))
        body = body_of(call)
        fresh = not self._any
        self._any = True
        replay, units, unknown = self._news(body, call.input_base)
        if opens and prompt is not None and _begins_anew(body, units, prompt):
            units = [*units, units_of(body[-1:])[-1]]
        copied = leading_copies(units) if fresh or unknown else 0
        own = (at for at in range(copied - 1, -1, -1) if prompt is not None and prompt in _user_marks(units[at]))
        copied = next(own, copied)
        return News(self._new_system(system_texts(call)), replay, tuple(units), copied)

    def answer(self, call: ModelCall, step: StepT, *, asked_anew: bool) -> None:
        """Note the step that a call became, and its output as known history.

        `asked_anew`: the request brought something new, so that older answers expect no results. A call
        that failed without an answer asked for nothing, and no later request repeats it.
        """
        if asked_anew:
            self._lane.askers = []
        if call.failure is None or call.output:
            self._lane.askers.append(step)
            extend(self._lane.known, Unit("model", messages=tuple(call.output or ())))
            self._lane.answered = True
            if self._lane.forks is not None:
                self._lane.forks.note(self._lane, self._lane.known[-1].marks)

    def copied_answer(self, step: StepT) -> None:
        """Note a step that stands for a turn of the model whose call is not here."""
        self._lane.askers = [step]

    def _news(self, body: tuple[Message, ...], base: int) -> tuple[tuple[Unit, ...], list[Unit], bool]:
        """Return (the replayed answer, the new units, whether nothing of the history was known)."""
        if base:
            return (*self._delta(body), False)
        if self._lane.seen and body and body[0] == self._lane.seen[0]:
            self._lane = _chosen(self._lane, body)
            return (*self._full(self._lane, body), False)
        start = _start_of(body)
        lane = self._lanes.get(start) if start else None
        if lane is not None:
            self._lane = _chosen(lane, body)
            return (*self._full(self._lane, body), False)
        units = units_of(body)
        cumulative = any(unit.kind == "model" for unit in units)
        known = self._lane.known
        since = max(0, len(known) - 2 * len(units) - _SLACK) if cumulative else after_answer(known)
        replay, news = aligned(units, known[since:])
        self._enter(start, body, units, news)
        return replay, news, cumulative and len(news) == len(units)

    def _enter(self, start: Mark | None, body: tuple[Message, ...], units: list[Unit], news: list[Unit]) -> None:
        """Begin a lane for a request that begins as none before; one that begins midway goes on."""
        if start is None:
            self._lane.known += news
            self._lane.seen = ()
            return
        self._lane = _Lane(known=units, seen=body, system=self._lane.system, askers=list(self._lane.askers))
        self._lanes[start] = self._lane

    def _full(self, lane: _Lane[StepT], body: tuple[Message, ...]) -> tuple[tuple[Unit, ...], list[Unit]]:
        """Return the news of a request that begins as its lane does."""
        count = len(lane.seen)
        if not 0 < count < len(body) or body[count - 1] != lane.seen[-1] or body[0] != lane.seen[0]:
            units = units_of(body)
            found = aligned(units, lane.known)
            if lane.answered and is_shorter(units, lane.known):
                lane = self._fork(lane, _start_of(body))
            lane.known, lane.seen, lane.answered = units, body, False
            return found
        tail = units_of(body[count:])
        count = replayed(tail, lane.known[-1]) if lane.answered else 0
        lane.known += tail[count:]
        lane.seen, lane.answered = body, False
        return tuple(tail[:count]), tail[count:]

    def _fork(self, lane: _Lane[StepT], start: Mark | None) -> _Lane[StepT]:
        """Return a history that begins as another one, which may still go on."""
        if lane.forks is None:
            lane.forks = Forks()
            lane.forks.note(lane, {mark for unit in lane.known if unit.kind == "model" for mark in unit.marks})
        new = replace(lane, askers=list(lane.askers))
        if start is not None:
            self._lanes[start] = new
        self._lane = new
        return new

    def _delta(self, body: tuple[Message, ...]) -> tuple[tuple[Unit, ...], list[Unit]]:
        """Return the news of a request that holds only what follows a base: a retry brings none."""
        lane, units = self._lane, units_of(body)
        lane.seen = ()
        if not units:
            return (), []
        if lane.answered and body != lane.delta:
            count = replayed(units, lane.known[-1])
            lane.known += units[count:]
            lane.delta, lane.answered = body, False
            return tuple(units[:count]), units[count:]
        since = lane.known[max(0, after_answer(lane.known) - 1) :]
        found = aligned(units, since)
        lane.known += found[1]
        lane.delta = body
        return found

    def _new_system(self, texts: tuple[str, ...]) -> tuple[str, ...]:
        """Return the instructions that the lane's last request did not have."""
        if not texts or texts == self._lane.system:
            return ()
        new = tuple(text for text in texts if text not in self._lane.system)
        self._lane.system = texts
        return new


def _chosen(lane: _Lane[StepT], body: Sequence[Message]) -> _Lane[StepT]:
    """Return the history that a request carries on, of those that begin alike."""
    if lane.forks is None or lane.goes_on_in(body):
        return lane
    others = lane.forks.candidates(body)
    return next((other for other in others if other.goes_on_in(body)), others[0] if others else lane)


def _user_marks(unit: Unit) -> set[Mark]:
    """Return the marks of a user's turn; none for any other."""
    return unit.marks if unit.kind == "user" else set()


def _begins_anew(body: Sequence[Message], units: Sequence[Unit], prompt: Mark) -> bool:
    """Tell whether a request without a history ends in the turn's prompt, which seems to be known."""
    if not body or any(message.role in ("assistant", "tool") for message in body):
        return False
    return prompt in user_marks(body[-1]) and not any(prompt in _user_marks(unit) for unit in units)


def _start_of(body: Sequence[Message]) -> Mark | None:
    """Return what a history is known by: its first message, when that is a user's."""
    if not body or body[0].role in ("assistant", "tool") or responses_of(body[0]):
        return None
    return next(iter(user_marks(body[0])))
