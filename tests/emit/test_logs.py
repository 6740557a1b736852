"""What an emitter says through the logs API: names, times, contexts, severities, content."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from typing import Any

import pytest
from opentelemetry import _logs, context
from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
from opentelemetry.sdk._logs import LoggerProvider, LogRecordLimits
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context
from story import DEMO, Played, Stage, Story, moments, wires

from atifold import semconv
from atifold.bus import EventBus
from atifold.emit import Emitter
from atifold.emit.ended import MOST_ENDED, Ended
from atifold.emit.logs import EventLog
from atifold.emit.places import PLACES
from atifold.events.envelope import Event, parse
from atifold.recording import in_order
from atifold.spans import Span

pytestmark = pytest.mark.filterwarnings("ignore:Log record attributes were dropped")


class Told:
    """Everything that was exported, of both signals."""

    def __init__(self, played: Played, records: Iterable[Any]) -> None:
        """Take what was played and the SDK's log records."""
        self.spans = played
        self.readable = tuple(records)
        self.records = [record.log_record for record in self.readable]

    @property
    def names(self) -> list[str]:
        """Return the names in order of emission, ours without their prefix."""
        return [record.event_name.removeprefix("agentfootprint.") for record in self.records]

    def one(self, name: str) -> Any:
        """Return the one record of a name."""
        (found,) = [record for record in self.records if record.event_name in (name, f"agentfootprint.{name}")]
        return found

    def text(self) -> str:
        """Return all that leaves as log events."""
        return "".join(record.to_json() for record in self.readable)


def told(story: Story | Iterable[Event[Any]], *, capture_content: bool = False, limits: Any = None, **log: Any) -> Told:
    """Play events with a real LoggerProvider and return what came of it."""
    memory, provider = _provider(limits)
    stage = Stage(live=False, capture_content=capture_content, log=EventLog(provider, **log))
    for event in story.parsed() if isinstance(story, Story) else story:
        stage.bus.emit(event)
    return Told(stage.played(), memory.get_finished_logs())


def _provider(limits: Any = None) -> tuple[InMemoryLogRecordExporter, LoggerProvider]:
    memory = InMemoryLogRecordExporter()
    provider = LoggerProvider(shutdown_on_exit=False, log_record_limits=limits)
    provider.add_log_record_processor(SimpleLogRecordProcessor(memory))
    return memory, provider


def where(span: Span) -> tuple[int, int]:
    """Return the ids that a log event of a span has."""
    return int(span.trace_id, 16), int(span.span_id, 16)


def at(record: Any) -> tuple[int, int]:
    """Return the ids that a log event has."""
    return record.trace_id, record.span_id


def one_turn(**answer: Any) -> Story:
    """Return a turn with one model call and one tool."""
    story = Story(session="s-1").turn("mk-prompt").asks()
    story.answers("mk-text", calls=1, providerResponseRef="resp-1", **answer)
    return story.starts("c", args={"to": "mk-argument", "n": 1}).ends("c", {"found": ["mk-result"]}).turn_over("mk-end")


# ---- the conventions' events ---------------------------------------------------------------------


def test_each_inference_has_its_details() -> None:
    """Name, end of the call, its span, DEBUG, no body, scope; attributes of the conventions alone."""
    result = told(one_turn())
    (record,) = result.records
    chat = result.spans.named("chat m-1")
    assert record.event_name == "gen_ai.client.inference.operation.details"
    assert (at(record), record.timestamp, record.body) == (where(chat), chat.end_ns, None)
    assert record.severity_number is _logs.SeverityNumber.DEBUG
    wanted = {name: value for name, value in chat.attributes.items() if name.startswith("gen_ai.")}
    assert {name: list(v) if isinstance(v, tuple) else v for name, v in record.attributes.items()} == wanted
    assert record.attributes[semconv.CONVERSATION] == "s-1"
    scope = result.readable[0].instrumentation_scope
    assert (scope.name, scope.schema_url) == (semconv.SCOPE, semconv.SCHEMA_URL)
    assert dict(scope.attributes or {}) == semconv.SCOPE_ATTRIBUTES
    assert scope.version


