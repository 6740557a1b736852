"""A run that fails, on the shared bus: environment variables say where its spans go."""

from __future__ import annotations

from atifold import shared_bus


def book_table(people: int, day: str) -> str:
    """Fail, as services do."""
    raise ConnectionError(f"no answer, so no table for {people} on {day}")


def main() -> None:
    """Try to book a table; the tool raises, and so the run has failed."""
    try:
        with shared_bus().run("bookings", "A table for two on Friday", session_id="s-1") as run:
            with run.llm("gpt-4o", provider="openai") as call:
                wanted = {"id": "call_1", "name": "book_table", "arguments": {"people": 2, "day": "Friday"}}
                call.respond(tool_calls=[wanted], input_tokens=30, output_tokens=12)
            with run.tool("book_table", wanted["arguments"], id="call_1"):
                book_table(2, "Friday")
    except ConnectionError as error:
        print(f"not booked: {error}")


if __name__ == "__main__":
    main()
