"""Programs that tell of their work in log records: their records and spans together are calls, each once."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from atifold import atif, dialects
from atifold.calls import AgentCall, Call, ModelCall, Reading, Text, ToolCall, ToolRequest, Usage
from atifold.fold import fold
from atifold.spans import LogRecord, Span

MakeSpan = Callable[..., Span]
SECOND = 1_000_000_000
CLAUDE = "com.anthropic.claude_code.events"


def claude(kind: str, at_s: float, **attributes: Any) -> LogRecord:
    """Return a record of Claude Code that names no span."""
    about = {"session.id": "s", "prompt.id": "p", **attributes}
    return LogRecord(kind, int(at_s * SECOND), attributes=about, body=f"claude_code.{kind}", scope_name=CLAUDE)


def codex(name: str, at_s: float, **attributes: Any) -> LogRecord:
    """Return a record of Codex that names no span."""
    about = {"conversation.id": "c", "model": "m", **attributes}
    return LogRecord(f"codex.{name}", int(at_s * SECOND), attributes=about)


def gemini(name: str, at_s: float, prefix: str = "gemini_cli.", **attributes: Any) -> LogRecord:
    """Return a record of Gemini CLI, or of a fork of it, that names no span."""
    about = {"session.id": "g", "prompt_id": "p", **attributes}
    return LogRecord(prefix + name, int(at_s * SECOND), attributes=about, scope_name="gemini-cli")


def of(kind: type[Any], reading: Reading) -> list[Any]:
    """Return the calls of a kind in order of time."""
    found = [call for call in reading.calls if isinstance(call, kind)]
    return sorted(found, key=lambda call: (call.start_ns, call.key))


def text_of(call: ModelCall) -> str:
    """Return what a model said."""
    return "".join(p.text for m in call.output or () for p in m.parts if isinstance(p, Text))


# ---- Claude Code -----------------------------------------------------------------------------------

FIGURES = {"input_tokens": 10, "output_tokens": 5, "cache_read_tokens": 90, "cache_creation_tokens": 4}
ALONE = (
    claude("user_prompt", 0, prompt="Go."),
    claude("api_request", 1, model="m", query_source="sdk", cost_usd=0.5, duration_ms=900, **FIGURES),
    claude("assistant_response", 1, query_source="sdk", response="I read it."),
    claude("tool_decision", 1.1, tool_use_id="t1", tool_name="Read", decision="reject"),
    claude("api_request", 3, model="m", query_source="agent:builtin:Plan", duration_ms=100, **FIGURES),
    claude("tool_result", 4, tool_use_id="t2", tool_name="Task", success="true", duration_ms="2000"),
    claude("api_request", 5, model="m", query_source="generate_title", cost_usd=0.1, **FIGURES),
)


def test_claude_codes_records_alone_are_calls() -> None:
    """Of an interaction, its requests and its tools; a prompt counts what was read from the cache and written."""
    reading = dialects.read([], ALONE)
    (asked, answered, titled) = of(ModelCall, reading)
    assert (asked.cost_usd, text_of(asked)) == (0.5, "I read it.")
    assert asked.usage == Usage(104, 5, 90, 4)
    interaction, subagent = of(AgentCall, reading)
    assert (interaction.conversation, interaction.end_ns) == ("s", 5 * SECOND)
    assert [asked.parent, answered.parent, titled.parent] == [interaction.key, subagent.key, None]
    refused, task = of(ToolCall, reading)
    assert (refused.dispatch, refused.tool, task.dispatch) == ("refused", "Read", None)
    assert (subagent.agent, subagent.parent) == ("Plan", task.key)


def test_a_text_alone_asks_for_the_tools_that_ran_after_it() -> None:
    """No record tells the whole answer where raw bodies are not wanted."""
    asked = of(ModelCall, dialects.read([], ALONE))[0]
    wanted = [ToolRequest("t1", "Read"), ToolRequest("t2", "Task")]
    assert [p for m in asked.output for p in m.parts if isinstance(p, ToolRequest)] == wanted


def test_a_record_comes_to_the_request_of_its_figures_and_time(span: MakeSpan) -> None:
    """Two requests run at once; one that is far off, or of another session, takes no record."""
    about = {"span.type": "llm_request", "session.id": "s", "llm_request.context": "standalone"}
    times = {"start_ns": 9 * SECOND, "end_ns": 10 * SECOND}
    first, second = (span({**about, **FIGURES, "input_tokens": count}, **times) for count in (10, 20))
    stranger = span({**about, **FIGURES, "session.id": "other"}, **times)
    late = span({**about, **FIGURES}, start_ns=90 * SECOND, end_ns=99 * SECOND)
    record = claude("api_request", 10, cost_usd=0.25, **{**FIGURES, "input_tokens": 20})
    calls = of(ModelCall, dialects.read([first, second, stranger, late], [record]))
    assert {call.key: call.cost_usd for call in calls} == {
        first.key: None, second.key: 0.25, stranger.key: None, late.key: None
    }  # fmt: skip


def test_a_span_type_of_somebody_else_is_not_claude_codes(span: MakeSpan) -> None:
    """Others tell a span's type by the same name."""
    assert dialects.read([span({"span.type": "web"})]).ignored == {"no dialect": 1}


