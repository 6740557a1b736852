"""Take of several answers to one request the one that the conversation went on with; the others stay beside it.

A request may ask for more than one (`n`, `gen_ai.request.choice.count`). They are alternatives, one turn of the model.
Which was taken a later request tells, or a tool that ran for it; where nothing does, it is the first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from atifold.calls import MISSING, Call, Message, ModelCall, Reasoning, Text, ToolCall, ToolRequest
from atifold.dialects.values import number
from atifold.jsontext import sorted_json
from atifold.kinds import is_object

COUNT: Final = "gen_ai.request.choice.count"
"""How many answers a request asked for, among what is kept of it."""

OTHERS: Final = "other_choices"
"""Where the answers are kept that were not taken."""

_Told = dict[tuple[str, bytes], list[tuple[int, int]]]
"""By trace and mark: when a call began that knows of it, and how often it has it."""

_NAMES: Final = ("n", "candidate_count", "candidateCount")


def asked_for(parameters: Any) -> int | None:
    """Return how many answers a provider's request asks for, None for one."""
    found = next((parameters[name] for name in _NAMES if name in parameters), None) if is_object(parameters) else None
    count = number(found)
    return count if isinstance(count, int) and count > 1 else None


def chosen(calls: Sequence[Call]) -> tuple[Sequence[Call], list[str]]:
    """Return the calls, each with one answer, and a note on each that had several."""
    several = {call.key for call in calls if isinstance(call, ModelCall) and _has_choices(call)}
    if not several:
        return calls, []
    told: _Told = {}
    for call in calls:
        for mark, times in Counter(_told(call)).items():
            told.setdefault((call.key[0], mark), []).append((call.start_ns, times))
    notes: list[str] = []
    return [_one(call, told, notes) if call.key in several else call for call in calls], notes


def _has_choices(call: ModelCall) -> bool:
    count, output = number(call.extra.get(COUNT)), call.output or ()
    alike = all(message.role == "assistant" for message in output)
    return alike and isinstance(count, int) and 1 < len(output) <= count


def _one(call: Call, told: _Told, notes: list[str]) -> Call:
    """Return a call with the answer that is known again later in its trace, else the first."""
    if not isinstance(call, ModelCall) or not call.output:
        return call
    before = Counter(_told(call))
    went_on = [at for at, answer in enumerate(call.output) if _is_told_later(call, _marks(answer), before, told)]
    why = "the one that was gone on with is taken" if went_on else "the first is taken, nothing tells which was"
    notes.append(f"{call.name}: {len(call.output)} answers to one request, {why}")
    taken = went_on[0] if went_on else 0
    others = [_plain(message) for at, message in enumerate(call.output) if at != taken]
    return replace(call, output=(call.output[taken],), extra={**call.extra, OTHERS: others})


def _is_told_later(call: Call, marks: Iterable[bytes], before: Counter[bytes], told: _Told) -> bool:
    """Tell whether a later call knows of an answer, once more often than the request had it."""
    places = ((told.get((call.key[0], mark), ()), before[mark]) for mark in marks)
    return any(start > call.start_ns and times > known for found, known in places for start, times in found)


def _told(call: Call) -> Iterator[bytes]:
    """Yield by what an answer is known again: the model's turns in a request, the call that a tool ran for."""
    if isinstance(call, ModelCall):
        for message in call.input or ():
            if message.role == "assistant":
                yield from _marks(message)
    elif isinstance(call, ToolCall):
        yield from _call_marks(call.id, call.tool, call.arguments)


def _marks(message: Message) -> Iterable[bytes]:
    """Return the marks of an answer: of its calls, else of its text."""
    requests = [part for part in message.parts if isinstance(part, ToolRequest)]
    if requests:
        return [mark for part in requests for mark in _call_marks(part.id, part.name, part.arguments)]
    text = _text(message)
    return [sorted_json(["text", " ".join(text.split())])] if text else []


def _call_marks(call_id: str | None, tool: str, arguments: Any) -> list[bytes]:
    if call_id:
        return [sorted_json(["id", call_id])]
    return [sorted_json(["call", tool, arguments])] if arguments is not MISSING else []


def _text(message: Message) -> str:
    return "\n".join(part.text for part in message.parts if isinstance(part, Text))


def _plain(message: Message) -> Mapping[str, Any]:
    """Return an answer under the names that a step has for its parts."""
    thoughts = "\n".join(part.text for part in message.parts if isinstance(part, Reasoning))
    calls = [
        {
            "tool_call_id": part.id,
            "function_name": part.name,
            "arguments": {} if part.arguments is MISSING else part.arguments,
        }
        for part in message.parts
        if isinstance(part, ToolRequest)
    ]
    found = {"message": _text(message), "reasoning_content": thoughts, "tool_calls": calls}
    return {name: value for name, value in found.items() if value or name == "message"}
