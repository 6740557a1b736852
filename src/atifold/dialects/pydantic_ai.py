"""Read pydantic-ai, formats 1 to 6: what it writes beside the conventions, and before it wrote them.

Format 1 and version 0.4 keep a call's messages as a list of events (`events`) and a run's likewise
(`all_messages_events`); from format 2 on a call has the conventions' messages and a run
`pydantic_ai.all_messages`, of which those from `pydantic_ai.new_message_index` on are the run's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from atifold.calls import MISSING, Message
from atifold.dialects import values
from atifold.dialects.about import About, Generation
from atifold.dialects.content import structured
from atifold.dialects.entity import opened
from atifold.dialects.messages import read_message, read_messages
from atifold.dialects.table import (
    AGENTS,
    MODELS_AND_AGENTS,
    TOOLS,
    CallKind,
    Dialect,
    Fields,
    Ignored,
    Row,
    Verdict,
)
from atifold.dialects.values import Note
from atifold.kinds import is_list, is_object
from atifold.spans import Span

_EVENTS: Final = "events"
_ALL_EVENTS: Final = "all_messages_events"
_ALL: Final = "pydantic_ai.all_messages"
_FIRST_OWN: Final = "pydantic_ai.new_message_index"
_TOTALS: Final = "gen_ai.aggregated_usage."
_CHOICE: Final = "gen_ai.choice"
_PLAIN: Final = ("agent_name", "tool_arguments", "tool_response", "tools")
_BESIDE: Final = ("logfire.msg", "model_name", "gen_ai.tool.call.id", _ALL_EVENTS)
"""Names that any program may use for its own ends, and those of which one stands beside them in pydantic-ai."""


ROWS: Final = (
    Row("agent", ("agent_name",), kinds=AGENTS),
    Row("model", ("model_name",), kinds=AGENTS),
    Row("arguments", ("tool_arguments",), values.arguments, TOOLS),
    Row("result", ("tool_response",), values.result, TOOLS),
    Row("usage.prompt", (_TOTALS + "input_tokens",), values.count, AGENTS),
    Row("usage.completion", (_TOTALS + "output_tokens",), values.count, AGENTS),
    Row(
        "usage.cached",
        (
            _TOTALS + "cache_read.input_tokens",
            _TOTALS + "details.cache_read_tokens",
            "gen_ai.usage.details.cached_tokens",
            "gen_ai.usage.details.cache_read_input_tokens",
            "gen_ai.usage.details.cached_content_tokens",
        ),
        values.count,
        MODELS_AND_AGENTS,
    ),
    Row(
        "usage.cache_write",
        (
            _TOTALS + "cache_creation.input_tokens",
            _TOTALS + "details.cache_write_tokens",
            "gen_ai.usage.details.cache_write_tokens",
            "gen_ai.usage.details.cache_creation_input_tokens",
        ),
        values.count,
        MODELS_AND_AGENTS,
    ),
    Row(
        "usage.reasoning",
        (
            _TOTALS + "details.reasoning_tokens",
            "gen_ai.usage.details.reasoning_tokens",
            "gen_ai.usage.details.thoughts_tokens",
        ),
        values.count,
        MODELS_AND_AGENTS,
    ),
)

KNOWN: Final = frozenset({_EVENTS, _ALL_EVENTS, "final_result", "model_request_parameters", "tools"})


def marks(span: Span) -> bool:
    """Tell whether pydantic-ai wrote an attribute of its own."""
    found = span.attributes
    if "model_request_parameters" in found or _EVENTS in found:
        return True
    if any(name in found for name in _PLAIN) and any(name in found for name in _BESIDE):
        return True
    return any(name.startswith((_TOTALS, "pydantic_ai.", "gen_ai.usage.details.")) for name in found)


def classify(span: Span) -> Verdict:
    """Say what an older span without an operation is: a run of an agent or of a tool, or a wrapper of tools."""
    found = span.attributes
    if found.get("gen_ai.operation.name"):
        return None
    if "gen_ai.tool.name" in found:
        return CallKind.TOOL
    if "agent_name" in found:
        return CallKind.AGENT
    return Ignored("running tools") if "tools" in found else None


def complete(span: Span, kind: CallKind, fields: Fields, note: Note) -> None:
    """Fill in messages that stand in a list of events, definitions, and what a run was told and answered."""
    found = span.attributes
    if kind is CallKind.MODEL:
        if _EVENTS in found:
            asked, said = read_events(found[_EVENTS], note)
            _put(fields, "input", asked)
            _put(fields, "output", said)
        _put(fields, "tools", _definitions(found.get("model_request_parameters")))
    elif kind is CallKind.AGENT:
        _complete_run(span, fields, note)


def _put(fields: Fields, field: str, value: Any) -> None:
    if value:
        fields.setdefault(field, value)


def read_events(value: Any, note: Note) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """Return (the messages that were sent, those that the model answered) of a list of events, JSON text or not."""
    listed = structured(value, note)
    sent: list[Message] = []
    said: list[Message] = []
    for event in listed if is_list(listed) else ():
        if not is_object(event):
            continue
        answers = event.get("event.name") == _CHOICE
        read = partial(_event_message, answers=answers)
        (said if answers else sent).extend(note.once(read, event, b"answer" if answers else b"event"))
    return tuple(sent), tuple(said)


def _event_message(event: Mapping[str, Any], note: Note, *, answers: bool) -> tuple[Message, ...]:
    """Read the message of one event; a tool's is known by the id of its call."""
    inner = event.get("message")
    item = inner if is_object(inner) else event
    if str(event.get("event.name", "")) == "gen_ai.tool.message" and "tool_call_id" not in item:
        item = {**item, "tool_call_id": item.get("id")}
    return read_message(item, note, "assistant" if answers else "user")


