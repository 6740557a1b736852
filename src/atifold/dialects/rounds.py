"""Give the earlier inferences of one span what the last one's request repeats of them.

Such a span (`genai_details`) has the messages of its last inference only, whose history shows the
rounds before it: the last turns of the model there are the answers of the earlier inferences.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from atifold.calls import Call, Message, ModelCall
from atifold.spans import SpanKey


def fill(calls: Iterable[Call], rounds: Iterable[Sequence[SpanKey]]) -> list[Call]:
    """Return the calls, those of each run of inferences, given by their keys in order, with their messages.

    A run stays as it is where a call of it says something itself, or its history shows fewer rounds.
    """
    found = {call.key: call for call in calls}
    for keys in rounds:
        run = [call for key in keys if isinstance(call := found.get(key), ModelCall)]
        if len(run) == len(keys):
            found.update({call.key: call for call in _told(run[:-1], run[-1].input or ())})
    return list(found.values())


def _told(earlier: Sequence[ModelCall], history: tuple[Message, ...]) -> list[ModelCall]:
    turns = _turns(history)[-len(earlier) :]
    if len(turns) < len(earlier) or any(call.input or call.output for call in earlier):
        return []
    return [
        replace(call, input=history[:start], output=history[start:end])
        for call, (start, end) in zip(earlier, turns, strict=True)
    ]


def _turns(history: Sequence[Message]) -> list[tuple[int, int]]:
    """Return where each turn of the model begins and ends in a history."""
    turns: list[tuple[int, int]] = []
    for at, message in enumerate(history):
        if message.role != "assistant":
            continue
        if turns and turns[-1][1] == at:
            turns[-1] = (turns[-1][0], at + 1)
        else:
            turns.append((at, at + 1))
    return turns