def test_content_is_structured() -> None:
    """Lists and objects, not JSON text; a whole number beyond 64 bits costs only itself."""
    story = one_turn()
    story.events[3]["payload"]["args"]["n"] = 2**63
    result = told(story, content=True)
    details = result.one(semconv.INFERENCE_DETAILS).attributes
    (asked,) = details[semconv.INPUT_MESSAGES]
    assert asked["parts"][0] == {"type": "text", "content": "mk-prompt"}
    (answer,) = details[semconv.OUTPUT_MESSAGES]
    assert answer["parts"][1]["arguments"] == {"to": "mk-argument", "n": str(2**63)}
    assert result.one("stream.tool_start").attributes[semconv.TOOL_ARGUMENTS]["to"] == "mk-argument"
    found = result.one("stream.tool_end").attributes[semconv.TOOL_RESULT]
    assert {name: list(value) for name, value in found.items()} == {"found": ["mk-result"]}
    assert len(encode_logs(result.readable).resource_logs[0].scope_logs[0].log_records) == 3
    assert "mk-" not in str(result.spans.exported)


MODES = {
    # setting, on spans, on log events, tool events
    "NO_CONTENT": (False, False, []),
    "SPAN_ONLY": (True, False, []),
    "EVENT_ONLY": (False, True, ["stream.tool_start", "stream.tool_end"]),
    "SPAN_AND_EVENT": (True, True, ["stream.tool_start", "stream.tool_end"]),
}


@pytest.mark.parametrize("mode", MODES)
def test_content_goes_where_the_mode_says(mode: str) -> None:
    """On spans, on log events, on both, nowhere; details are there in every mode."""
    on_spans, on_events, tools = MODES[mode]
    result = told(one_turn(), capture_content=on_spans, content=on_events)
    assert ("mk-" in str(result.spans.exported)) is on_spans
    words = ("mk-prompt", "mk-text", "mk-argument", "mk-result")
    assert [word in result.text() for word in words] == [on_events] * 4
    assert [name for name in result.names if name.startswith("stream.")] == tools
    assert semconv.INFERENCE_DETAILS in result.names
    assert {"mk-prompt", "mk-text", "mk-result", "mk-end"} <= set(_words(result.spans.records))


def _words(records: Iterable[Span]) -> Iterable[str]:
    text = str(list(records))
    return [word for word in ("mk-prompt", "mk-text", "mk-result", "mk-end") if word in text]


def test_arguments_that_were_changed_are_on_no_log_event() -> None:
    """Neither on the tool's events nor in the messages of later requests."""
    story = Story().turn().asks().answers("", calls=1).starts("c", args={"card": "mk-secret", "day": "Friday"})
    story.ends("c", "ok", changedArgKeys=["card"])
    call = {"id": "c", "name": "look_up", "args": {"card": "mk-secret", "day": "Friday"}}
    history = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "", "toolCalls": [call]}]
    history.append({"role": "tool", "content": "ok", "toolCallId": "c"})
    story.tell("agent.iteration_end", {"iterIndex": 1, "history": history}).asks(2).answers("x", 2).turn_over()
    result = told(story, content=True, events="both")
    assert "mk-secret" not in result.text()
    assert result.one("stream.tool_start").attributes[semconv.TOOL_ARGUMENTS] == {"day": "Friday"}


def test_a_paused_call_shows_its_arguments_at_its_end() -> None:
    """Which of them must not leave is said there; the run that resumes it tells no start."""
    story = Story(session="s-1").turn().asks().answers("", calls=1).starts("c", args={"to": "mk-argument"})
    story.tell("pause.request", {"questionPayload": {"toolCallId": "c"}}, run="consumer-scope")
    story.ends("c", "mk-result", run="run-2").turn_over(run="run-2")
    result = told(story, content=True)
    start, end = result.one("stream.tool_start"), result.one("stream.tool_end")
    assert semconv.TOOL_ARGUMENTS not in start.attributes
    assert end.attributes[semconv.TOOL_ARGUMENTS] == {"to": "mk-argument"}
    assert end.attributes[semconv.TOOL_RESULT] == "mk-result"
    assert end.trace_id != start.trace_id


