"""An agent that knows nothing of OpenTelemetry: events on the shared bus, and that is all.

Without `opentelemetry-instrument` it runs all the same, and its events cost next to nothing.
"""

from __future__ import annotations

from atifold import shared_bus


def main() -> None:
    """Run one small agent on the shared bus."""
    bus = shared_bus()
    with bus.run("greeter", "Hello") as run, run.llm("gpt-4o", provider="openai") as call:
        call.respond("Good morning!", input_tokens=12, output_tokens=4)


if __name__ == "__main__":
    main()
