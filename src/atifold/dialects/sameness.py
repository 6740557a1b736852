"""Tell whether two calls that stand close to each other are one call, traced by two instrumentations."""

from __future__ import annotations

from typing import Any

from atifold.calls import MISSING, AgentCall, Call, Message, ModelCall, Reasoning, Text, ToolCall, ToolRequest, Usage
from atifold.nesting import is_within, share_time

_SLACK_TOKENS = 1
"""Some instrumentations of streams count one output token too many, under the same response id."""


def same_model_call(outer: ModelCall, inner: ModelCall, *, nested: bool, alone: bool) -> bool:
    """Tell whether two model calls are one.

    Nothing that both state may differ, but for the response id of one whose output and usage are those
    of the call inside it, and left-overs beside that output. Beyond that there must be a sign: the same
    response id (side by side only with the same usage, as test servers repeat ids), the same output, or,
    nested, the same usage or an outer span around this call alone that states neither, or has the answer alone
    where the inner one has the figures alone.
    """
    same_id = _equal(outer.response_id, inner.response_id)
    output = _agree(outer.output, inner.output, _said)
    usage = _usage_agrees(outer, inner, slack=_SLACK_TOKENS if same_id else 0)
    if nested and output is False and usage is True and has_left_overs(outer, inner):
        output = True
    if _of_one_emitter(outer, inner) or output is False or usage is False or not _names_agree(outer, inner):
        return False
    if same_id is False and not (
        nested and output is True and usage is True and _agree(outer.input, inner.input, _asked)
    ):
        return False  # but for a gateway, which gives its own answer an id of its own
    if not nested:
        return share_time(outer, inner) and (output is True or (same_id is True and usage is True))
    if same_id or output is True:
        return not _answers_on(outer, inner)
    if _agree(outer.input, inner.input, _asked) is False:
        return False
    return usage is True or (alone and (_only_wraps(outer, inner) or _complete_each_other(outer, inner)))


def writes_over(outer: ModelCall, inner: ModelCall) -> bool:
    """Tell whether a span around several calls holds what this one wrote there, among what earlier ones left."""
    usage = _usage_agrees(outer, inner, slack=0)
    if usage is False or not _names_agree(outer, inner) or not outer.output or not inner.output:
        return False
    if _answers_on(outer, inner):
        return False
    (left, requests), (text, asked) = _said(outer.output), _said(inner.output)
    return bool(text or asked) and text in ("", left) and all(request in requests for request in asked)


def _answers_on(outer: ModelCall, inner: ModelCall) -> bool:
    """Tell whether a request goes on from the other's answer: it has it in its history once more often."""
    if not outer.output or not outer.input or not inner.input or len(inner.input) <= len(outer.input):
        return False
    answer = _said(outer.output)
    before, after = (
        sum(_said((m,)) == answer for m in call.input or () if m.role == "assistant") for call in (outer, inner)
    )
    return after > before


def _of_one_emitter(one: Call, other: Call) -> bool:
    """Tell whether both calls were counted by an emitter that counts each call once."""
    return one.sequence is not None and other.sequence is not None


def _only_wraps(outer: ModelCall, inner: ModelCall) -> bool:
    """Tell whether the outer span states nothing of a response while the inner does, or both failed."""
    if outer.output is not None or outer.usage is not None:
        return False
    answered = inner.output is not None or inner.usage is not None
    return answered or (outer.failure is not None and inner.failure is not None)


def _complete_each_other(outer: ModelCall, inner: ModelCall) -> bool:
    """Tell whether the outer span has the answer alone and the inner, within its time, the figures alone.

    A framework that nests one call in another writes both of them alike.
    """
    halves = outer.output and not outer.usage and inner.usage and not inner.output
    swapped = inner.output and not inner.usage and outer.usage and not outer.output
    return bool(halves or (swapped and outer.dialect != inner.dialect)) and is_within(outer, inner)


def told_by_two(one: Call, other: Call) -> bool:
    """Tell whether emitters of two dialects told of one call: same usage, one within the other's time.

    Nothing that both state may differ, but what was asked where the answer is the same. Two calls that one
    emitter told of look no different when they ran at one time: so that proves nothing.
    """
    if not (isinstance(one, ModelCall) and isinstance(other, ModelCall)) or one.dialect == other.dialect:
        return False
    output = _agree(one.output, other.output, _said)
    if output is False or _usage_agrees(one, other, slack=0) is not True or not _names_agree(one, other):
        return False
    within = is_within(one, other) or is_within(other, one)
    return within and (output is True or _agree(one.input, other.input, _asked) is not False)


