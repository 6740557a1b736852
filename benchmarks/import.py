"""Measure what importing atifold costs a program, and what its first events do, as ratios to floors.

    python benchmarks/import.py [--rounds N]

Each program runs in a fresh interpreter, by turns, and tells its own CPU time. What a bare
interpreter spends is taken off; the figure is the quotient of the medians. The floors are what a
program with OpenTelemetry and models of its own pays anyway.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from typing import Final, NamedTuple

TRACE = "import opentelemetry.trace"

ONE_MODEL = """
import opentelemetry.trace
import pydantic

class Answer(pydantic.BaseModel):
    text: str
    tokens: int
    cost: float
    finished: bool
    calls: list[str]

Answer.model_validate({"text": "yes", "tokens": 3, "cost": 0.5, "finished": True, "calls": ["call_1"]})
"""

FIRST_EVENTS = """
from atifold import EventBus

bus = EventBus()
seen = []
bus.subscribe("*", seen.append)
request = {"systemPromptChars": 0, "messagesCount": 1, "toolsCount": 1, "temperature": 0.2}
bus.emit("stream.llm_start", {"iteration": 1, "provider": "openai", "model": "gpt-4o", **request})
answer = {"content": "", "toolCallCount": 1, "stopReason": "tool_calls", "usage": {"input": 30, "output": 6}}
bus.emit("stream.llm_end", {"iteration": 1, "durationMs": 2, **answer})
bus.emit("stream.tool_start", {"toolName": "find", "toolCallId": "call_1", "args": {"text": "yes"}})
bus.emit("stream.tool_end", {"toolCallId": "call_1", "durationMs": 1, "result": "found"})
spent = {"tokensInput": 30, "tokensOutput": 6, "estimatedUsd": 0.01}
bus.emit("cost.tick", {"scope": "iteration", "model": "gpt-4o", **spent, "cumulative": spent})
if [event.lacking for event in seen] != [()] * 5 or any(hasattr(event.payload, "raw") for event in seen):
    raise SystemExit(f"not the five typed events: {seen}")
"""


class Ratio(NamedTuple):
    """A program of ours and the floor that it is compared with."""

    label: str
    program: str
    floor: str
    floor_label: str


RATIOS: Final = (
    Ratio("import atifold", "import atifold", TRACE, "import opentelemetry.trace"),
    Ratio("first events", FIRST_EVENTS, ONE_MODEL, "OpenTelemetry API + pydantic + one model"),
)

_TELL = "\nimport time\nprint(time.process_time_ns())"


def spent_ns(program: str) -> int:
    """Return the CPU time that a fresh interpreter spends from its start to the program's end."""
    command = [sys.executable, "-c", program + _TELL]
    return int(subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ).stdout)


def measure(rounds: int) -> dict[str, float]:
    """Return program to its median CPU time above a bare interpreter, in nanoseconds."""
    programs = ["", *{each: None for ratio in RATIOS for each in (ratio.floor, ratio.program)}]
    times: dict[str, list[int]] = {program: [] for program in programs}
    for number in range(rounds + 1):
        for program in programs if number % 2 else reversed(programs):
            spent = spent_ns(program)
            if number:  # the first round writes the byte code
                times[program].append(spent)
    bare = statistics.median(times[""])
    return {program: statistics.median(spent) - bare for program, spent in times.items()}


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    medians = measure(parser.parse_args().rounds)
    for ratio in RATIOS:
        print(f"{ratio.label}: {medians[ratio.program] / medians[ratio.floor]:.2f} × {ratio.floor_label}")


if __name__ == "__main__":
    main()