def test_an_exception_is_told_where_a_type_is_known() -> None:
    """WARN, with the span; the message only with content."""
    for content in (False, True):
        memory, provider = _provider()
        stage = Stage(log=EventLog(provider, content=content))
        with pytest.raises(TimeoutError), stage.bus.run("a", "b") as run, run.llm("m", provider="p"):
            raise TimeoutError("mk-late")
        result = Told(stage.played(), memory.get_finished_logs())
        record = result.one(semconv.OPERATION_EXCEPTION)
        assert record.severity_number is _logs.SeverityNumber.WARN
        assert at(record) == where(result.spans.named("chat m"))
        message = {semconv.EXCEPTION_MESSAGE: "mk-late"} if content else {}
        assert dict(record.attributes) == {semconv.EXCEPTION_TYPE: "TimeoutError", **message}


@pytest.mark.parametrize(
    "story",
    [
        Story().turn().asks().tell("error.retried", {"attempt": 1}, stage="call-llm#1").answers().turn_over(),
        Story().turn().asks().tell("error.fatal", {"error": "x", "stage": "s", "scope": "run"}),
        Story().turn().asks().tell("permission.halt", {"reason": "x", "target": "t"}),
        Story().turn().asks().answers("", calls=1).starts("c").ends("c", "no", error=True).turn_over(),
    ],
    ids=["recovered", "no type", "halted", "a tool"],
)
def test_nothing_else_is_an_exception(story: Story) -> None:
    """What recovered, what has no type, what a rule stopped, what is no client operation."""
    assert semconv.OPERATION_EXCEPTION not in told(story).names


# ---- evaluations ---------------------------------------------------------------------------------


def scored(target: str | None, reference: str, *, session: str | None = None, **more: Any) -> Story:
    """Return a story of one score."""
    payload = {"metricId": "faithful", "value": 1, "targetRef": reference, "label": "mk-pass", "explanation": "mk-why"}
    kind = {} if target is None else {"target": target}
    return Story("consumer-scope", session=session).tell("eval.score", {**payload, **kind, **more})


@pytest.mark.parametrize("content", [False, True])
def test_a_score_is_told_in_the_form_of_the_conventions(content: bool) -> None:
    """Name, value, the answer's id; label and explanation are content; what is left keeps our names."""
    score = scored("iteration", "1", session="s-1", threshold=0.5).parsed()
    result = told([*one_turn().parsed(), *score], content=content)
    record = result.one("gen_ai.evaluation.result")
    words = {"gen_ai.evaluation.score.label": "mk-pass", "gen_ai.evaluation.explanation": "mk-why"}
    assert dict(record.attributes) == {
        "gen_ai.evaluation.name": "faithful",
        "gen_ai.evaluation.score.value": 1.0,
        "gen_ai.response.id": "resp-1",
        "agentfootprint.eval.threshold": 0.5,
        "agentfootprint.eval.target": "iteration",
        "agentfootprint.eval.target_ref": "1",
        **(words if content else {}),
    }
    assert record.timestamp == score[0].meta.time_ns


def test_a_score_without_a_name_keeps_its_own() -> None:
    """The event of the conventions must have one."""
    result = told([*one_turn().parsed(), *scored("run", "run-1", metricId="").parsed()])
    assert semconv.EVALUATION_RESULT not in result.names
    assert at(result.one("eval.score")) == where(result.spans.named("invoke_agent teller"))


TARGETS = {
    # target, reference, session of the score, the scored span
    "a call": ("toolCall", "c", "s-1", "execute_tool look_up"),
    "a call without a session": ("toolCall", "c", None, "execute_tool look_up"),
    "an iteration": ("iteration", "1", "s-1", "chat m-1"),
    "a run by its id": ("run", "run-1", None, "invoke_agent teller"),
    "a run of its session": ("turn", "run-1", "s-1", "invoke_agent teller"),
    "a run of another session": ("run", "run-1", "s-2", None),
    "no run, nothing open": ("turn", "turn-0", "s-1", None),
    "no such call": ("toolCall", "d", "s-1", None),
}


