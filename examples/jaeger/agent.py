"""An agent that sends its spans to Jaeger and keeps its trajectories on disk."""

from __future__ import annotations

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from atifold import SplittingSpanExporter, instrument


def main() -> None:
    """Book a table."""
    provider = TracerProvider(resource=Resource.create({"service.name": "bookings"}))
    provider.add_span_processor(BatchSpanProcessor(SplittingSpanExporter(OTLPSpanExporter())))
    bus = instrument(provider, directory="trajectories")

    with bus.run("bookings", "A table for two on Friday", session_id="s-1") as run:
        with run.llm("gpt-4o", provider="openai") as call:
            wanted = {"id": "call_1", "name": "book_table", "arguments": {"people": 2, "day": "Friday"}}
            call.respond(tool_calls=[wanted], input_tokens=30, output_tokens=12)
        with run.tool("book_table", wanted["arguments"], id="call_1") as tool:
            tool.result({"booked": True, "at": "19:30"})
        with run.llm("gpt-4o", provider="openai") as call:
            call.respond("Booked for two, Friday at 19:30.", input_tokens=51, output_tokens=11)

    provider.shutdown()


if __name__ == "__main__":
    main()