def _definitions(value: Any) -> tuple[Any, ...]:
    """Return the tools of a request's parameters: those that run, and those that end the run."""
    found = values.parsed(value) if isinstance(value, str) else value
    if not is_object(found):
        return ()
    listed = [found[key] for key in ("function_tools", "output_tools") if is_list(found.get(key))]
    tools = [tool for each in listed for tool in each]
    return tuple(_definition(tool) for tool in tools if is_object(tool))


def _definition(tool: Mapping[str, Any]) -> dict[str, Any]:
    names = (("name", "name"), ("description", "description"), ("parameters_json_schema", "parameters"))
    return {ours: values.plain(tool[theirs]) for theirs, ours in names if tool.get(theirs) is not None}


def _complete_run(span: Span, fields: Fields, note: Note) -> None:
    """Part the messages of a run where the model first answers: before it stands what it was told."""
    found = span.attributes
    if _ALL in found:
        listed = structured(found[_ALL], note)
        first = values.number(found.get(_FIRST_OWN)) or 0
        own = listed[int(first) :] if is_list(listed) else []
        messages = read_messages(own, note)
    elif _ALL_EVENTS in found:
        messages = read_events(found[_ALL_EVENTS], note)[0]
        messages = messages[_last_prompt(messages) :]
    else:
        return
    until = next((at for at, message in enumerate(messages) if message.role == "assistant"), len(messages))
    _put(fields, "input", messages[:until])
    answer = messages[until:]
    if not any(message.role == "assistant" for message in answer[-1:]):
        answer = (*answer, *_final(found.get("final_result"), note))
    _put(fields, "output", answer)


def _last_prompt(messages: tuple[Message, ...]) -> int:
    """Return the place of the last thing that a person said, which began a run that does not say where it begins."""
    prompts = (at for at in range(len(messages) - 1, -1, -1) if messages[at].role == "user" and messages[at].parts)
    return next(prompts, 0)


def _final(value: Any, note: Note) -> tuple[Message, ...]:
    """Return the result of a run as what it answered: a text, or a structured result as its JSON text."""
    if value is None or values.is_placeholder(value):
        return ()
    text = value if isinstance(value, str) else values.text(values.plain(value), Note())
    return read_messages(text, note, "assistant") if text is not MISSING and not is_object(opened(value)) else ()


PYDANTIC_AI: Final = Dialect(
    name="pydantic-ai",
    marks=marks,
    rows=ROWS,
    classify=classify,
    complete=complete,
    known=KNOWN,
    known_prefixes=("pydantic_ai.", "logfire.", _TOTALS, "gen_ai.agent.call.", "gen_ai.usage.details."),
    raw_usage=("gen_ai.usage.details.",),
    about=About(
        title="pydantic-ai",
        versions="0.4 to 2.x, formats 1 to 6",
        carries="whole histories of runs, tools' arguments and results, tokens, and costs where prices are known",
        lacks="tokens in 1.20; a conversation before 2.x",
        generations=(
            Generation("format 1", (_EVENTS, _ALL_EVENTS)),
            Generation("formats 2 to 6", ("pydantic_ai.all_messages", "gen_ai.input.messages", _TOTALS)),
        ),
    ),
)
