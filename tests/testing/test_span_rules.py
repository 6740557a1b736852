"""Each rule of spans refuses what breaks it and nothing else, and each type of span is accepted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from atifold.spans import Kind, Span, SpanEvent, Status
from atifold.testing import assert_conforms, faults
from atifold.testing.span_rules import SPAN_TYPES

TRACE, ID = "1" * 32, "2" * 16
TALK = '[{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}]'


def span(name: str, kind: Kind = Kind.INTERNAL, **attributes: Any) -> Span:
    """Return a span with attributes under `gen_ai.` (`X__y__z`: as `x.y.z`); `operation` is the name's first word."""
    named = {_dotted(key): value for key, value in attributes.items()}
    if "mcp.method.name" not in named:
        named = {"gen_ai.operation.name": name.split(" ", maxsplit=1)[0], **named}
    return Span(TRACE, ID, None, name, 1, 2, kind, {k: v for k, v in named.items() if v is not None})


def _dotted(name: str) -> str:
    dotted = name.replace("__", ".")
    return dotted[:1].lower() + dotted[1:] if name[0].isupper() else f"gen_ai.{dotted}"


RIGHT = {
    "gen_ai.client.inference": span("chat m", Kind.CLIENT, provider__name="p", request__model="m"),
    "gen_ai.embeddings.client": span("embeddings m", Kind.CLIENT, provider__name="p", request__model="m"),
    "gen_ai.retrieval.client": span("retrieval docs", Kind.CLIENT, data_source__id="docs"),
    "gen_ai.fetch_response.client": span("fetch_response", Kind.CLIENT, provider__name="p", response__id="r"),
    "gen_ai.memory.client": span("search_memory", memory__store__id="s"),
    "gen_ai.create_agent.client": span("create_agent a", Kind.CLIENT, provider__name="p", agent__name="a"),
    "gen_ai.invoke_agent.client": span("invoke_agent a", Kind.CLIENT, provider__name="p", agent__name="a"),
    "gen_ai.invoke_agent.internal": span("invoke_agent a", agent__name="a"),
    "gen_ai.execute_tool.internal": span("execute_tool t", tool__name="t"),
    "gen_ai.invoke_workflow.internal": span("invoke_workflow w", workflow__name="w"),
    "gen_ai.plan.internal": span("plan"),
    "mcp.client": span("tools/call t", Kind.CLIENT, Mcp__method__name="tools/call", tool__name="t"),
    "mcp.server": span("ping", Kind.SERVER, Mcp__method__name="ping"),
}
"""A span of each type with the least that it needs."""

CHAT, AGENT, TOOL = (
    RIGHT[f"gen_ai.{name}"] for name in ("client.inference", "invoke_agent.internal", "execute_tool.internal")
)


def with_(base: Span, **attributes: Any) -> Span:
    """Return a span with attributes set, or taken away where None."""
    changed = {**base.attributes, **{_dotted(key): value for key, value in attributes.items()}}
    return replace(base, attributes={name: value for name, value in changed.items() if value is not None})


def test_a_right_span_of_each_type_is_there() -> None:
    """So the rules below are tried on all of them."""
    assert RIGHT.keys() == SPAN_TYPES.keys()


@pytest.mark.parametrize("right", RIGHT.values(), ids=RIGHT)
def test_the_least_that_a_type_needs_is_accepted(right: Span) -> None:
    """Without content, with any names of one's own, failed or not."""
    failed = replace(with_(right, Error__type="X"), status=Status.ERROR)
    assert_conforms(spans=[right, failed, with_(right, My__app="x")], content=False)


@pytest.mark.parametrize("type_name", SPAN_TYPES)
def test_each_required_attribute_is_missed(type_name: str) -> None:
    """Without its operation or method a span is of no type, or of another."""
    for name in SPAN_TYPES[type_name].required - {"gen_ai.operation.name", "mcp.method.name"}:
        lacking = {key: value for key, value in RIGHT[type_name].attributes.items() if key != name}
        found = faults(spans=[replace(RIGHT[type_name], attributes=lacking)])
        assert (name, f"nothing was found, it is required [{type_name}]") in [fault[1:] for fault in found]


