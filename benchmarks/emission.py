"""Measure what one agent run costs the program's thread, as a ratio to the floor of the same process.

    python benchmarks/emission.py [--rounds N] [--kilobytes 2|100] [--without-fold]

Our side goes through `bus.run`: validated events, the full semantics of SDK spans with content
captured, each span current inside its block, and the fold attached. Before anything is timed it is
checked that our spans have at least the attributes of the floor's. Floor and ours alternate
(A B, B A, …); the figure is the median of the rounds' ratios of main-thread CPU time.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from floor import (
    ITERATIONS,
    MESSAGES_2KB,
    MESSAGES_100KB,
    MODEL,
    RESULT,
    TEXT,
    CountingExporter,
    calls_of,
    make_messages,
    make_provider,
    run_floor,
)

from atifold.bus import EventBus
from atifold.emit import Emitter
from atifold.plugin import AtifSpanProcessor


def run_ours(bus: EventBus, messages: list[dict[str, Any]]) -> None:
    """Emit the same run through the bus."""
    with bus.run("coder") as run:
        for iteration in range(ITERATIONS):
            calls = calls_of(iteration)
            asked = [{"id": i, "name": "bash", "arguments": a} for i, a in calls]
            with run.llm(MODEL, provider="anthropic", messages=messages, temperature=0.2, max_tokens=4096) as call:
                call.respond(
                    TEXT,
                    tool_calls=asked,
                    model=MODEL,
                    id=f"msg_{iteration}",
                    finish_reason="tool_calls",
                    input_tokens=12345,
                    output_tokens=678,
                    cached_tokens=11000,
                )
            for call_id, arguments in calls:
                with run.tool("bash", arguments, id=call_id) as tool:
                    tool.result(RESULT)


def make_ours(exporter: CountingExporter, folder: Path | None) -> tuple[EventBus, Callable[[], None]]:
    """Return a bus that writes to a pipeline like the floor's, and how to flush it."""
    provider = make_provider(exporter)
    doors = []
    if folder is not None:
        processor = AtifSpanProcessor(folder)
        provider.add_span_processor(processor)
        doors.append(processor)
    bus = EventBus()
    Emitter(provider.get_tracer("atifold"), side_doors=tuple(doors), capture_content=True).attach(bus)
    return bus, lambda: (provider.force_flush(), None)[1]


def check(messages: list[dict[str, Any]]) -> None:
    """Raise where a span of ours lacks an attribute that the floor's has, or there are not as many."""
    floor, ours = CountingExporter(keep=True), CountingExporter(keep=True)
    provider = make_provider(floor)
    run_floor(provider.get_tracer("floor"), messages)
    provider.force_flush()
    bus, flush = make_ours(ours, None)
    run_ours(bus, messages)
    flush()
    if floor.spans != ours.spans:
        raise SystemExit(f"the floor has {floor.spans} spans, ours {ours.spans}")
    wanted = {span.name: set(span.attributes or ()) for span in floor.kept}
    for span in ours.kept:
        missing = wanted[span.name] - set(span.attributes or ())
        if missing:
            raise SystemExit(f"{span.name} lacks {sorted(missing)}")


def timed(work: Callable[[], None]) -> int:
    """Return the thread CPU time of one run, in nanoseconds."""
    gc.collect()
    start = time.thread_time_ns()
    work()
    return time.thread_time_ns() - start


def measure(rounds: int, messages: list[dict[str, Any]], folder: Path | None) -> list[float]:
    """Return ours ÷ floor, round by round."""
    provider = make_provider(CountingExporter())
    tracer = provider.get_tracer("floor")
    bus, flush = make_ours(CountingExporter(), folder)

    def floor() -> int:
        spent = timed(lambda: run_floor(tracer, messages))
        provider.force_flush()
        return spent

    def ours() -> int:
        spent = timed(lambda: run_ours(bus, messages))
        flush()
        return spent

    for _ in range(3):
        floor()
        ours()
    ratios = []
    for number in range(rounds):
        if number % 2:
            ours_ns, floor_ns = ours(), floor()
        else:
            floor_ns, ours_ns = floor(), ours()
        ratios.append(ours_ns / floor_ns)
    return ratios


def main() -> None:
    """Print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--kilobytes", type=int, choices=(2, 100), default=2)
    parser.add_argument("--without-fold", action="store_true")
    parser.add_argument("--smoke", action="store_true", help="a few rounds, to see that it runs")
    options = parser.parse_args()
    rounds = 3 if options.smoke else options.rounds
    messages = make_messages(MESSAGES_2KB if options.kilobytes == 2 else MESSAGES_100KB)
    check(messages)
    with tempfile.TemporaryDirectory() as folder:
        ratios = measure(rounds, messages, None if options.without_fold else Path(folder))
    fold = "without fold" if options.without_fold else "fold on"
    spread = f"{min(ratios):.2f} to {max(ratios):.2f}, {len(ratios)} rounds"
    print(f"run at {options.kilobytes} KB, {fold}: {statistics.median(ratios):.2f} × F0 ({spread})")


if __name__ == "__main__":
    main()