@pytest.mark.parametrize("case", TARGETS.values(), ids=TARGETS)
def test_a_score_afterwards_has_the_context_of_what_it_scores(case: tuple[str, str, str | None, str | None]) -> None:
    """The spans have long ended; where none is meant the score stands alone, with its reference."""
    target, reference, session, scores = case
    result = told([*one_turn().parsed(), *scored(target, reference, session=session).parsed()])
    record = result.one("gen_ai.evaluation.result")
    if scores is not None:
        assert at(record) == where(result.spans.named(scores))
    else:
        assert at(record) == (0, 0)
    assert record.attributes["agentfootprint.eval.target_ref"] == reference


@pytest.mark.parametrize("events", ["span", "log", "both"])
def test_a_score_of_what_is_open_is_told_once(events: Any) -> None:
    """Beside its span event, which a log-only user does not get."""
    story = Story().turn().asks().answers("", calls=1).starts("c")
    story.tell("eval.score", {"metricId": "m", "value": 0.5, "target": "toolCall", "targetRef": "c"}, run="elsewhere")
    story.tell("eval.threshold_crossed", {"metricId": "m", "direction": "above", "value": 1, "threshold": 0})
    result = told(story.ends("c").turn_over(), events=events)
    assert result.names.count(semconv.EVALUATION_RESULT) == 1
    assert result.names.count("eval.threshold_crossed") == 1
    assert "eval.score" not in result.names
    tool = result.spans.named("execute_tool look_up")
    assert at(result.one(semconv.EVALUATION_RESULT)) == where(tool)
    assert moments(tool) == ([] if events == "log" else ["eval.score"])


# ---- the catalogue's events ----------------------------------------------------------------------


def eventful() -> Story:
    """Return a turn with a fact on each of its spans."""
    story = Story().turn().tell("skill.activated", {"skillId": "s", "reason": "r"}).asks()
    story.tell("tools.offered", {"tools": [{"name": "mk-name", "note": "mk-note"}]})
    story.answers("", calls=1).starts("c").tell("permission.check", {"toolCallId": "c", "result": "deny"})
    story.ends("c", "no", notExecuted=True).asks(2).answers("x", 2)
    return story.tell("agent.budget_exhausted", {"kind": "iterations", "limit": 3}).turn_over()


@pytest.mark.parametrize("events", ["span", "log", "both"])
def test_the_catalogue_s_events_go_where_the_setting_says(events: Any) -> None:
    """On spans, on the log, on both; a side door's record has them all."""
    result = told(eventful(), events=events)
    names = {"skill.activated", "permission.check", "agent.budget_exhausted"}
    on_spans = {name for span in result.spans for name in moments(span)}
    assert on_spans == (set() if events == "log" else names)
    assert {name for span in result.spans.records for name in moments(span)} == names
    logged = [name for name in result.names if name in names]
    assert sorted(logged) == (sorted(names) if events != "span" else [])
    assert {"stream.tool_start", "stream.tool_end"} <= set(result.names) or events == "span"


def test_without_a_logger_they_stay_on_the_spans() -> None:
    """`log` loses nothing where there is no LoggerProvider, or one without a processor."""
    for provider in (None, LoggerProvider(shutdown_on_exit=False), _logs.NoOpLoggerProvider()):
        stage = Stage(live=False, log=EventLog(provider, events="log", content=True))
        for event in eventful().parsed():
            stage.bus.emit(event)
        played = stage.played()
        assert moments(played.named("execute_tool look_up")) == ["permission.check"]
        assert "mk-" not in str(played.exported)


def test_severities_tell_refusals_and_failures() -> None:
    """INFO 9, WARN 13, ERROR 17."""
    result = told(eventful(), events="log")
    found = {name: record.severity_number.value for name, record in zip(result.names, result.records, strict=True)}
    assert (found["skill.activated"], found["permission.check"], found["agent.budget_exhausted"]) == (9, 13, 13)
    assert (found["stream.tool_start"], found["stream.tool_end"]) == (9, 13)
    for name in ("error.fatal", "permission.halt", "reliability.fail_fast"):
        ended = told(Story().turn().tell(name, {"reason": "x", "error": "x"}), events="both")
        assert ended.one(name).severity_number.value == 17
        assert at(ended.one(name)) == where(ended.spans.named("invoke_agent teller"))