GOOD = {
    "an agent's model in process": replace(CHAT, kind=Kind.INTERNAL),
    "an unknown value of an open enumeration": with_(CHAT, provider__name="nobody", output__type="smell"),
    "no model": replace(with_(CHAT, request__model=None), name="chat"),
    "structured messages": with_(
        CHAT, input__messages=[{"role": "user", "parts": ({"type": "text", "content": "x"},)}]
    ),
    "messages of JSON": with_(CHAT, input__messages=TALK),
    "usage of an agent": with_(AGENT, usage__input_tokens=1),
    "a skill that a tool loads": replace(with_(TOOL, skill__name="s"), name="execute_tool t s"),
    "a skill whose name stands not in the span's": with_(TOOL, skill__name="s"),
    "a tool's result that is text": with_(TOOL, tool__call__result="sunny"),
    "a tool's arguments as a map": with_(TOOL, tool__call__arguments={"city": "Lyon", "days": [1, None]}),
    "a variable of a prompt": with_(CHAT, prompt__variable__city="Lyon"),
    "a streamed answer": with_(CHAT, request__stream=True, response__time_to_first_chunk=0.1),
    "an address with its port": with_(CHAT, Server__address="h", Server__port=1),
    "the text of a failure": replace(with_(CHAT, Error__type="X"), status=Status.ERROR, status_message="no"),
    "a span of something else": Span(TRACE, ID, None, "GET", 5, 2, attributes={"http.route": "/", "error.type": "500"}),
    "an event of one's own": replace(CHAT, events=(SpanEvent("my.event", 1, {"n": 1}),)),
}


@pytest.mark.parametrize("good", GOOD.values(), ids=GOOD)
def test_what_the_conventions_allow_is_accepted(good: Span) -> None:
    """The other side of each rule."""
    assert_conforms(spans=[good])


INFERENCE, INTERNAL_AGENT, INTERNAL_TOOL = (
    f"[gen_ai.{name}]" for name in ("client.inference", "invoke_agent.internal", "execute_tool.internal")
)

