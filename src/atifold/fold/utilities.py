"""Tell the calls that an agent makes beside its conversation: for a title, a check of what was asked, a label.

Such a call is one of another model, shares no history with the conversation, asks for no tool, and nothing that
it answers is sent to the conversation's model. It has a trajectory of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from atifold.calls import ModelCall, Text
from atifold.fold.continuity import Continuity, Piece
from atifold.fold.messages import parts_of, requests_of, text_of


def beside(models: Sequence[ModelCall]) -> list[ModelCall]:
    """Return those of an agent's model calls, given in order, that are beside its conversation."""
    if len({call.model for call in models}) < 2:  # noqa: PLR2004  one model: nothing tells them apart
        return []
    groups = Continuity().group([Piece((call,)) for call in models])
    histories = [[models[at] for at in group] for group in groups]
    return [call for at in utilities(histories) for call in histories[at]]


def utilities(histories: Sequence[Sequence[ModelCall]]) -> list[int]:
    """Return the places of the histories that are calls beside the longest one; none where no one is the longest."""
    if len(histories) < 2:  # noqa: PLR2004
        return []
    longest = max(range(len(histories)), key=lambda at: len(histories[at]))
    main = histories[longest]
    if len(main) < 2 and not _asks(main):  # noqa: PLR2004
        return []
    others = [at for at in range(len(histories)) if at != longest]
    if any(len(histories[at]) == len(main) and _asks(histories[at]) for at in others):
        return []
    return [at for at in others if _is_beside(histories[at], main)]


def _asks(calls: Sequence[ModelCall]) -> bool:
    return any(requests_of(call.output or ()) for call in calls)


def _is_beside(calls: Sequence[ModelCall], main: Sequence[ModelCall]) -> bool:
    (call, *more) = calls
    if more or not call.input or not call.output or _asks(calls):
        return False
    if call.model is None or any(other.model in (None, call.model) for other in main):
        return False
    said = text_of(call.output).strip()
    return bool(said) and not any(said in text for other in main for text in _sent(other))


def _sent(call: ModelCall) -> list[str]:
    """Return the texts that a call sent."""
    return [call.system or "", *(part.text for part in parts_of(call.input or (), Text))]