def test_a_fact_that_is_attributes_on_its_span_has_them_on_the_log_too() -> None:
    """The span event has none, since the span itself has them."""
    result = told(eventful(), events="both")
    assert result.one("agent.budget_exhausted").attributes["agentfootprint.agent.limit"] == 3
    (event,) = [e for e in result.spans.named("invoke_agent teller").events if e.name.endswith("budget_exhausted")]
    assert event.attributes == {}


def test_lists_of_objects_are_structured_and_content_stays_in() -> None:
    """The same fields as on spans, in their own shape; content only where the mode says so."""
    story = Story().turn().asks()
    story.tell("memory.strategy_applied", {"strategy": "s", "rows": [{"id": "mk-1", "deep": {"n": 1}}]})
    story.answers().turn_over()
    bare = told(story, events="log")
    assert "mk-" not in bare.text()
    rich = told(story, events="log", content=True)
    (row,) = rich.one("memory.strategy_applied").attributes["agentfootprint.memory.rows"]
    assert (row["id"], dict(row["deep"])) == ("mk-1", {"n": 1})


LOG_ONLY = sorted(row.event for row in PLACES if row.does == "outcome:log_only")


@pytest.mark.parametrize("event", LOG_ONLY)
def test_what_fits_on_no_span_is_told_with_its_context(event: str) -> None:
    """In the context of the call it names, or of its run; without a logger it is counted."""
    story = one_turn().tell(event, {"toolCallId": "c", "note": "mk-note"})
    result = told(story)
    names_its_call = event.startswith("findings.")
    span = "execute_tool look_up" if names_its_call else "invoke_agent teller"
    assert at(result.one(event)) == where(result.spans.named(span))
    assert "mk-" not in result.text()
    assert result.spans.counts.get("events_counted", 0) == 0
    stage = Stage(live=False)
    for each in story.parsed():
        stage.bus.emit(each)
    assert stage.played().counts["events_counted"] == 1


def test_the_log_only_events_are_those_of_the_table() -> None:
    """Those that come between spans or after them."""
    assert {name.split(".")[0] for name in LOG_ONLY} == {"artifacts", "findings", "resilience", "tools"}
    assert len(LOG_ONLY) == 10


@pytest.mark.parametrize("name", ["stream.brand_new", "elsewhere.entirely", "odd.\ud800"])
def test_an_unknown_event_is_told_by_its_name_alone(name: str) -> None:
    """Nothing of what it holds leaves, whatever the setting; it is counted as before."""
    story = Story().turn().tell(name, {"note": "mk-note"}).asks().answers().turn_over()
    result = told(story, content=True, events="both")
    (record,) = [r for r in result.records if r.event_name.endswith(name.split(".")[1].replace("\ud800", "\ufffd"))]
    assert not record.attributes
    assert at(record) == where(result.spans.named("invoke_agent teller"))
    assert "mk-note" not in result.text()
    assert result.spans.counts["events_unmapped"] == 1
    assert encode_logs(result.readable).SerializeToString()


def test_an_unreadable_event_is_told_by_its_name_alone() -> None:
    """Its payload is not what its model says: all of it may be content."""
    story = Story().turn().asks().tell("cost.tick", {"estimatedUsd": {"mk": "mk-note"}}).answers().turn_over()
    result = told(story, content=True)
    assert not result.one("cost.tick").attributes
    assert result.spans.counts["events_unreadable"] == 1


# ---- after the end, and too many -----------------------------------------------------------------


LATE = {
    # event, payload, stage, the span that it belongs to
    "by its call": ("tools.effect", {"toolCallId": "c"}, "", "execute_tool look_up"),
    "by its stage": ("error.recovered", {"attempt": 1}, "call-llm#1", "chat m-1"),
    "by its run": ("skill.activated", {"skillId": "s"}, "", "invoke_agent teller"),
    "a disposition": ("integrity.disposition", {"posture": "observe", "rows": []}, "", "invoke_agent teller"),
    "a cost": ("cost.tick", {"estimatedUsd": 0.5}, "call-llm#1", "chat m-1"),
}