WRONG: dict[str, tuple[Span, str, str]] = {
    "no operation": (
        with_(CHAT, operation__name=None),
        "gen_ai.operation.name",
        "nothing was found, the operation was wanted [spans]",
    ),
    "another kind": (
        replace(CHAT, kind=Kind.SERVER),
        "",
        f"kind SERVER was found, CLIENT or INTERNAL was wanted {INFERENCE}",
    ),
    "another kind of MCP": (
        replace(RIGHT["mcp.server"], kind=Kind.INTERNAL),
        "",
        "kind INTERNAL was found, SERVER was wanted [mcp.server]",
    ),
    "another name": (
        replace(CHAT, name="talk"),
        "",
        f"the name 'talk' was found, 'chat m' was wanted {INFERENCE}",
    ),
    "another name of MCP": (
        replace(RIGHT["mcp.client"], name="tools/call"),
        "",
        "the name 'tools/call' was found, 'tools/call t' was wanted [mcp.client]",
    ),
    "another operation of MCP": (
        with_(RIGHT["mcp.client"], operation__name="chat"),
        "gen_ai.operation.name",
        "'chat' was found, execute_tool or nothing was wanted [mcp.client]",
    ),
    "time that runs back": (
        replace(CHAT, end_ns=0),
        "",
        "an end 1 ns before the start was found [spans]",
    ),
    "no end": (
        replace(CHAT, end_ns=None),
        "",
        "no end was found, a finished span was wanted [spans]",
    ),
    "no provider": (
        with_(CHAT, provider__name=None),
        "gen_ai.provider.name",
        f"nothing was found, it is required {INFERENCE}",
    ),
    "an address without a port": (
        with_(CHAT, Server__address="h"),
        "server.port",
        f"nothing was found, it is required where server.address is {INFERENCE}",
    ),
    "a first chunk of no stream": (
        with_(CHAT, response__time_to_first_chunk=0.1),
        "gen_ai.request.stream",
        f"nothing was found, it is required where gen_ai.response.time_to_first_chunk is {INFERENCE}",
    ),
    "a version of no prompt": (
        with_(CHAT, prompt__version="1"),
        "gen_ai.prompt.name",
        f"nothing was found, it is required where gen_ai.prompt.version is {INFERENCE}",
    ),
    "a call of MCP without a tool": (
        replace(with_(RIGHT["mcp.client"], tool__name=None), name="tools/call"),
        "gen_ai.tool.name",
        "nothing was found, it is required where mcp.method.name is [mcp.client]",
    ),
    "an invented name": (
        with_(CHAT, mood="good"),
        "gen_ai.mood",
        f"no name of the conventions {INFERENCE}",
    ),
    "an invented name of MCP": (
        with_(RIGHT["mcp.client"], Mcp__mood="good"),
        "mcp.mood",
        "no name of the conventions [mcp.client]",
    ),
    "a template without a key": (
        with_(CHAT, prompt__variable="x"),
        "gen_ai.prompt.variable",
        f"no name of the conventions {INFERENCE}",
    ),
    "another type's name": (
        with_(TOOL, provider__name="x"),
        "gen_ai.provider.name",
        f"not an attribute of this item {INTERNAL_TOOL}",
    ),
    "an address inside the process": (
        with_(TOOL, Server__address="h"),
        "server.address",
        f"not an attribute of this item {INTERNAL_TOOL}",
    ),
    "an older name": (
        with_(CHAT, usage__prompt_tokens=1),
        "gen_ai.usage.prompt_tokens",
        f"deprecated, gen_ai.usage.input_tokens was wanted {INFERENCE}",
    ),
    "a text for a number": (
        with_(CHAT, request__max_tokens="9"),
        "gen_ai.request.max_tokens",
        f"'9' was found, int was wanted {INFERENCE}",
    ),
    "a whole number for a double": (
        with_(CHAT, request__temperature=1),
        "gen_ai.request.temperature",
        f"1 was found, double was wanted {INFERENCE}",
    ),
    "no number": (
        with_(CHAT, request__temperature=float("nan")),
        "gen_ai.request.temperature",
        f"nan was found, double was wanted {INFERENCE}",
    ),
    "a boolean for a number": (
        with_(CHAT, request__max_tokens=True),
        "gen_ai.request.max_tokens",
        f"True was found, int was wanted {INFERENCE}",
    ),
    "a number beyond 64 bits": (
        with_(CHAT, request__max_tokens=2**63),
        "gen_ai.request.max_tokens",
        f"9223372036854775808 was found, int was wanted {INFERENCE}",
    ),
    "a number for a switch": (
        with_(CHAT, request__stream=1),
        "gen_ai.request.stream",
        f"1 was found, boolean was wanted {INFERENCE}",
    ),
    "a text for a list": (
        with_(CHAT, response__finish_reasons="stop"),
        "gen_ai.response.finish_reasons",
        f"'stop' was found, string[] was wanted {INFERENCE}",
    ),
    "an empty word of an enumeration": (
        with_(CHAT, output__type=""),
        "gen_ai.output.type",
        f"'' was found, enum was wanted {INFERENCE}",
    ),
    "a number for a text": (
        with_(CHAT, response__id=7),
        "gen_ai.response.id",
        f"7 was found, string was wanted {INFERENCE}",
    ),
    "a number for a variable": (
        with_(CHAT, prompt__variable__n=7),
        "gen_ai.prompt.variable.n",
        f"7 was found, template[string] was wanted {INFERENCE}",
    ),
    "no attribute value": (
        with_(CHAT, My__odd=float("inf")),
        "my.odd",
        "no attribute value: inf [common]",
    ),
    "no attribute value on an event": (
        replace(CHAT, events=(SpanEvent("e", 1, {"odd": 2**63}),)),
        "odd",
        "no attribute value in the event e: 9223372036854775808 [common]",
    ),
    "compacted as false": (
        with_(CHAT, conversation__compacted=False),
        "gen_ai.conversation.compacted",
        f"false was found, true or nothing was wanted {INFERENCE}",
    ),
    "status OK": (
        replace(CHAT, status=Status.OK),
        "status",
        "OK was found, UNSET was wanted: OK is for whoever runs the program to set [recording errors]",
    ),
    "a failure without a type": (
        replace(CHAT, status=Status.ERROR),
        "error.type",
        "nothing was found, it is required where the status is ERROR [recording errors]",
    ),
    "a type without a failure": (
        with_(CHAT, Error__type="X"),
        "error.type",
        "found with the status UNSET, the status ERROR was wanted [recording errors]",
    ),
    "words without a failure": (
        replace(CHAT, status_message="hm"),
        "status",
        "a description was found with UNSET, none without a failure was wanted [recording errors]",
    ),
    "an older event": (
        replace(CHAT, events=(SpanEvent("gen_ai.content.prompt", 1),)),
        "",
        f"the event gen_ai.content.prompt is deprecated, gen_ai.input.messages was wanted {INFERENCE}",
    ),
    "an invented event": (
        replace(AGENT, events=(SpanEvent("gen_ai.turn", 1),)),
        "",
        f"the event gen_ai.turn is no name of the conventions {INTERNAL_AGENT}",
    ),
}


@pytest.mark.parametrize(("wrong", "attribute", "rule"), WRONG.values(), ids=WRONG)
def test_a_rule_finds_what_breaks_it_and_only_that(wrong: Span, attribute: str, rule: str) -> None:
    """One fault, with its place."""
    (fault,) = faults(spans=[wrong])
    assert fault == (f"{wrong.name} [{ID}]", attribute, rule)


