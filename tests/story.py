"""Build small streams of events in code, play them, and look at what comes out: tools of the tests."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.trace import Span as SdkSpan
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from atifold import dialects, fold, semconv
from atifold.bus import EventBus
from atifold.emit import Emitter
from atifold.emit.logs import EventLog
from atifold.events.envelope import Event, parse
from atifold.readable import span_of
from atifold.spans import Span

DEMO = Path(__file__).resolve().parent.parent / "src" / "atifold" / "data" / "demo.jsonl"
START_MS = 1_800_000_000_000

Wire = dict[str, Any]


class Story:
    """Events of one bus in the order of telling; each comes 10 ms after the one before it."""

    def __init__(
        self,
        run_id: str = "run-1",
        *,
        composition: Sequence[str] = ("Agent:teller",),
        session: str | None = None,
        start_ms: int = START_MS,
    ) -> None:
        """Take what the envelopes of the events have in common."""
        self.run_id = run_id
        self.composition = list(composition)
        self.session = session
        self.now_ms = start_ms
        self.events: list[Wire] = []

    def tell(
        self,
        name: str,
        payload: Wire | None = None,
        *,
        stage: str = "",
        path: Sequence[str] = (),
        run: str | None = None,
        **meta: Any,
    ) -> Story:
        """Add one event; `meta` adds to its envelope."""
        envelope: Wire = {
            "wallClockMs": self.now_ms,
            "runOffsetMs": 0,
            "runId": run or self.run_id,
            "runtimeStageId": stage,
            "subflowPath": list(path),
            "compositionPath": self.composition,
        }
        if self.session is not None:
            envelope["sessionId"] = self.session
        envelope.update(meta)
        self.events.append({"type": f"agentfootprint.{name}", "payload": payload or {}, "meta": envelope})
        self.now_ms += 10
        return self

    # ---- the usual ones --------------------------------------------------------------------------

    def turn(self, prompt: str = "What now?", **where: Any) -> Story:
        """Start a turn."""
        return self.tell("agent.turn_start", {"turnIndex": 0, "userPrompt": prompt}, stage="agent#0", **where)

    def configured(self, **where: Any) -> Story:
        """Tell a run's configuration: a run that has one ends with a disposition."""
        return self.tell("agent.run_configured", {"agentId": "teller"}, stage="run-configured#0", **where)

    def asks(self, number: int = 1, *, model: str = "m-1", provider: str = "mock", **where: Any) -> Story:
        """Start the inference of iteration `number`."""
        payload = {"iteration": number, "provider": provider, "model": model, "messagesCount": 2 * number - 1}
        return self.tell("stream.llm_start", payload, stage=f"call-llm#{number}", **where)

    def answers(self, text: str = "Done.", number: int = 1, *, calls: int = 0, **more: Any) -> Story:
        """End the inference of iteration `number`; `more` goes to the payload."""
        where = {key: more.pop(key) for key in ("path", "run") if key in more}
        payload = {
            "iteration": number,
            "content": text,
            "toolCallCount": calls,
            "usage": {"input": 10, "output": 5},
            "stopReason": "tool_use" if calls else "stop",
            "durationMs": 10,
            **more,
        }
        return self.tell("stream.llm_end", payload, stage=f"call-llm#{number}", **where)

    def starts(self, call_id: str, name: str = "look_up", args: Any = None, **more: Any) -> Story:
        """Start a tool."""
        where = {key: more.pop(key) for key in ("path", "run") if key in more}
        payload = {"toolName": name, "toolCallId": call_id, "args": {} if args is None else args, **more}
        return self.tell("stream.tool_start", payload, stage=f"tool-{call_id}#9", **where)

    def ends(self, call_id: str, result: Any = "found", **more: Any) -> Story:
        """End a tool."""
        where = {key: more.pop(key) for key in ("path", "run") if key in more}
        payload = {"toolCallId": call_id, "result": result, "durationMs": 10, **more}
        return self.tell("stream.tool_end", payload, stage=f"tool-{call_id}#9", **where)

    def turn_over(self, answer: str = "Done.", **where: Any) -> Story:
        """End the turn."""
        return self.tell("agent.turn_end", {"turnIndex": 0, "finalContent": answer, "iterationCount": 1}, **where)

    def disposed(self, **where: Any) -> Story:
        """Say that the run is over."""
        return self.tell("integrity.disposition", {"disposition": "ok"}, **where)

    # ---- out -------------------------------------------------------------------------------------

    def parsed(self) -> list[Event]:
        """Return the events as the bus takes them."""
        return [parse(event) for event in self.events]

    def write(self, path: Path) -> Path:
        """Write the events as JSON Lines."""
        return write_lines(path, self.events)


