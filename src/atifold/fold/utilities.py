"""Tell the calls that only serve a conversation from the conversation: a title, a topic, a guard's verdict.

Known by what they are, not by their words: another model's calls, each a question without a history, that
ask for no tool, whose answers nobody was told and that were told none of the others' answers.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from atifold.calls import ModelCall
from atifold.fold.messages import requests_of, spoken, text_of
from atifold.spans import SpanKey

_DATE: Final = re.compile(r"[-@](?:latest|\d{3,8}(?:-\d{2}){0,2})$")
"""What one layer writes behind a model's name and another does not."""


def utilities(
    models: Sequence[ModelCall], others: Sequence[ModelCall] = (), answers: Iterable[str] = ()
) -> set[SpanKey]:
    """Return the keys of those of `models` that only serve the conversation that the rest and `others` are.

    `answers` are what agents are known to have answered in the end.
    """
    by_model: dict[str, list[ModelCall]] = defaultdict(list)
    for call in (*models, *others):
        by_model[_plain(call.model)].append(call)
    if len(by_model) < 2 or not any(_converses(call) for call in (*models, *others)):  # noqa: PLR2004  one model says nothing
        return set()
    asking = {name for name, calls in by_model.items() if name and all(map(_only_asks, calls))}
    if not asking:
        return set()
    own = {call.key for call in models}
    rest = [call for name, calls in by_model.items() if name not in asking for call in calls]
    told = list(_told(rest))
    said = [*filter(None, (spoken(text_of(call.output or ())) for call in rest)), *map(spoken, answers)]
    served = (call for name in asking for call in by_model[name] if call.key in own)
    return {call.key for call in served if not _takes_part(call, told, said)}


def _plain(model: str | None) -> str:
    return "" if model is None else _DATE.sub("", model.rsplit("/", 1)[-1].lower())


def _converses(call: ModelCall) -> bool:
    """Tell whether a call goes on from an answer, or asks for a tool."""
    return any(requests_of(call.output or ())) or any(m.role in ("assistant", "tool") for m in call.input or ())


def _only_asks(call: ModelCall) -> bool:
    """Tell whether a call is a question and its answer, both known, and nothing else."""
    return bool(call.input and call.output) and not (call.input_base or call.tools or _converses(call))


def _told(calls: Iterable[ModelCall]) -> Iterator[tuple[int, str]]:
    """Yield the texts that calls were given and when they first were, each message of a history once."""
    seen: set[int] = set()
    for call in sorted(calls, key=lambda call: call.start_ns):
        if call.system:
            yield call.start_ns, spoken(call.system)
        for message in call.input or ():
            if id(message) not in seen:
                seen.add(id(message))
                yield call.start_ns, spoken(text_of((message,)))


def _takes_part(call: ModelCall, told: Sequence[tuple[int, str]], said: Sequence[str]) -> bool:
    """Tell whether a call's answer was given to others, or is the answer of all, or theirs was given to it."""
    answer = spoken(text_of(call.output or ()))
    asked = spoken(text_of(call.input or ())) + spoken(call.system or "")
    if not answer or answer in said or any(text in asked for text in said):
        return True
    return any(answer in text and text not in asked for at_ns, text in told if at_ns >= call.start_ns)
