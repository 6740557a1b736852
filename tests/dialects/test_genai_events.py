"""Messages that earlier generations of the conventions wrote as events."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from atifold.calls import MISSING, Media, Message, ModelCall, OtherPart, Text, ToolRequest, ToolResponse
from atifold.dialects.reprs import from_repr
from atifold.spans import Span, SpanEvent

MakeSpan = Callable[..., Span]
ReadOne = Callable[[Span], ModelCall]
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
REQUEST = ToolRequest("c", "f", {"a": 1})


def event(name: str, **attributes: Any) -> SpanEvent:
    """Return an event of the conventions; a body is given as `body`."""
    return SpanEvent(f"gen_ai.{name}", 1, attributes)


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (event("user.message", body={"content": "Hi"}), Message("user", (Text("Hi"),))),
        (event("user.message", body="Hi"), Message("user", (Text("Hi"),))),
        (event("user.message", content="Hi"), Message("user", (Text("Hi"),))),
        (event("user.message", content='[{"text": "Hi"}]'), Message("user", (Text("Hi"),))),
        (event("user.message", content='[{"name": "Hi"}]'), Message("user", (Text('[{"name": "Hi"}]'),))),
        (
            event("user.message", body='{"role": "user", "content": "Hi", "name": "Mo"}'),
            Message("user", (Text("Hi"),), "Mo"),
        ),
        (event("user.message", **{"gen_ai.event.content": '{"content": "Hi"}'}), Message("user", (Text("Hi"),))),
        (
            event("user.message", body={"content": {"role": "model", "parts": [{"text": "Hi"}]}}),
            Message("assistant", (Text("Hi"),)),
        ),
        (event("system.message", body={"content": "S", "role": "developer"}), Message("system", (Text("S"),))),
        (event("assistant.message", body={"tool_calls": [CALL]}), Message("assistant", (REQUEST,))),
        (event("assistant.message", tool_calls=json.dumps([CALL])), Message("assistant", (REQUEST,))),
        (event("tool.message", body={"content": "ok", "id": "c"}), Message("tool", (ToolResponse("c", "ok"),))),
        (event("tool.message", content="ok", id="c"), Message("tool", (ToolResponse("c", "ok"),))),
        (
            event("tool.message", body='{"content": "ok", "tool_call_id": "c"}'),
            Message("tool", (ToolResponse("c", "ok"),)),
        ),
        (
            event("tool.message", body={"content": {"ok": True}, "id": "c"}),
            Message("tool", (ToolResponse("c", {"ok": True}),)),
        ),
        (
            event("tool.message", content='[{"toolResult": {"toolUseId": "c", "content": [{"text": "ok"}]}}]'),
            Message("tool", (ToolResponse("c", "ok"),)),
        ),
        (
            event("user.message", body={"content": [{"type": "image_url", "image_url": {"url": "https://x/y.png"}}]}),
            Message("user", (Media("image", None, "https://x/y.png"),)),
        ),
    ],
)
def test_an_event_is_a_message(chat: MakeSpan, read_one: ReadOne, found: SpanEvent, message: Message) -> None:
    """Body or attributes, map or JSON text, text or blocks."""
    assert read_one(chat(events=(found,))).input == (message,)


@pytest.mark.parametrize(
    ("attributes", "output"),
    [
        ({"body": {"index": 0, "message": {"role": "assistant", "content": "Yo"}}}, (Text("Yo"),)),
        ({"body": {"message": {"tool_calls": [CALL], "content": None}}}, (REQUEST,)),
        ({"body": {"content": {"role": "model", "parts": [{"text": "Yo"}]}}}, (Text("Yo"),)),
        ({"message": "Yo"}, (Text("Yo"),)),
        (
            {"message": '[{"text": "Yo"}, {"toolUse": {"toolUseId": "c", "name": "f", "input": {"a": 1}}}]'},
            (Text("Yo"), REQUEST),
        ),
        ({"message": '{"content": "Yo"}'}, (Text("Yo"),)),
        ({"tool_calls": json.dumps([CALL])}, (REQUEST,)),
    ],
)
def test_a_choice_is_the_answer(
    chat: MakeSpan, read_one: ReadOne, attributes: dict[str, Any], output: tuple[Any, ...]
) -> None:
    """In any of the shapes in which the message stands in it."""
    call = read_one(chat(events=(event("choice", **attributes),)))
    assert call.output == (Message("assistant", output),)


def test_choices_stand_in_the_order_of_their_index(chat: MakeSpan, read_one: ReadOne) -> None:
    """Each with its reason to stop."""
    events = [
        event("choice", body={"index": n, "finish_reason": f"r{n}", "message": {"content": str(n)}}) for n in (1, 0)
    ]
    call = read_one(chat(events=tuple(events)))
    assert call.finish_reasons == ("r0", "r1")
    assert [message.parts for message in call.output or ()] == [(Text("0"),)]
    assert call.extra["other_choices"] == [{"message": "1"}]


def test_chunks_of_a_stream_are_one_answer(chat: MakeSpan, read_one: ReadOne) -> None:
    """google-genai writes a choice a chunk, and why it stopped on the last only."""
    texts = [("Let me ", None), ("see.", "FINISH_REASON_UNSPECIFIED"), (" Yes.", "STOP")]
    bodies = [
        {"index": n, "finish_reason": reason, "content": {"role": "model", "parts": [{"text": text}]}}
        for n, (text, reason) in enumerate(texts)
    ]
    call = read_one(chat(events=tuple(event("choice", body=body) for body in bodies)))
    assert call.output == (Message("assistant", (Text("Let me see. Yes."),)),)
    assert call.finish_reasons == ("STOP",)


def test_events_without_content_say_nothing(chat: MakeSpan, read_one: ReadOne) -> None:
    """Where content is not captured the skeleton of a history stays; that is no content."""
    events = (event("user.message"), event("choice", body={"index": 0, "finish_reason": "stop", "message": {}}))
    call = read_one(chat(events=events))
    assert (call.input, call.output, call.finish_reasons) == (None, None, ("stop",))


def test_one_event_may_hold_the_whole_prompt(chat: MakeSpan, read_one: ReadOne) -> None:
    """As up to 1.27, a list of messages or a plain text."""
    prompt = event("content.prompt", **{"gen_ai.prompt": '[{"role": "user", "content": "Hi"}]'})
    call = read_one(chat(events=(prompt, event("content.completion", **{"gen_ai.completion": "Yo"}))))
    assert call.input == (Message("user", (Text("Hi"),)),)
    assert call.output == (Message("assistant", (Text("Yo"),)),)


def test_details_may_stand_in_the_body(chat: MakeSpan, read_one: ReadOne, said: Callable[[str, str], str]) -> None:
    """As a map or as JSON text; several events of details fill what the first left open."""
    name = "client.inference.operation.details"
    first = event(name, body={"gen_ai.input.messages": said("user", "Hi")})
    second = event(name, body=json.dumps({"gen_ai.output.messages": said("assistant", "Yo")}))
    call = read_one(chat(events=(first, second)))
    assert call.input == (Message("user", (Text("Hi"),)),)
    assert call.output == (Message("assistant", (Text("Yo"),)),)


# ---- Python reprs in place of messages -------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (
            "Item(id='a', n=-1, ok=True, none=None, inner=[Part(x=1.5)])",
            {"id": "a", "n": -1, "ok": True, "none": None, "inner": [{"x": 1.5}]},
        ),
        ("{'a': ('b', 2)}", {"a": ["b", 2]}),
        ("[{'a': 1}]", [{"a": 1}]),
        ("{'a': open('x')}", MISSING),
        ("Item(id=__import__('os'))", MISSING),
        ("Item(kind=<Kind.A: 1>)", {"kind": 1}),
        ("Item(kind=<object at 0x1>)", MISSING),
        ("{'a': ", MISSING),
        ("{}", MISSING),
        ('{"a": 1}', MISSING),
        ("Hello (x=1)", MISSING),
        ("[1, 2]", MISSING),
        ("{'a': " + "[" * 5000 + "]" * 5000 + "}", MISSING),
    ],
)
def test_a_repr_is_read_and_never_run(text: str, value: Any) -> None:
    """Objects and what they hold; what is anything else stays a text."""
    assert from_repr(text) == value


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (
            "ResponseFunctionToolCall(arguments='{\"a\": 1}', call_id='c', name='f', type='function_call', id='fc')",
            REQUEST,
        ),
        (
            f"{{'role': 'assistant', 'content': None, 'tool_calls': [{CALL}]}}",
            REQUEST,
        ),
        ("{'annotations': [], 'text': 'Hi', 'type': 'output_text'}", Text("Hi")),
        ("{'annotations': [], 'text': 'Hi'}", Text("{'annotations': [], 'text': 'Hi'}")),
        ("{'type': 'strange', 'x': 1}", Text("{'type': 'strange', 'x': 1}")),
    ],
)
def test_a_text_of_the_model_that_is_the_repr_of_an_item_is_the_item(
    chat: MakeSpan, read_one: ReadOne, said: Callable[[str, str], str], text: str, part: Any
) -> None:
    """Only what names a type that is known; a user's text is never taken for one."""
    call = read_one(
        chat({"gen_ai.output.messages": said("assistant", text), "gen_ai.input.messages": said("user", text)})
    )
    assert call.output == (Message("assistant", (part,)),)
    assert call.input == (Message("user", (Text(text),)),)


def test_an_unknown_part_is_kept(chat: MakeSpan, read_one: ReadOne) -> None:
    """As it was."""
    found = event("user.message", body={"content": [{"type": "smell", "of": "tea"}]})
    assert read_one(chat(events=(found,))).input == (Message("user", (OtherPart({"type": "smell", "of": "tea"}),)),)
