"""An asynchronous agent: tools that run as tasks, side by side."""

from __future__ import annotations

import asyncio
from typing import Any

from opentelemetry.sdk.trace import TracerProvider

from atifold import instrument
from atifold.bus import Run


async def look_up(run: Run, call: dict[str, Any]) -> str:
    """Run one tool; its span is current here, so that HTTP spans nest under it."""
    async with run.tool(call["name"], call["arguments"], id=call["id"]) as tool:
        await asyncio.sleep(0.01)
        answer = f"{call['arguments']['city']}: clear"
        tool.result(answer)
        return answer


async def main() -> None:
    """Ask for two cities at once."""
    provider = TracerProvider()
    bus = instrument(provider, directory="trajectories")
    calls = [
        {"id": f"call_{n}", "name": "get_weather", "arguments": {"city": c}} for n, c in enumerate(("Rome", "Oslo"))
    ]
    async with bus.run("forecaster", "Weather in Rome and Oslo?") as run:
        async with run.llm("gpt-4o", provider="openai") as llm:
            llm.respond(tool_calls=calls, input_tokens=25, output_tokens=30)
        answers = await asyncio.gather(*(look_up(run, call) for call in calls))
        async with run.llm("gpt-4o", provider="openai") as llm:
            llm.respond("; ".join(answers), input_tokens=70, output_tokens=9)
    provider.shutdown()


if __name__ == "__main__":
    asyncio.run(main())