def write_lines(path: Path, events: Iterable[Wire]) -> Path:
    """Write events as JSON Lines and return the path."""
    path.write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")
    return path


def wires(path: Path) -> list[Wire]:
    """Return the events of a recording of JSON Lines in wire form."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


# ---- playing -------------------------------------------------------------------------------------


class Door:
    """A side door that keeps what it hears."""

    def __init__(self) -> None:
        """Start with nothing heard."""
        self.started: list[str] = []
        self.spans: list[Span] = []

    def opened(self, trace_id: str, span_id: str, **_: object) -> None:
        """Keep the id."""
        self.started.append(span_id)

    def closed(self, span: Callable[[], Span], **_: object) -> None:
        """Keep the record."""
        self.spans.append(span())


class Starts(SpanProcessor):
    """Keep the ids of the spans that the SDK starts; with it no span is a light one."""

    def __init__(self) -> None:
        """Start with none."""
        self.ids: list[int] = []

    def on_start(self, span: SdkSpan, parent_context: object = None) -> None:
        """Keep the id."""
        self.ids.append(span.context.span_id)


@dataclass
class Played:
    """What a stream of events became: exported spans and log records, whole records, and the emitter's counts."""

    exported: list[Span]
    records: list[Span]
    counts: dict[str, int] = field(default_factory=dict)
    starts: list[int] = field(default_factory=list)
    logs: tuple[Any, ...] = ()

    def __iter__(self) -> Iterator[Span]:
        """Go through the exported spans."""
        return iter(self.exported)

    def named(self, name: str) -> Span:
        """Return the one exported span of a name."""
        found = [span for span in self.exported if span.name == name]
        assert len(found) == 1, f"{name}: {len(found)} of {[s.name for s in self.exported]}"
        return found[0]

    def record(self, name: str) -> Span:
        """Return the one whole record of a name."""
        found = [span for span in self.records if span.name == name]
        assert len(found) == 1, f"{name}: {len(found)} of {[s.name for s in self.records]}"
        return found[0]

    def folded(self) -> fold.Folded:
        """Return what the whole records fold to."""
        return fold.fold(dialects.read(self.records))


class Stage:
    """A bus with an emitter, a real provider and a side door, for tests that emit step by step."""

    def __init__(self, *, slow_lane: bool = False, logs: bool = False, **emitter: Any) -> None:
        """Take the emitter's settings; `slow_lane` adds a processor that closes the lane of light spans.

        `logs` adds a log of all events with their content, beside the span events.
        """
        self.memory = InMemorySpanExporter()
        self.starts = Starts()
        self.provider = TracerProvider(shutdown_on_exit=False)
        self.provider.add_span_processor(SimpleSpanProcessor(self.memory))
        if slow_lane:
            self.provider.add_span_processor(self.starts)
        self.tracer = self.provider.get_tracer(semconv.SCOPE)
        self.logged = InMemoryLogRecordExporter()  # type: ignore[no-untyped-call]  # the SDK leaves it so
        if logs:
            logger_provider = LoggerProvider(shutdown_on_exit=False)
            logger_provider.add_log_record_processor(SimpleLogRecordProcessor(self.logged))
            most = emitter.get("max_value", 0)
            emitter["log"] = EventLog(logger_provider, events="both", content=True, max_value=most, live=False)
        self.door = Door()
        self.bus = EventBus()
        self.emitter = Emitter(self.tracer, side_doors=(self.door,), **emitter)
        self.detach = self.emitter.attach(self.bus)

    def exported(self) -> list[Span]:
        """Return the spans that were exported so far."""
        return [span_of(span) for span in self.memory.get_finished_spans()]

    def played(self) -> Played:
        """End everything and return what came of it."""
        self.emitter.flush()
        self.provider.shutdown()
        logs = self.logged.get_finished_logs()
        return Played(self.exported(), list(self.door.spans), dict(self.emitter.counts), list(self.starts.ids), logs)


def play(events: Story | Iterable[Event], *, slow_lane: bool = False, logs: bool = False, **emitter: Any) -> Played:
    """Play events as a replay does and return what they became."""
    stage = Stage(slow_lane=slow_lane, logs=logs, **{"live": False, **emitter})
    for event in events.parsed() if isinstance(events, Story) else events:
        stage.bus.emit(event)
    return stage.played()


def moments(span: Span) -> list[str]:
    """Return the names of a span's events without their prefix."""
    return [event.name.removeprefix("agentfootprint.") for event in span.events]
