"""An agent that knows the conventions and nothing of atifold: it stands for whatever instrumentation you have."""

from __future__ import annotations

import json

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind


def messages(role: str, text: str) -> str:
    """Return one message as the conventions want them."""
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


def main() -> None:
    """Answer one question."""
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    tracer = provider.get_tracer("greeter")
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "greeter"}
    chat = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.usage.input_tokens": 12,
        "gen_ai.usage.output_tokens": 4,
        "gen_ai.input.messages": messages("user", "Hello"),
        "gen_ai.output.messages": messages("assistant", "Good morning!"),
    }
    with tracer.start_as_current_span("invoke_agent greeter", attributes=agent):
        tracer.start_span("chat gpt-4o", kind=SpanKind.CLIENT, attributes=chat).end()
    provider.shutdown()


if __name__ == "__main__":
    main()
