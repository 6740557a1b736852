"""Measure how long finished spans take to become a document, as a ratio to a naive fold in the same process.

    python benchmarks/folding.py [--rounds N]

The spans are those of the run that `emission.py` times, read back from OTLP. The naive fold is what one
writes in an afternoon: group by trace, sort by start, `json.loads` each output, attach results by call id,
sum the tokens, `json.dumps`. It reads no history, one dialect, and says nothing of what it left out.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from emission import run_ours
from floor import MESSAGES_2KB, CountingExporter, make_messages, make_provider

from atifold import atif, dialects, fold, otlp
from atifold.bus import EventBus
from atifold.emit import Emitter
from atifold.spans import Span


class Recorder:
    """A side door that keeps every span."""

    def __init__(self) -> None:
        """Start with none."""
        self.spans: list[Span] = []

    def opened(self, *_: Any, **__: Any) -> None:
        """Pass over a start."""

    def closed(self, whole: Callable[[], Span], **_: Any) -> None:
        """Keep a span."""
        self.spans.append(whole())


def spans_of_a_run() -> Sequence[Span]:
    """Return the 151 spans of one run, as a file has them."""
    door, bus = Recorder(), EventBus()
    provider = make_provider(CountingExporter())
    Emitter(provider.get_tracer("atifold"), side_doors=(door,), capture_content=True).attach(bus)
    run_ours(bus, make_messages(MESSAGES_2KB))
    return otlp.parse(otlp.encode_lines(door.spans), "spans").spans


def naive(spans: Sequence[Span]) -> bytes:
    """Fold one dialect's spans without looking left or right."""
    traces: dict[str, list[Span]] = defaultdict(list)
    for span in spans:
        traces[span.trace_id].append(span)
    documents = []
    for found in traces.values():
        found.sort(key=lambda span: span.start_ns)
        results = {
            span.attributes["gen_ai.tool.call.id"]: span.attributes.get("gen_ai.tool.call.result")
            for span in found
            if span.attributes.get("gen_ai.operation.name") == "execute_tool"
        }
        chats = [span for span in found if span.attributes.get("gen_ai.operation.name") == "chat"]
        steps = [_step(span, results) for span in chats]
        total = {name: sum(step["metrics"][name] for step in steps) for name in ("prompt_tokens", "completion_tokens")}
        documents.append({"schema_version": "ATIF-v1.7", "steps": steps, "final_metrics": total})
    return json.dumps(documents).encode()


def _step(span: Span, results: dict[str, Any]) -> dict[str, Any]:
    parts = [part for message in json.loads(span.attributes["gen_ai.output.messages"]) for part in message["parts"]]
    calls = [part for part in parts if part["type"] == "tool_call"]
    return {
        "source": "agent",
        "message": "".join(part["content"] for part in parts if part["type"] == "text"),
        "tool_calls": [
            {"tool_call_id": c["id"], "function_name": c["name"], "arguments": c["arguments"]} for c in calls
        ],
        "observation": {"results": [{"source_call_id": c["id"], "content": results.get(c["id"])} for c in calls]},
        "metrics": {
            "prompt_tokens": span.attributes["gen_ai.usage.input_tokens"],
            "completion_tokens": span.attributes["gen_ai.usage.output_tokens"],
        },
    }


def ours(spans: Sequence[Span]) -> bytes:
    """Fold as the product does, the document's bytes included."""
    return b"".join(atif.dumps(document.trajectory) for document in fold.fold(dialects.read(spans)).documents)


def timed(work: Callable[[], object]) -> int:
    """Return the thread CPU time of one fold, in nanoseconds."""
    gc.collect()
    start = time.thread_time_ns()
    work()
    return time.thread_time_ns() - start


def main() -> None:
    """Print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--smoke", action="store_true", help="a few rounds, to see that it runs")
    options = parser.parse_args()
    rounds = 3 if options.smoke else options.rounds
    spans = spans_of_a_run()
    answers = json.loads(naive(spans))[0]["steps"]
    made = [s for s in json.loads(ours(spans))["steps"] if s["source"] == "agent" and not s.get("is_copied_context")]
    if [step["message"] for step in made] != [step["message"] for step in answers]:
        raise SystemExit("the two folds do not have the same answers")
    ratios = [timed(lambda: ours(spans)) / timed(lambda: naive(spans)) for _ in range(rounds)]
    spread = f"{min(ratios):.1f} to {max(ratios):.1f}, {len(ratios)} rounds"
    print(f"fold of {len(spans)} spans to bytes: {statistics.median(ratios):.1f} × a naive fold ({spread})")


if __name__ == "__main__":
    main()