def test_an_operation_of_no_type_is_shown_those_that_there_are() -> None:
    """The line ends with what was wanted."""
    (fault,) = faults(spans=[with_(CHAT, operation__name="talk")])
    assert fault.attribute == "gen_ai.operation.name"
    assert fault.rule.startswith("no span type has 'talk', one of chat, create_agent, create_memory, ")


def _message(**fields: Any) -> list[dict[str, Any]]:
    return [{"role": "user", "parts": [], **fields}]


def _part(kind: str, **fields: Any) -> list[dict[str, Any]]:
    return _message(parts=[{"type": kind, **fields}])


MISSHAPEN: dict[str, tuple[str, Any, str]] = {
    "no JSON": ("input.messages", "[", "text was found that is no JSON, JSON or a structured value was wanted"),
    "no list": ("input.messages", "{}", "an object was found, a list was wanted"),
    "no message": ("input.messages", ["hi"], "[0]: text was found, an object was wanted"),
    "no role": ("input.messages", [{"parts": []}], "[0].role: nothing was found, text was wanted"),
    "a role that is no text": ("output.messages", _message(role=7), "[0].role: int was found, text was wanted"),
    "a name that is no text": (
        "input.messages",
        _message(name=[]),
        "[0].name: a list was found, text or null was wanted",
    ),
    "a finish reason that is no text": (
        "output.messages",
        _message(finish_reason=1),
        "[0].finish_reason: int was found, text or null was wanted",
    ),
    "no parts": ("input.messages", [{"role": "user"}], "[0].parts: nothing was found, a list of parts was wanted"),
    "no part": ("input.messages", _message(parts=[1]), "[0].parts[0]: int was found, an object was wanted"),
    "a part of no type": (
        "input.messages",
        _message(parts=[{"content": "x"}]),
        "[0].parts[0].type: nothing was found, text was wanted",
    ),
    "text without content": (
        "input.messages",
        _part("text"),
        "[0].parts[0].content: nothing was found, text was wanted",
    ),
    "a call without a name": (
        "output.messages",
        _part("tool_call", id="c"),
        "[0].parts[0].name: nothing was found, text was wanted",
    ),
    "an answer of a tool without one": (
        "input.messages",
        _part("tool_call_response", result="x"),
        "[0].parts[0].response: nothing was found, value was wanted",
    ),
    "a data URI": (
        "input.messages",
        _part("uri", modality="image", uri="data:image/png;base64,AA=="),
        "[0].parts[0].uri: text was found, URI that is no data: URI was wanted",
    ),
    "a server's call of no type": (
        "output.messages",
        _part("server_tool_call", name="search", server_tool_call={}),
        "[0].parts[0].server_tool_call: an object was found, object with a type was wanted",
    ),
    "instructions without content": (
        "system_instructions",
        [{"type": "text"}],
        "[0].content: nothing was found, text was wanted",
    ),
    "a tool without a name": (
        "tool.definitions",
        [{"type": "function"}],
        "[0].name: nothing was found, text was wanted",
    ),
    "a score that is no number": (
        "retrieval.documents",
        [{"score": True}],
        "[0].score: bool was found, number or null was wanted",
    ),
    "a record without content": (
        "memory.records",
        [{"id": "r"}],
        "[0].content: nothing was found, value was wanted",
    ),
    "metadata that is no object": (
        "memory.records",
        [{"content": None, "metadata": []}],
        "[0].metadata: a list was found, object or null was wanted",
    ),
}

HOLDERS = {"memory.records": RIGHT["gen_ai.memory.client"], "retrieval.documents": RIGHT["gen_ai.retrieval.client"]}


@pytest.mark.parametrize(("name", "value", "rule"), MISSHAPEN.values(), ids=MISSHAPEN)
def test_content_of_another_shape_is_found(name: str, value: Any, rule: str) -> None:
    """With the path inside the value, and none of the content."""
    holder = HOLDERS.get(name, CHAT)
    (fault,) = faults(spans=[replace(holder, attributes={**holder.attributes, f"gen_ai.{name}": value})])
    assert fault[1:] == (f"gen_ai.{name}", f"{rule} [message schemas]")


