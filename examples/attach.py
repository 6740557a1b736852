"""Attach to a pipeline that is there already: two lines, then events.

    python examples/attach.py

The provider here stands for yours: whatever exporters it has get the spans, and each run leaves a
trajectory in ./trajectories.
"""

from __future__ import annotations

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor

from atifold import instrument


def main() -> None:
    """Run one small agent."""
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(formatter=lambda span: f"span: {span.name}\n")))

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
