"""One turn of an agent whose tool asks an HTTP server; what the programs beside this one have in common."""

from __future__ import annotations

from urllib.request import urlopen

from atifold import EventBus


def ask(url: str) -> str:
    """Return what the server says."""
    with urlopen(url, timeout=10) as answer:  # noqa: S310 - the test's own server
        return str(answer.read().decode())


def book(bus: EventBus, target: str, day: str) -> None:
    """Have a model ask for a tool, the tool ask the server, and the model answer."""
    with bus.run("bookings", f"A table on {day}", session_id="s-1") as run:
        with run.llm("gpt-4o", provider="openai") as call:
            wanted = {"id": f"call_{day}", "name": "find_table", "arguments": {"day": day}}
            call.respond(tool_calls=[wanted], input_tokens=30, output_tokens=12)
        with run.tool("find_table", {"day": day}, id=f"call_{day}") as tool:
            tool.result(ask(f"{target}/{day}"))
        with run.llm("gpt-4o", provider="openai") as call:
            call.respond(f"Booked for {day}.", input_tokens=51, output_tokens=11)
