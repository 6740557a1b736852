"""Emit the catalogue's own events, for a framework that has them already.

    python examples/typed_events.py

Events are names with payloads in wire form, or models; the envelope says which run they belong to.
"""

from __future__ import annotations

import time

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor

from atifold import EventBus, instrument
from atifold.events.stream import LLMStart


def main() -> None:
    """Emit one turn as an agent framework would."""
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(formatter=lambda span: f"span: {span.name}\n")))
    bus = EventBus()
    instrument(provider, directory="trajectories", bus=bus)

    meta = {
        "wallClockMs": time.time_ns() // 1_000_000,
        "runOffsetMs": 0,
        "runId": "run-1",
        "runtimeStageId": "call-llm#1",
        "subflowPath": [],
        "compositionPath": ["Agent:greeter"],
    }
    bus.emit("agent.turn_start", {"turnIndex": 0, "userPrompt": "Hello"}, meta=meta)
    start = LLMStart(iteration=1, provider="openai", model="gpt-4o", messages_count=1, tools_count=0)
    bus.emit("stream.llm_start", start, meta=meta)
    end = {"iteration": 1, "content": "Good morning!", "toolCallCount": 0, "stopReason": "stop", "durationMs": 8}
    bus.emit("stream.llm_end", {**end, "usage": {"input": 12, "output": 4}}, meta=meta)
    bus.emit("agent.turn_end", {"turnIndex": 0, "finalContent": "Good morning!", "iterationCount": 1}, meta=meta)

    provider.shutdown()


if __name__ == "__main__":
    main()