def test_parts_of_each_type_are_accepted() -> None:
    """With more fields than the conventions have, and of types that they do not have."""
    parts = [
        {"type": "text", "content": "x"},
        {"type": "tool_call", "name": "t", "id": None, "arguments": {"a": 1}, "signature": "s"},
        {"type": "tool_call_response", "response": None, "id": "c"},
        {"type": "reasoning", "content": "hm"},
        {"type": "blob", "modality": "image", "content": "AA==", "mime_type": "image/png"},
        {"type": "file", "modality": "smell", "file_id": "f"},
        {"type": "uri", "modality": "image", "uri": "https://example.org/a.png"},
        {"type": "server_tool_call", "name": "search", "server_tool_call": {"type": "search"}},
        {"type": "server_tool_call_response", "server_tool_call_response": {"type": "search"}},
        {"type": "compaction"},
        {"type": "mine", "anything": [1]},
    ]
    assert_conforms(spans=[with_(CHAT, input__messages=_message(role="anybody", parts=parts))])


# ---- what the caller wants -----------------------------------------------------------------------


def test_content_is_found_where_none_was_wanted() -> None:
    """Attributes, the words of a failure, and what an event quotes."""
    told = with_(CHAT, input__messages=TALK, Error__type="X", prompt__variable__city="Lyon")
    event = SpanEvent("exception", 1, {"exception.type": "X", "exception.message": "db-7 is down"})
    failed = replace(told, status=Status.ERROR, status_message="db-7 is down", events=(event,))
    assert_conforms(spans=[failed])
    assert [fault[1:] for fault in faults(spans=[failed], content=False)] == [
        ("gen_ai.input.messages", f"content was found, none was wanted {INFERENCE}"),
        ("gen_ai.prompt.variable.city", f"content was found, none was wanted {INFERENCE}"),
        ("status", "a description was found: it is content, none was wanted [recording errors]"),
        ("exception.message", f"content was found in the event exception, none was wanted {INFERENCE}"),
    ]


def test_no_content_is_found_where_some_was_wanted() -> None:
    """One item with content is enough; nothing at all wants none."""
    assert_conforms(spans=[CHAT, with_(CHAT, input__messages=TALK)], content=True)
    assert_conforms(content=True)
    (fault,) = faults(spans=[CHAT, AGENT], content=True)
    assert str(fault) == "spans and logs: no content was found, some was wanted [capture of content]"


def test_a_conversation_that_there_was_not_is_found() -> None:
    """Where the caller says which there were."""
    told = with_(CHAT, conversation__id="c-1")
    assert_conforms(spans=[told])
    assert_conforms(spans=[told], sessions={"c-1"})
    (fault,) = faults(spans=[told], sessions=())
    assert fault[1:] == ("gen_ai.conversation.id", f"'c-1' is no session's id, and none may be made up {INFERENCE}")


def test_a_name_in_a_namespace_that_was_not_named_is_found() -> None:
    """Names of the conventions need no naming."""
    told = with_(CHAT, My__app="x", Mine__app="x")
    assert_conforms(spans=[told], namespaces=("my.", "mine."))
    (fault,) = faults(spans=[told], namespaces=("my.", "other."))
    assert fault[1:] == ("mine.app", "in none of the namespaces my., other. [common]")


def test_older_names_are_accepted_on_demand() -> None:
    """With the type of the new name; those whose values changed too are not."""
    older = with_(CHAT, provider__name=None, system="openai", usage__cache_creation__input_tokens=1)
    assert_conforms(spans=[older], compat=True)
    assert len(faults(spans=[older])) == 3  # and the provider is missing
    (fault,) = faults(spans=[with_(older, usage__prompt_tokens="1")], compat=True)
    assert fault[1:] == ("gen_ai.usage.input_tokens", f"'1' was found, int was wanted {INFERENCE}")
    (fault,) = faults(spans=[with_(older, prompt="hi")], compat=True)
    assert fault[1:] == ("gen_ai.prompt", f"deprecated, gen_ai.input.messages was wanted {INFERENCE}")
    assert_conforms(spans=[replace(CHAT, events=(SpanEvent("gen_ai.content.prompt", 1),))], compat=True)


def test_all_faults_are_said_at_once() -> None:
    """One a line, in the order of the spans."""
    with pytest.raises(AssertionError) as raised:
        assert_conforms(spans=[with_(CHAT, mood=1, response__id=7), replace(TOOL, name="t")])
    assert str(raised.value).splitlines() == [
        "faults: 3",
        f"chat m [{ID}]: gen_ai.mood: no name of the conventions {INFERENCE}",
        f"chat m [{ID}]: gen_ai.response.id: 7 was found, string was wanted {INFERENCE}",
        f"t [{ID}]: the name 't' was found, 'execute_tool t' was wanted {INTERNAL_TOOL}",
    ]
