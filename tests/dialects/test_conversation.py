"""The conversation of one span alone, as the live side asks for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from atifold import dialects

MakeSpan = Callable[..., Any]
AGENT = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a"}
TOOL = {"openinference.span.kind": "TOOL", "tool.name": "t"}


@pytest.mark.parametrize(
    ("attributes", "conversation"),
    [
        ({**AGENT, "gen_ai.conversation.id": "c"}, "c"),
        ({**AGENT, "session.id": "c"}, "c"),
        ({**AGENT, "gen_ai.session.id": "c", "gen_ai.conversation.id": ""}, "c"),
        ({**AGENT, "gen_ai.session.id": "old", "gen_ai.conversation.id": "new"}, "new"),
        ({**TOOL, "session.id": "c"}, "c"),
        ({**TOOL, "metadata": '{"thread_id": "c"}'}, "c"),
        ({**TOOL, "metadata": '{"session_id": 7}', "session.id": ""}, "7"),
        ({**TOOL, "gen_ai.conversation.id": "c", "metadata": '{"thread_id": "other"}'}, "c"),
        ({**TOOL, "metadata": "no JSON"}, None),
        (AGENT, None),
    ],
)
def test_a_call_s_conversation_is_what_a_reading_says(
    span: MakeSpan, attributes: dict[str, Any], conversation: str | None
) -> None:
    """By every name of every dialect, in the same order."""
    found = span(attributes)
    (call,) = dialects.read([found]).calls
    assert (dialects.conversation_of(found), call.conversation) == (conversation, conversation)


@pytest.mark.parametrize(
    "attributes",
    [
        {"http.request.method": "GET", "session.id": "c"},
        {"gen_ai.operation.name": "embeddings", "gen_ai.conversation.id": "c"},
        {"openinference.span.kind": "CHAIN", "session.id": "c"},
    ],
)
def test_what_is_no_call_names_no_conversation(span: MakeSpan, attributes: dict[str, Any]) -> None:
    """A browser's session is no agent's conversation."""
    found = span(attributes)
    assert dialects.read([found]).calls == ()
    assert dialects.conversation_of(found) is None