def answers(request: ModelCall, record: ModelCall) -> bool:
    """Tell whether a record, which has no length in time, is the response of a streamed request before it (Logfire)."""
    open_ended = request.output is None and request.usage is None and request.failure is None
    is_record = record.start_ns == record.end_ns and record.output is not None
    later = (request.start_ns if request.end_ns is None else request.end_ns) <= record.start_ns
    return open_ended and is_record and later and request.input == record.input and _names_agree(request, record)


def same_tool_call(outer: ToolCall, inner: ToolCall, *, nested: bool) -> bool:
    """Tell whether two tool calls are one: the same tool, and no different id, arguments or result.

    Side by side they need the same id too: two equal calls at one time are otherwise two calls.
    """
    if outer.tool != inner.tool or not outer.tool or _of_one_emitter(outer, inner):
        return False
    for one, other in ((outer.arguments, inner.arguments), (outer.result, inner.result)):
        if one is not MISSING and other is not MISSING and one != other:
            return False
    if outer.id is not None and inner.id is not None:
        return outer.id == inner.id
    return nested


def same_agent(outer: AgentCall, inner: AgentCall) -> bool:
    """Tell whether an agent span only wraps another of the same agent."""
    named_alike = outer.agent is not None and outer.agent == inner.agent
    return named_alike and not (outer.workflow or inner.workflow or _of_one_emitter(outer, inner))


# ---- what agrees ---------------------------------------------------------------------------------


def _agree(one: tuple[Message, ...] | None, other: tuple[Message, ...] | None, of: Any) -> bool | None:
    """Compare two contents; None when one side states nothing."""
    if not one or not other:
        return None
    first, second = of(one), of(other)
    if not any(first) or not any(second):
        return None
    return bool(first == second)


def _said(messages: tuple[Message, ...]) -> tuple[Any, ...]:
    """Return what a model said and asked for, without ids and thoughts, which instrumentations keep differently."""
    parts = [part for message in messages for part in message.parts]
    texts = "".join(part.text for part in parts if isinstance(part, Text))
    return "".join(texts.split()), [(part.name, part.arguments) for part in parts if isinstance(part, ToolRequest)]


def has_left_overs(outer: ModelCall, inner: ModelCall) -> bool:
    """Tell whether the outer span has what the inner call said beside tool calls that an earlier one left (LiteLLM)."""
    (text, asked), (said, calls) = _said(outer.output or ()), _said(inner.output or ())
    return bool(inner.output) and text == said and len(asked) > len(calls) and all(call in asked for call in calls)


def _asked(messages: tuple[Message, ...]) -> tuple[Any, ...]:
    """Return the last thing that a request says, which tells one request of a history from the next."""
    parts = [part for message in messages for part in message.parts if not isinstance(part, Reasoning)]
    return (len([message for message in messages if message.role == "user"]), str(parts[-1]) if parts else "")


def _usage_agrees(one: ModelCall, other: ModelCall, *, slack: int) -> bool | None:
    if one.usage is None or other.usage is None:
        return None
    completions = _differ(one.usage.completion, other.usage.completion)
    verdicts = [_prompts_agree(one.usage, other.usage), None if completions is None else completions <= slack]
    return None if verdicts == [None, None] else False not in verdicts


def _prompts_agree(one: Usage, other: Usage) -> bool | None:
    """Compare prompts; one side may have counted without the cache, of which either tells."""
    difference = _differ(one.prompt, other.prompt)
    if not difference:
        return None if difference is None else True
    return any(difference in (each.cached, (each.cached or 0) + (each.cache_write or 0)) for each in (one, other))


def _differ(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else abs(first - second)


def _equal(one: str | None, other: str | None) -> bool | None:
    return None if one is None or other is None else one == other


def uncached(usage: Usage) -> int | None:
    """Return the tokens of a request that no cache took part in: one layer may count these alone. None: all."""
    aside = (usage.cached or 0) + (usage.cache_write or 0)
    return usage.prompt - aside if usage.prompt is not None and aside else None


def _names_agree(one: ModelCall, other: ModelCall) -> bool:
    """Compare ids of events and models; of a model one side may give the alias and the other the dated name."""
    if one.event_id is not None and other.event_id is not None and one.event_id != other.event_id:
        return False
    first, second = _bare(one.model), _bare(other.model)
    return first is None or second is None or first.startswith(second) or second.startswith(first)


def _bare(model: str | None) -> str | None:
    return None if model is None else model.rsplit("/", 1)[-1].lower()