def test_a_request_body_that_was_cut_gives_what_stands_whole(span: MakeSpan) -> None:
    """What the program says in the person's name is the system's; hidden thoughts are none."""
    hidden = [{"type": "thinking", "thinking": "<REDACTED>", "signature": "x"}, {"type": "text", "text": "Hm."}]
    reminder = "<system-reminder>r</system-reminder>"
    told = [
        {"role": "user", "content": [{"type": "text", "text": text} for text in (reminder, "Go.")]},
        {"role": "assistant", "content": hidden},
    ]
    body = json.dumps({"model": "m", "messages": told, "system": [{"type": "text", "text": "You help with code."}]})
    about = {"span.type": "llm_request", "session.id": "s", "model": "m"}
    request = span(about, start_ns=SECOND, end_ns=2 * SECOND)
    (call,) = of(ModelCall, dialects.read([request], [claude("api_request_body", 1, body=body[:-9])]))
    assert [(m.role, [p.text for p in m.parts]) for m in call.input] == [
        ("system", [reminder]), ("user", ["Go."]), ("assistant", ["Hm."])
    ]  # fmt: skip
    assert call.system.startswith("You help with")
    assert call.incomplete == ("content truncated",)


# ---- Codex -----------------------------------------------------------------------------------------


def test_codexs_records_alone_are_calls() -> None:
    """The end that tells no figures is no call, a request without an answer a failed one."""
    reading = dialects.read(
        [],
        [
            codex("user_prompt", 0, prompt="Go."),
            codex("sse_event", 0.9, **{"event.kind": "response.completed", "duration_ms": "2"}),
            codex(
                "sse_event", 1, input_token_count="7", output_token_count=2, **{"event.kind": "response.completed"}
            ),
            codex("tool_result", 2, call_id="t", tool_name="exec", arguments="{}", output="boom", success="false"),
            codex("api_request", 3, **{"http.response.status_code": "500", "duration_ms": "10"}),
        ],
    )  # fmt: skip
    (turn,) = of(AgentCall, reading)
    answered, failed = of(ModelCall, reading)
    assert (answered.usage, failed.usage) == (Usage(7, 2), None)
    assert failed.failure.message == "status 500"
    (tool,) = of(ToolCall, reading)
    assert (tool.result, tool.failure.message, tool.parent) == ("boom", "boom", turn.key)


def test_codexs_spans_are_calls_where_no_record_tells_them(span: MakeSpan) -> None:
    """A request begins with the span around that asked for it, not with its figures: its tools run before these."""
    around = span({"turn_id": "t", "model": "m"}, name="try_run_sampling_request")
    tool = span({"codex.tool.phase": "dispatch", "call_id": "x", "tool_name": "exec"}, around)
    usage = span({"gen_ai.usage.input_tokens": 7}, around, scope_name="codex_exec")
    reading = dialects.read([around, tool, usage])
    (request,) = of(ModelCall, reading)
    assert (request.start_ns, request.usage) == (around.start_ns, Usage(7, raw={"gen_ai.usage.input_tokens": 7}))
    assert [call.id for call in of(ToolCall, reading)] == ["x"]