@pytest.mark.parametrize("case", LATE.values(), ids=LATE)
def test_a_fact_after_the_end_has_the_context_of_its_span(case: tuple[str, dict[str, Any], str, str]) -> None:
    """Without a logger it is dropped and counted, as ever."""
    name, payload, stage_id, span = case
    story = one_turn().tell(name, payload, stage=stage_id)
    result = told(story)
    record = result.one(name)
    assert at(record) == where(result.spans.named(span))
    assert record.timestamp == story.parsed()[-1].meta.time_ns
    assert result.spans.counts.get("facts_dropped", 0) == 0
    stage = Stage(live=False)
    for event in story.parsed():
        stage.bus.emit(event)
    assert stage.played().counts["facts_dropped"] == 1


def test_what_waited_in_vain_is_told_or_counted() -> None:
    """For an inference that did not come, for a call that never started."""
    story = Story().turn().asks().answers().tell("context.evicted", {"slot": "messages"})
    story.tell("checkin.request", {"toolCallId": "never"}).turn_over()
    result = told(story)
    agent = where(result.spans.named("invoke_agent teller"))
    assert [at(result.one(name)) for name in ("context.evicted", "checkin.request")] == [agent, agent]
    stage = Stage(live=False)
    for event in story.parsed():
        stage.bus.emit(event)
    assert stage.played().counts["facts_dropped"] == 2


def test_ended_spans_are_remembered_within_a_bound() -> None:
    """The oldest are forgotten; a call's id that is used twice names neither."""
    ended = Ended()
    for number in range(MOST_ENDED + 5):
        ended.add_run(f"run-{number}", None, SpanContext(1, number + 1, is_remote=False))
    assert len(ended.runs) == MOST_ENDED
    assert "run-4" not in ended.runs
    assert "run-5" in ended.runs
    for span_id in (1, 2):
        ended.add_call(f"run-{span_id}", "s", "c", SpanContext(1, span_id, is_remote=False))
    assert ended.session_calls["s", "c"] is None
    assert ended.calls["run-2", "c"].span_id == 2


def test_what_does_not_fit_on_a_span_goes_to_the_log() -> None:
    """Without a logger it is counted on the span; a side door's record has all of it."""
    story = Story().turn()
    for number in range(200):
        story.tell("skill.activated", {"skillId": f"s-{number}"})
    story.turn_over()
    result = told(story)
    agent = result.spans.named("invoke_agent teller")
    assert (len(agent.events), result.names.count("skill.activated")) == (128, 72)
    assert "atifold.dropped_events" not in agent.attributes
    assert len(result.spans.record("invoke_agent teller").events) == 200
    stage = Stage(live=False)
    for event in story.parsed():
        stage.bus.emit(event)
    agent = stage.played().named("invoke_agent teller")
    assert (len(agent.events), agent.attributes["atifold.dropped_events"]) == (128, 72)


# ---- limits --------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [128, 8, 1])
def test_the_operation_s_name_survives_any_limit(limit: int) -> None:
    """On spans and on log events; what says most is last and stays longest."""
    memory = InMemorySpanExporter()
    provider = TracerProvider(span_limits=SpanLimits(max_span_attributes=limit), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(memory))
    logs, logger_provider = _provider(LogRecordLimits(max_log_record_attributes=limit))
    bus = EventBus()
    log = EventLog(logger_provider, content=True)
    emitter = Emitter(provider.get_tracer("t"), capture_content=True, live=False, log=log)
    emitter.attach(bus)
    for event in in_order([parse(wire) for wire in wires(DEMO)]):
        bus.emit(event)
    emitter.flush()
    spans = memory.get_finished_spans()
    details = [r.log_record for r in logs.get_finished_logs() if r.log_record.event_name == semconv.INFERENCE_DETAILS]
    assert details
    for attributes in [*(span.attributes or {} for span in spans), *(record.attributes for record in details)]:
        assert semconv.OPERATION in attributes
        assert len(attributes) <= limit
    if limit == 8:
        assert all(semconv.REQUEST_MODEL in record.attributes for record in details)
        assert any(semconv.PROVIDER in (span.attributes or {}) for span in spans)


# ---- contexts, samplers, providers ---------------------------------------------------------------


