"""Names and texts of a call are texts, whatever the trace has in their place."""

from __future__ import annotations

from typing import Any

import pytest

from atifold import dialects
from atifold.calls import AgentCall, ModelCall, ToolCall

OPENINFERENCE = {"openinference.span.kind": "AGENT"}
GENAI = {"gen_ai.operation.name": "invoke_agent"}


@pytest.mark.parametrize(("given", "wanted"), [("a", "a"), (7, "7"), (1.5, "1.5"), (True, "true"), (b"\x01", "AQ==")])
@pytest.mark.parametrize(("base", "name"), [(OPENINFERENCE, "agent.name"), (GENAI, "gen_ai.agent.name")])
def test_a_single_value_is_read_as_its_json_text(
    span: Any, only: Any, base: dict[str, Any], name: str, given: Any, wanted: str
) -> None:
    """Numbers and yes or no are written out, and nothing is said."""
    reading = dialects.read([span({**base, name: given})])
    assert only(AgentCall, reading).agent == wanted
    assert reading.notes == ()


@pytest.mark.parametrize(("given", "found"), [(["a"], "a list"), ({"a": 1}, "an object"), ([], "a list")])
@pytest.mark.parametrize(("base", "name"), [(OPENINFERENCE, "agent.name"), (GENAI, "gen_ai.agent.name")])
def test_a_list_or_object_is_left_out_with_a_note(
    span: Any, only: Any, base: dict[str, Any], name: str, given: Any, found: str
) -> None:
    """The report says on which span."""
    reading = dialects.read([span({**base, name: given})])
    assert only(AgentCall, reading).agent is None
    assert reading.notes == (f"x: {found} where a text was wanted, left out",)


def test_null_is_left_out_in_silence(span: Any, only: Any) -> None:
    """It says nothing, so there is nothing to say about it."""
    reading = dialects.read([span({**GENAI, "gen_ai.agent.name": None})])
    assert only(AgentCall, reading).agent is None
    assert reading.notes == ()


def test_a_list_of_words_holds_texts_only(chat: Any, only: Any) -> None:
    """Numbers are written out, an object among them is left out with a note."""
    reading = dialects.read([chat({"gen_ai.response.finish_reasons": ["stop", 2, True, {"a": 1}]})])
    assert only(ModelCall, reading).finish_reasons == ("stop", "2", "true")
    assert reading.notes == ("x: an object where a text was wanted, left out",)


@pytest.mark.parametrize("given", [{"a": 1}, ["t"], 7])
def test_names_inside_of_messages_are_texts(chat: Any, only: Any, given: Any) -> None:
    """Roles and the names and ids of calls."""
    part = {"type": "tool_call", "name": given, "id": given, "arguments": {}}
    messages = [{"role": given, "name": given, "parts": [part, {"type": given}, {"type": "refusal", "refusal": given}]}]
    call = only(ModelCall, dialects.read([chat({"gen_ai.output.messages": messages})]))
    (message,) = call.output or ()
    wanted = "7" if given == 7 else ""
    assert (message.parts[0].name, message.parts[0].id) == (wanted, wanted or None)
    assert message.role == (wanted or "assistant")


def test_a_tool_is_named_after_its_span_by_a_text(span: Any, only: Any) -> None:
    """Where the attribute is no text, the span's name stands for it."""
    reading = dialects.read([span({"openinference.span.kind": "TOOL", "tool.name": ["t"]}, name="lookup")])
    assert only(ToolCall, reading).tool == "lookup"
