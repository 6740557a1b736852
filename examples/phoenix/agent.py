"""A conversation of two turns, as Phoenix shows it: session, messages, tools, tokens, cost."""

from __future__ import annotations

from typing import Any

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from atifold import EventBus, SplittingSpanExporter, instrument

SYSTEM = "You plan trips. Look things up before you answer."
History = list[dict[str, Any]]


def ask(bus: EventBus, history: History, question: str, city: str, weather: str, answer: str) -> None:
    """Play one turn: the model asks for the weather, and answers."""
    history.append({"role": "user", "content": question})
    wanted = {"id": f"call_{city}", "name": "get_weather", "arguments": {"city": city}}
    with bus.run("trip_planner", question, session_id="trip-7", version="1.2.0") as run:
        with run.llm("gpt-4o", provider="openai", messages=history, system=SYSTEM) as call:
            call.respond(tool_calls=[wanted], input_tokens=400, output_tokens=20, cached_tokens=256)
        with run.tool("get_weather", wanted["arguments"], id=wanted["id"]) as tool:
            tool.result({"weather": weather})
        history.append({"role": "assistant", "content": "", "tool_calls": [wanted]})
        history.append({"role": "tool", "tool_call_id": wanted["id"], "content": weather})
        with run.llm("gpt-4o", provider="openai", messages=history, system=SYSTEM) as call:
            call.respond(answer, input_tokens=440, output_tokens=15, cached_tokens=400)
        history.append({"role": "assistant", "content": answer})


def main() -> None:
    """Ask two questions."""
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(SplittingSpanExporter(OTLPSpanExporter())))
    bus = instrument(provider, directory="trajectories")
    history: History = []
    ask(bus, history, "Will it rain in Lyon on Friday?", "Lyon", "light rain", "Yes, a little.")
    ask(bus, history, "And in Nice?", "Nice", "sun", "No, the sun shines there.")
    provider.shutdown()


if __name__ == "__main__":
    main()