def test_a_conversation_that_a_tool_began_is_its_subagent() -> None:
    """The tool's result names it."""
    reading = dialects.read(
        [],
        [
            codex("user_prompt", 0, prompt="Go."),
            codex("tool_result", 9, call_id="t", tool_name="spawn", output='{"agent_id": "c2"}', duration_ms=8000),
            codex("user_prompt", 2, prompt="Look.", **{"conversation.id": "c2"}),
        ],
    )
    _, below = of(AgentCall, reading)
    (tool,) = of(ToolCall, reading)
    assert below.parent == tool.key


# ---- Gemini CLI ------------------------------------------------------------------------------------


@pytest.mark.parametrize("prefix", ["gemini_cli.", "qwen-code."])
def test_gemini_clis_records_alone_are_calls(prefix: str) -> None:
    """And those of its fork; texts of a stream are one, thoughts are counted beside the answer."""
    pieces = [{"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}}]} for text in ("He", "llo")]
    reading = dialects.read(
        [],
        [
            gemini("user_prompt", 0, prefix, prompt="Hi"),
            gemini("api_request", 1, prefix, request_text='[{"role": "user", "parts": [{"text": "Hi"}]}]'),
            gemini(
                "api_response", 2, prefix, response_text=json.dumps(pieces), input_token_count=9, output_token_count=2,
                cached_content_token_count=4, thoughts_token_count=3,
            ),
            gemini("tool_call", 3, prefix, function_name="run", function_args='{"a": 1}', success=False, error="no"),
            gemini("api_error", 4, prefix, error_type="Quota", error="Exceeded"),
        ],
    )  # fmt: skip
    answered, failed = of(ModelCall, reading)
    assert (text_of(answered), answered.usage) == ("Hello", Usage(9, 5, 4, None, 3))
    assert (failed.failure.type, failed.failure.message) == ("Quota", "Exceeded")
    (tool,) = of(ToolCall, reading)
    assert (tool.tool, tool.arguments, tool.failure.message) == ("run", {"a": 1}, "no")
    assert {call.conversation for call in reading.calls} == {"g"}


# ---- any of them -----------------------------------------------------------------------------------

ALL = (
    *ALONE,
    codex("user_prompt", 0, prompt="Go."),
    codex("tool_result", 2, call_id="t", tool_name="exec", arguments="{}", output='{"a": "b"}', success="false"),
    codex("sse_event", 3, **{"event.kind": "response.completed", "input_token_count": "7"}),
    gemini("user_prompt", 0, prompt="Hi"),
    gemini("api_response", 2, response_text="[]", input_token_count=9),
    gemini("tool_call", 3, function_name="run", metadata='{"isError": true}'),
)
WRONG = (None, True, -1, 1e308, float("nan"), "", "{", "[]", '{"a": [1', [1], [[]], {"a": {}}, b"\xff", "\ud800")


def test_no_attribute_of_a_record_is_too_much() -> None:
    """Each in turn may be anything; there are documents of valid JSON still."""
    chance = random.Random(7)  # noqa: S311  any values will do, the same in every run
    for at, record in enumerate(ALL):
        for name in record.attributes:
            for wrong in chance.sample(WRONG, 4):
                broken = replace(record, attributes={**record.attributes, name: wrong})
                for document in fold(dialects.read([], [*ALL[:at], broken, *ALL[at + 1 :]])).documents:
                    atif.dumps(document.trajectory)


def test_a_record_that_comes_twice_counts_once() -> None:
    """Whatever order the records come in."""
    wanted: list[Call] = sorted(dialects.read([], ALL).calls, key=lambda call: call.key)
    found = dialects.read([], [*ALL[::-1], *ALL])
    assert sorted(found.calls, key=lambda call: call.key) == wanted
