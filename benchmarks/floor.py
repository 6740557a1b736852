"""Build F0, the floor: what a competent user writes by hand against the OpenTelemetry SDK.

One run is a root, 50 iterations, each one model call and two tool calls: 151 spans.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import SpanKind

ITERATIONS = 50
MODEL = "claude-sonnet-4-5"
LINE = 'lorem ipsum dolor sit amet "q"\n'
TEXT = "I'll look at the failing test and then patch the module. " * 4
RESULT = "FAILED tests/test_x.py::test_y - AssertionError: assert 1 == 2\n" * 8
MESSAGES_2KB, MESSAGES_100KB = 2_000, 100_000


class CountingExporter(SpanExporter):
    """Count the spans and say that all went well; keep the attribute names where asked to."""

    def __init__(self, *, keep: bool = False) -> None:
        """Start at none."""
        self.spans = 0
        self.kept: list[ReadableSpan] = []
        self._keep = keep

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Count."""
        self.spans += len(spans)
        if self._keep:
            self.kept.extend(spans)
        return SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        """Hold nothing back."""


def make_provider(exporter: SpanExporter) -> TracerProvider:
    """Return the provider of both sides: everything sampled, a batch processor with its defaults."""
    provider = TracerProvider(sampler=ALWAYS_ON, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider


def make_messages(size: int) -> list[dict[str, Any]]:
    """Return one history in the conventions' shape whose JSON is about `size` bytes."""
    messages = [{"role": "system", "parts": [{"type": "text", "content": "You are a coding agent."}]}]
    body = LINE * 40
    turn = 0
    while (left := size - len(json.dumps(messages))) > 150:
        text = body[: min(900, max(10, int((left - 120) / 1.15)))]
        part: dict[str, Any]
        match turn % 3:
            case 0:
                role, part = "user", {"type": "text", "content": text}
            case 1:
                role, part = (
                    "assistant",
                    {"type": "tool_call", "id": f"h{turn}", "name": "bash", "arguments": {"cmd": text}},
                )
            case _:
                role, part = "tool", {"type": "tool_call_response", "id": f"h{turn - 1}", "response": text}
        messages.append({"role": role, "parts": [part]})
        turn += 1
    return messages


def calls_of(iteration: int) -> list[tuple[str, dict[str, Any]]]:
    """Return the ids and arguments of the two tool calls that an iteration's model asks for."""
    first = iteration * 2
    return [(f"call_{n:06d}", {"cmd": f"pytest -q tests/test_{n}.py", "timeout": 30}) for n in (first, first + 1)]


def run_floor(tracer: trace.Tracer, messages: list[dict[str, Any]]) -> None:
    """Write one run's 151 spans by hand."""
    root = tracer.start_span(
        "invoke_agent coder", attributes={"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "coder"}
    )
    context = trace.set_span_in_context(root)
    for iteration in range(ITERATIONS):
        calls = calls_of(iteration)
        output = [
            {
                "role": "assistant",
                "parts": [
                    {"type": "text", "content": TEXT},
                    *({"type": "tool_call", "id": i, "name": "bash", "arguments": a} for i, a in calls),
                ],
                "finish_reason": "tool_calls",
            }
        ]
        span = tracer.start_span(f"chat {MODEL}", context=context, kind=SpanKind.CLIENT)
        span.set_attributes(
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.provider.name": "anthropic",
                "gen_ai.request.model": MODEL,
                "gen_ai.response.model": MODEL,
                "gen_ai.response.id": f"msg_{iteration}",
                "gen_ai.request.temperature": 0.2,
                "gen_ai.request.max_tokens": 4096,
                "gen_ai.response.finish_reasons": ("tool_calls",),
                "gen_ai.usage.input_tokens": 12345,
                "gen_ai.usage.output_tokens": 678,
                "gen_ai.usage.cache_read.input_tokens": 11000,
                "gen_ai.input.messages": json.dumps(messages),
                "gen_ai.output.messages": json.dumps(output),
            }
        )
        span.end()
        for call_id, arguments in calls:
            tool = tracer.start_span("execute_tool bash", context=context)
            tool.set_attributes(
                {
                    "gen_ai.operation.name": "execute_tool",
                    "gen_ai.tool.name": "bash",
                    "gen_ai.tool.call.id": call_id,
                    "gen_ai.tool.type": "function",
                    "gen_ai.tool.call.arguments": json.dumps(arguments),
                    "gen_ai.tool.call.result": RESULT,
                }
            )
            tool.end()
    root.end()
