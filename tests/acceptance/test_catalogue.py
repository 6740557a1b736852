"""Each event of the catalogue is where the emitter's table says, in all three signals and every capture mode."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import pytest
from catalogue import SESSION, Take, first_takes, recording
from conformity import NAMESPACES
from performing import Performed, operation_of, perform
from placing import Check, checks, wanted

from atifold import atif, dialects, fold, semconv
from atifold.emit.places import PLACES
from atifold.events import EVENTS, full_name
from atifold.events.envelope import parse
from atifold.settings import Capture
from atifold.testing import Harness, assert_conforms, faults
from atifold.testing.taking import metrics_from

PLACE = {row.event: row.place for row in PLACES}
MODES = [(mode, "span") for mode in Capture] + [(Capture.EVENT_ONLY, "log"), (Capture.SPAN_AND_EVENT, "both")]
EACH_MODE = pytest.mark.parametrize(("mode", "events"), MODES, ids=[f"{mode.value}-{events}" for mode, events in MODES])


takes = cache(recording)


@cache
def performed(mode: Capture, events: str, **settings: Any) -> Performed:
    """Return what the recording becomes."""
    return perform(takes(), capture_content=mode.value, events=events, **settings)


# ---- the recording -------------------------------------------------------------------------------


def test_the_recording_holds_every_event_as_the_models_read_it() -> None:
    """All 128, and nothing in it is unknown or lacks a field."""
    assert {take.event for take in takes()} == {row.event for row in PLACES} == {n.split(".", 1)[1] for n in EVENTS}
    for take in takes():
        for event in map(parse, take.events):
            model = EVENTS[event.type]
            assert model is None or type(event.payload) is model, event
        assert take.wire["type"] == full_name(take.event)


@EACH_MODE
def test_nothing_is_complained_of(mode: Capture, events: str) -> None:
    """No warning, no line of a log, nothing failed, unknown, unreadable or dropped."""
    result = performed(mode, events)
    all_events = Counter(wire["type"] for take in takes() for wire in take.events)
    counted = sum(all_events[full_name(event)] for event, place in PLACE.items() if place == "counted")
    assert result.said == []
    assert result.counts == {"events": all_events.total(), "events_counted": counted}


TOLD = {"sessions": {SESSION}, "namespaces": NAMESPACES}


@pytest.mark.parametrize("mode", list(Capture), ids=[mode.value for mode in Capture])
def test_all_three_signals_conform(mode: Capture) -> None:
    """With content exactly where the mode lets it go."""
    harness = performed(mode, "span").harness
    assert_conforms(spans=harness.spans, content=mode.on_spans, **TOLD)
    assert_conforms(logs=harness.logs, content=mode.on_events, **TOLD)
    assert_conforms(metrics=harness.metrics(), **TOLD)


@pytest.mark.parametrize("names", ["compat", "both"])
def test_metrics_of_older_names_conform(names: str) -> None:
    """To the rules that let these names pass."""
    measured = performed(Capture.NO_CONTENT, "span", metrics=names).harness.metrics()
    assert_conforms(metrics=measured, compat=True, **TOLD)
    assert faults(metrics=measured, **TOLD) != []


@pytest.mark.parametrize(("mode", "events"), [MODES[0], MODES[-1]], ids=["bare", "rich"])
def test_the_trajectories_of_all_of_it_are_right(mode: Capture, events: str) -> None:
    """Each passes the check, and the report says of none that it is incomplete or not understood."""
    read = dialects.read(performed(mode, events).harness.records)
    folded = fold.fold(read)
    assert len(folded.documents) == len(takes())
    for document in folded.documents:
        assert [found for found in atif.check(document.trajectory) if found.is_error] == []
        assert document.report.keys().isdisjoint({"incomplete"})
    assert folded.report.keys().isdisjoint({"unknown_keys", "notes"})


# ---- where each event is -------------------------------------------------------------------------


class Seen(NamedTuple):
    """What became of one take: its spans and its log events."""

    spans: list[Any]
    logs: list[Any]

    def on(self, check: Check) -> list[Any]:
        """Return the spans of the operation that a check names: the first inference, not those after it."""
        found = [span for span in self.spans if operation_of(span) == check.on]
        return [s for s in found if s.attributes.get("agentfootprint.stream.iteration") != 2]


def seen_by_run(harness: Harness) -> dict[str, Seen]:
    """Return what became of each take, by the id of its run."""
    runs: dict[int, str] = {}
    for span in harness.spans:
        run_id = (span.attributes or {}).get(semconv.RUN_ID)
        if run_id is not None:
            runs[span.context.trace_id] = str(run_id).removesuffix("-b")
    seen: dict[str, Seen] = defaultdict(lambda: Seen([], []))
    for span in harness.spans:
        seen[runs[span.context.trace_id]].spans.append(span)
    for record in harness.logs:
        seen[runs[record.log_record.trace_id]].logs.append(record.log_record)
    return seen


def missing(take: Take, seen: Seen, result: Performed, mode: Capture, events: str) -> Iterator[str]:
    """Yield what is not to be seen of a take, in words."""
    for check in checks(PLACE[take.event], take.wire["payload"]):
        words = _LOOKS[check.what](take, seen, result, check, mode, events)
        if words:
            yield f"{take.run_id}: {check.what} {check.on}: {words}"


def _starts(take: Take, seen: Seen, _: Any, check: Check, *__: Any) -> str:
    return "" if any(span.start_time == take.time_ns for span in seen.on(check)) else "no span starts then"


def _ends(take: Take, seen: Seen, _: Any, check: Check, *__: Any) -> str:
    return "" if any(span.end_time == take.time_ns for span in seen.on(check)) else "no span ends then"


def _attributes(take: Take, seen: Seen, _: Any, check: Check, mode: Capture, *__: Any) -> str:
    want = dict(wanted(take, check.on, content=mode.on_spans))
    for span in seen.on(check):
        if all(n in span.attributes and (v is None or span.attributes[n] == v) for n, v in want.items()):
            return ""
    return f"{want} is not on {[dict(s.attributes) for s in seen.on(check)]}"


def _noted(take: Take, seen: Seen, _: Any, check: Check, mode: Capture, events: str) -> str:
    spans, name = seen.on(check), full_name(take.event)
    on_spans = [s for s in spans for e in s.events if (e.name, e.timestamp) == (name, take.time_ns)]
    ids = {span.context.span_id for span in spans}
    logged = [r for r in seen.logs if (r.event_name, r.timestamp) == (name, take.time_ns) and r.span_id in ids]
    if len(on_spans) != (events != "log"):
        return f"{len(on_spans)} span events"
    told_at_once = take.event.startswith("eval.")
    return "" if told_at_once or len(logged) == (events != "span") else f"{len(logged)} log events"


def _logged(take: Take, seen: Seen, *_: Any) -> str:
    name = semconv.EVALUATION_RESULT if take.event == "eval.score" else full_name(take.event)
    return "" if [(r.event_name, r.timestamp) for r in seen.logs].count((name, take.time_ns)) == 1 else "no log event"


def _nothing(take: Take, seen: Seen, *_: Any) -> str:
    name = full_name(take.event)
    names = [e.name for s in seen.spans for e in s.events] + [r.event_name for r in seen.logs]
    return "it is told" if name in names else ""


def _sealed(take: Take, _: Any, result: Performed, check: Check, *__: Any) -> str:
    sealed = result.sealed[take.run_id]
    return "" if check.on in sealed else f"{sealed} only were exported then"


def _failed(_: Take, seen: Seen, __: Any, check: Check, *___: Any) -> str:
    return (
        "" if any(semconv.ERROR_TYPE in s.attributes and not s.status.is_ok for s in seen.on(check)) else "not failed"
    )


def _refused(_: Take, seen: Seen, __: Any, check: Check, *___: Any) -> str:
    return "" if any(s.attributes.get(semconv.DISPATCH) == "refused" for s in seen.on(check)) else "not refused"


def _paused(_: Take, seen: Seen, __: Any, check: Check, *___: Any) -> str:
    return "" if any(s.attributes.get(semconv.PAUSED) for s in seen.on(check)) else "not paused"


_LOOKS = {
    "attributes": _attributes,
    "ends": _ends,
    "failed": _failed,
    "logged": _logged,
    "noted": _noted,
    "nothing": _nothing,
    "paused": _paused,
    "refused": _refused,
    "sealed": _sealed,
    "starts": _starts,
}


@EACH_MODE
def test_each_event_is_where_the_table_says(mode: Capture, events: str) -> None:
    """On the span that it names, as what it says, and where the user wants log events there."""
    result = performed(mode, events)
    seen = seen_by_run(result.harness)
    assert [words for take in takes() for words in missing(take, seen[take.run_id], result, mode, events)] == []


@EACH_MODE
def test_events_that_are_log_events_only_are_on_no_span(mode: Capture, events: str) -> None:
    """And nothing that a span has is told twice where the user wants span events."""
    harness = performed(mode, events).harness
    only = {full_name(event) for event, place in PLACE.items() if place == "log event"}
    noted = {event.name for span in harness.spans for event in span.events}
    assert noted & only == set()
    if events == "span":
        both = {record.log_record.event_name for record in harness.logs} & noted
        assert both == {full_name("eval.threshold_crossed")}


# ---- metrics -------------------------------------------------------------------------------------

INFERENCE = "gen_ai.client.inference."
EVERY_TURN = {
    f"{INFERENCE}duration",
    f"{INFERENCE}operation.input_tokens",
    f"{INFERENCE}operation.output_tokens",
    f"{INFERENCE}usage.input_tokens",
    f"{INFERENCE}usage.output_tokens",
    "gen_ai.execute_tool.duration",
    "gen_ai.invoke_agent.duration",
    "gen_ai.invoke_agent.inference_calls",
    "gen_ai.invoke_agent.tool_calls",
}
"""What the scene itself measures."""

WORKFLOW_DURATION = {"gen_ai.invoke_workflow.duration"}
MEASURED = {
    "cost.tick": {"agentfootprint.cost"},
    "embedding.generated": {"gen_ai.client.operation.duration"},
    "stream.llm_end": {
        f"{INFERENCE}usage.{kind}"
        for kind in ("cache_read.input_tokens", "cache_write.input_tokens", "reasoning.output_tokens")
    },
    "stream.thinking_delta": {f"{INFERENCE}time_to_first_chunk"},
    "stream.thinking_end": {f"{INFERENCE}usage.reasoning.output_tokens"},
    "stream.token": {f"{INFERENCE}time_to_first_chunk"},
    **{event: WORKFLOW_DURATION for event in PLACE if event.startswith("composition.")},
}
"""Event to the metrics that a turn has by it alone."""

NO_TOOL_RAN = {"gen_ai.execute_tool.duration"}
UNMEASURED = {
    "pause.request": NO_TOOL_RAN,  # a leg that begins with the result tells no time
    "pause.resume": NO_TOOL_RAN,
    "stream.tool_end": NO_TOOL_RAN,  # the call was not dispatched
    "stream.tool_start": NO_TOOL_RAN,
}
"""Event to metrics that a turn with it lacks."""


def test_each_event_feeds_the_metrics_that_are_its_own_and_no_others() -> None:
    """A turn with it has those of every turn, and the named ones."""
    wrong = []
    for take in first_takes():
        names = {metric.name for metric in metrics_from(perform([take]).harness.metrics())}
        wanted_names = (EVERY_TURN | MEASURED.get(take.event, set())) - UNMEASURED.get(take.event, set())
        if names != wanted_names:
            wrong.append((take.event, sorted(names - wanted_names), sorted(wanted_names - names)))
    assert wrong == []