@pytest.mark.parametrize("unsampled", [False, True])
def test_log_events_follow_the_sampler(unsampled: bool) -> None:
    """Unless the user wants them all the same."""
    memory, logger_provider = _provider()
    provider, bus = TracerProvider(sampler=ALWAYS_OFF, shutdown_on_exit=False), EventBus()
    log = EventLog(logger_provider, unsampled=unsampled, events="log")
    emitter = Emitter(provider.get_tracer("t"), live=False, log=log)
    emitter.attach(bus)
    for event in eventful().tell("cost.tick", {"estimatedUsd": 1}).parsed():
        bus.emit(event)
    emitter.flush()
    names = {record.log_record.event_name for record in memory.get_finished_logs()}
    assert bool(names) is unsampled
    if unsampled:
        assert names > {semconv.INFERENCE_DETAILS, "agentfootprint.skill.activated", "agentfootprint.cost.tick"}


def test_a_fact_of_nothing_known_has_no_ambient_context() -> None:
    """An empty context would stand for the current one, which has nothing to do with it."""
    ambient = NonRecordingSpan(SpanContext(7, 7, is_remote=False, trace_flags=TraceFlags(1)))
    token = context.attach(set_span_in_context(ambient))
    try:
        result = told(Story("lone").tell("artifacts.expired", {}))
    finally:
        context.detach(token)
    assert at(result.one("artifacts.expired")) == (0, 0)


def test_a_processor_that_raises_costs_no_other_event(caplog: pytest.LogCaptureFixture) -> None:
    """It is said once and counted; spans and later events are there."""
    memory, provider = _provider()

    class Bad(SimpleLogRecordProcessor):
        def on_emit(self, log_record: Any) -> None:
            raise RuntimeError("mk-no")

    provider.add_log_record_processor(Bad(memory))
    stage = Stage(live=False, log=EventLog(provider, events="log"))
    for event in eventful().parsed():
        stage.bus.emit(event)
    played = stage.played()
    assert played.counts["observers_failed"] > 1
    assert len(played.exported) == 4
    assert sum("observed" in line.getMessage() for line in caplog.records) == 1


def test_a_provider_may_come_later() -> None:
    """A processor that is added to it later counts from then on; the API's stand-in is the global one."""
    memory, provider = InMemoryLogRecordExporter(), LoggerProvider(shutdown_on_exit=False)
    stage = Stage(live=False, log=EventLog(provider))
    for number, story in enumerate((Story("run-1"), Story("run-2"))):
        if number:
            provider.add_log_record_processor(SimpleLogRecordProcessor(memory))
        for event in story.turn().asks().answers().turn_over().parsed():
            stage.bus.emit(event)
    assert len(memory.get_finished_logs()) == 1
    assert EventLog(_logs.get_logger_provider()).ready() is EventLog().ready()


def test_a_provider_that_gives_no_logger_costs_no_span(caplog: pytest.LogCaptureFixture) -> None:
    """One line says so, and all is as without one."""

    class Bad(LoggerProvider):
        def get_logger(self, *_: Any, **__: Any) -> Any:
            raise RuntimeError("mk-no")

    stage = Stage(live=False, log=EventLog(Bad(shutdown_on_exit=False), events="log"))
    for event in eventful().parsed():
        stage.bus.emit(event)
    played = stage.played()
    assert len(played.exported) == 4
    assert moments(played.named("execute_tool look_up")) == ["permission.check"]
    assert [line.getMessage() for line in caplog.records] == [
        "no log events: the LoggerProvider gives no logger (RuntimeError)"
    ]


def test_a_replay_s_events_were_observed_when_they_happened() -> None:
    """So the same recording gives the same log; live it is now."""
    (record,) = told(Story().turn().asks().answers().turn_over(), live=False).records
    assert record.observed_timestamp == record.timestamp
    (record,) = told(Story().turn().asks().answers().turn_over()).records
    assert record.observed_timestamp != record.timestamp


def test_importing_the_package_loads_no_logs_api() -> None:
    """It is loaded by who emits."""
    source = "import atifold, sys; sys.exit(any('_logs' in name for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", source], check=False).returncode == 0
