"""Complete a person's message that a length limit has cut, where another request of the trace repeats it whole."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from atifold.calls import Call, Message, ModelCall, Text

CUT: Final = "content truncated"
"""The reason for which a call is incomplete whose content a length limit has cut."""

_Whole = Mapping[str, Sequence[tuple[int, Message]]]
"""Messages of persons that stand whole, with their places in the history, by trace."""


def completed(calls: Iterable[Call]) -> list[Call]:
    """Return the calls, the last message of a cut history as another history of its trace has it.

    A history is cut at its end, so that the message before the cut is the one that may be a part.
    """
    found = list(calls)
    if not any(_is_cut(call) for call in found):
        return found
    whole = _whole(found)
    return [_completed(call, whole) if isinstance(call, ModelCall) and _is_cut(call) else call for call in found]


def _is_cut(call: Call) -> bool:
    return CUT in call.incomplete


def _whole(calls: Sequence[Call]) -> _Whole:
    found: dict[str, list[tuple[int, Message]]] = defaultdict(list)
    for call in sorted(calls, key=lambda each: (each.start_ns, each.key)):
        if isinstance(call, ModelCall) and call.input:
            messages = call.input[:-1] if _is_cut(call) else call.input
            found[call.key[0]] += [(at, message) for at, message in enumerate(messages) if _text(message)]
    return found


def _completed(call: ModelCall, whole: _Whole) -> ModelCall:
    """Return a call with its last message completed; of several that begin so, the one of the same place counts."""
    if not call.input:
        return call
    place, last = len(call.input) - 1, call.input[-1]
    part = _text(last)
    longer = [
        (at, message)
        for at, message in whole.get(call.key[0], ())
        if part and message.role == last.role and _text(message).startswith(part)
    ]
    if not longer:
        return call
    chosen = next((message for at, message in longer if at == place), longer[0][1])
    return replace(call, input=(*call.input[:-1], chosen))


def _text(message: Message) -> str:
    """Return the text of a message of a person, "" for any other and for one that holds more than text."""
    if message.role not in ("user", "system") or not all(isinstance(part, Text) for part in message.parts):
        return ""
    return "".join(part.text for part in message.parts if isinstance(part, Text))
