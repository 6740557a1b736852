"""Sealed spans feed the conventions' metrics: what counts, what does not, and under whose names."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from meters import Meters, asks, measured
from opentelemetry import metrics as api
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from story import START_MS, Stage, Story, play

from atifold import __version__, semconv
from atifold.bus import EventBus
from atifold.emit import Emitter
from atifold.emit.instruments import INSTRUMENTS
from atifold.emit.metrics import Metrics

CLIENT = "gen_ai.client."
USAGE = "gen_ai.client.inference.usage."
DURATION = "gen_ai.client.inference.duration"
OPERATION = "gen_ai.client.operation.duration"
TOOL = "gen_ai.execute_tool.duration"
AGENT = "gen_ai.invoke_agent.duration"
CALLS = "gen_ai.invoke_agent.inference_calls"
TOOL_CALLS = "gen_ai.invoke_agent.tool_calls"
STD = {semconv.OPERATION: "chat", semconv.PROVIDER: "openai", semconv.REQUEST_MODEL: "m-1"}
SPENT = {"input": 100, "output": 20, "cacheRead": 60, "cacheWrite": 5, "thinking": 7}


def whole_run() -> Story:
    """Return a run with one of everything."""
    story = asks(Story().turn(), tools=["look_up"])
    story.tell("stream.token", {"tokenIndex": 0, "content": "a"}, stage="call-llm#1")
    story.tell("stream.token", {"tokenIndex": 1, "content": "b"}, stage="call-llm#1")
    story.tell("stream.token", {"tokenIndex": 2, "content": "c"}, stage="call-llm#1")
    story.answers("", 1, calls=1, usage=SPENT, **{"atifold.responseModel": "m-1-2026"})
    story.tell("cost.tick", {"estimatedUsd": 0.5}, stage="call-llm#1")
    story.starts("c1").ends("c1")
    asks(story, 2).answers("Done.", 2)
    story.tell("cost.tick", {"estimatedUsd": 0.25}, stage="call-llm#2")
    story.tell("cost.tick", {"estimatedUsd": 0.125}, stage="summarise#9")
    story.tell("embedding.generated", {"provider": "openai", "model": "e-1", "durationMs": 30, "tokensSpent": 4})
    story.tell("memory.retrieved", {"k": 3})
    return story.turn_over()


def failed_run() -> Story:
    """Return a run whose only inference failed without an answer."""
    story = asks(Story().turn())
    return story.answers("", usage=None, **{"atifold.errorType": "TimeoutError", "atifold.error": "x"}).turn_over()


# ---- what is measured ----------------------------------------------------------------------------


def test_each_inference_is_timed_and_its_tokens_are_counted() -> None:
    """Durations, both token histograms and the five counters, with the model that was asked and that answered."""
    meters = measured(whole_run())
    first = {**STD, semconv.RESPONSE_MODEL: "m-1-2026"}
    assert meters.points(DURATION) == [(first, pytest.approx(0.04)), (STD, pytest.approx(0.01))]
    unknown = {semconv.MODALITY: "unknown"}
    assert meters.points(USAGE + "input_tokens") == [({**first, **unknown}, 100), ({**STD, **unknown}, 10)]
    assert meters.points(USAGE + "output_tokens") == [({**first, **unknown}, 27), ({**STD, **unknown}, 5)]
    assert meters.points(USAGE + "cache_read.input_tokens") == [({**first, **unknown}, 60)]
    assert meters.points(USAGE + "cache_write.input_tokens") == [({**first, **unknown}, 5)]
    assert meters.points(USAGE + "reasoning.output_tokens") == [({**first, **unknown}, 7)]
    assert meters.points(CLIENT + "inference.operation.input_tokens") == [(first, 100), (STD, 10)]
    assert meters.points(CLIENT + "inference.operation.output_tokens") == [(first, 27), (STD, 5)]
    assert meters.points(CLIENT + "inference.time_to_first_chunk") == [(first, pytest.approx(0.01))]


def test_agents_and_tools_are_timed_and_their_calls_counted() -> None:
    """An agent by its name and the one model it asked; a tool by its name, its type and its agent."""
    meters = measured(whole_run())
    agent = {semconv.AGENT_NAME: "teller"}
    assert meters.points(AGENT) == [({**agent, semconv.REQUEST_MODEL: "m-1"}, pytest.approx(0.15))]
    assert meters.points(CALLS) == [(agent, 2)]
    assert meters.points(TOOL_CALLS) == [(agent, 1)]
    tool = {semconv.TOOL_NAME: "look_up", semconv.TOOL_TYPE: "function", **agent}
    assert meters.points(TOOL) == [(tool, pytest.approx(0.01))]


def test_an_agent_that_asked_several_models_names_none() -> None:
    """Its duration is not that of any of them."""
    story = asks(Story().turn()).answers("", 1)
    story = asks(story, 2, model="m-2").answers("", 2)
    assert measured(story.turn_over()).points(AGENT)[0][0] == {semconv.AGENT_NAME: "teller"}


def test_an_agent_without_tools_called_none() -> None:
    """A known nought is a measurement."""
    assert measured(asks(Story().turn()).answers().turn_over()).points(TOOL_CALLS)[0][1] == 0


def test_calls_count_for_the_agent_that_made_them() -> None:
    """An agent inside another one has its own; they add up to those of the run."""
    inner = {"path": ("helper",)}
    story = asks(Story().turn()).answers("", calls=1)
    story.turn("Help.", **inner).tell("stream.llm_start", {"model": "m-1", "provider": "openai"}, stage="x#5", **inner)
    story.tell("stream.llm_end", {"content": "ok"}, stage="x#5", **inner).turn_over("ok", **inner)
    meters = measured(story.turn_over())
    assert meters.points(CALLS) == [({semconv.AGENT_NAME: "helper"}, 1), ({semconv.AGENT_NAME: "teller"}, 1)]


def test_a_workflow_is_timed() -> None:
    """By its name, with the error where it failed."""
    story = Story(composition=("Sequence:flow",))
    story.tell("composition.enter", {"kind": "Sequence", "id": "f", "name": "flow"})
    story.tell("composition.exit", {"kind": "Sequence", "id": "f", "status": "err"})
    name = {semconv.WORKFLOW_NAME: "flow", semconv.ERROR_TYPE: "_OTHER"}
    assert measured(story).points("gen_ai.invoke_workflow.duration") == [(name, pytest.approx(0.01))]


def test_embeddings_are_client_operations_and_a_retrieval_without_duration_is_not_timed() -> None:
    """What has no length of its own is not measured as 0."""
    expected = {semconv.OPERATION: "embeddings", semconv.PROVIDER: "openai", semconv.REQUEST_MODEL: "e-1"}
    assert measured(whole_run()).points(OPERATION) == [(expected, pytest.approx(0.03))]
    untimed = asks(Story().turn()).answers().tell("embedding.generated", {"provider": "openai", "model": "e"})
    assert measured(untimed.turn_over()).points(OPERATION) == []


def test_cost_is_added_once_for_each_inference_and_for_what_else_an_agent_spent() -> None:
    """In dollars; the agent's own is not that of its inferences again."""
    meters = measured(whole_run())
    assert meters.metrics()["agentfootprint.cost"].unit == "{USD}"
    assert meters.points("agentfootprint.cost") == [
        ({**STD, semconv.RESPONSE_MODEL: "m-1-2026"}, 0.5),
        (STD, 0.25),
        ({semconv.OPERATION: "invoke_agent", semconv.AGENT_NAME: "teller"}, 0.125),
    ]


def test_what_was_not_reported_is_not_recorded() -> None:
    """Unknown is not 0: not of usage, not of cost."""
    meters = measured(asks(Story().turn()).answers(usage=None).turn_over())
    assert meters.counts(DURATION) == 1
    assert not [name for name in meters.metrics() if "tokens" in name or "cost" in name]


def test_a_failed_inference_counts_no_tokens_and_says_why_it_took_so_long() -> None:
    """0 of an unknown modality, as the conventions have it; the error stands on histograms only."""
    meters = measured(failed_run())
    failed = {**STD, semconv.ERROR_TYPE: "TimeoutError"}
    assert meters.points(DURATION) == [(failed, pytest.approx(0.01))]
    for kind in ("input", "output", "cache_read.input", "cache_write.input", "reasoning.output"):
        assert meters.points(f"{USAGE}{kind}_tokens") == [({**STD, semconv.MODALITY: "unknown"}, 0)]
    for kind in ("input", "output"):
        assert meters.points(f"{CLIENT}inference.operation.{kind}_tokens") == [(failed, 0)]


def test_a_failed_inference_that_reported_tokens_counts_those() -> None:
    """And only what it reported."""
    story = asks(Story().turn()).answers("", usage={"input": 9}, **{"atifold.errorType": "E", "atifold.error": "x"})
    meters = measured(story.turn_over())
    assert [value for _, value in meters.points(USAGE + "input_tokens")] == [9]
    assert meters.points(USAGE + "output_tokens") == []


# ---- what is not measured ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ({}, {"notExecuted": True}),
        ({"notDispatched": {"pausedCall": {"toolCallId": "c0"}}}, {"notDispatched": {"pausedCall": {}}}),
    ],
)
def test_a_tool_that_never_ran_feeds_nothing(start: dict[str, Any], end: dict[str, Any]) -> None:
    """Neither a duration nor the count of its agent."""
    story = asks(Story().turn(), tools=["t"]).answers("", calls=1).starts("c", "t", **start).ends("c", "no", **end)
    meters = measured(story.turn_over())
    assert meters.points(TOOL) == []
    assert meters.points(TOOL_CALLS)[0][1] == 0


def test_a_failed_tool_ran() -> None:
    """Its duration has the error."""
    story = asks(Story().turn(), tools=["t"]).answers("", calls=1).starts("c", "t").ends("c", "boom", error=True)
    meters = measured(story.turn_over())
    assert meters.points(TOOL)[0][0][semconv.ERROR_TYPE] == "_OTHER"
    assert meters.points(TOOL_CALLS)[0][1] == 1


def paused_and_resumed(**end: Any) -> Story:
    """Return a turn that waits for an answer in its first leg and has it in its second."""
    story = asks(Story(session="s").turn(), tools=["ask"]).answers("", calls=1).starts("c", "ask")
    story.tell("pause.request", {"reason": "ask", "questionPayload": {"toolCallId": "c"}})
    story.now_ms += 3_600_000
    leg = Story("run-2", session="s", start_ms=story.now_ms).configured()
    leg.tell("stream.tool_end", {"toolCallId": "c", "result": "yes", **end}, stage="tool-c#1")
    asks(leg, 2).answers("Done.", 2).turn_over().disposed()
    story.events.extend(leg.events)
    return story


def test_a_pause_is_no_working_time() -> None:
    """The paused leg has no agent duration, the waiting call none; the turn's calls are counted once, whole."""
    meters = measured(paused_and_resumed())
    agent = {semconv.AGENT_NAME: "teller"}
    assert meters.counts(AGENT) == 1
    assert meters.points(AGENT)[0][1] < 1
    assert meters.points(CALLS) == [(agent, 2)]
    assert meters.points(TOOL_CALLS) == [(agent, 1)]
    assert meters.points(TOOL) == []
    assert meters.counts(DURATION) == 2


def test_what_is_never_resumed_is_not_measured() -> None:
    """Nobody knows how many calls the turn would have made."""
    story = paused_and_resumed()
    story.events = [event for event in story.events if event["meta"]["runId"] == "run-1"]
    meters = measured(story)
    assert (meters.counts(AGENT), meters.counts(CALLS), meters.counts(TOOL)) == (0, 0, 0)


def test_what_has_no_start_or_no_end_has_no_duration() -> None:
    """Its times are those of the events around it; tokens that it reported were spent all the same."""
    cut = Story().answers("Late.", usage={"input": 9, "output": 1}).ends("c").turn_over()
    never = asks(Story("run-2", start_ms=START_MS + 10_000).turn(), tools=["t"]).starts("d", "t")
    cut.events.extend(never.events)
    meters = measured(cut)
    assert [value for _, value in meters.points(USAGE + "input_tokens")] == [9]
    for name in (DURATION, TOOL, AGENT, CALLS, TOOL_CALLS):
        assert meters.counts(name) == 0, name


def test_what_a_failed_run_had_open_ended_there() -> None:
    """The run's failure is theirs: durations with its kind, and the calls that were made."""
    story = asks(Story().turn()).tell("error.fatal", {"error": "x", "atifold.errorType": "Crash"})
    meters = measured(story)
    for name in (DURATION, AGENT):
        assert [point[0][semconv.ERROR_TYPE] for point in meters.points(name)] == ["Crash"]
    assert meters.points(CALLS) == [({semconv.AGENT_NAME: "teller"}, 1)]


# ---- exemplars, scope and where it goes ----------------------------------------------------------


@pytest.mark.parametrize("slow_lane", [False, True])
def test_exemplars_name_the_span(slow_lane: bool) -> None:
    """Each measurement is made in the context of its span, though that has ended."""
    meters = Meters()
    played = play(whole_run(), slow_lane=slow_lane, observers=(Metrics(meters.provider),))
    spans = {span.span_id: span.name for span in played}
    found = {
        name: {
            spans[f"{exemplar.span_id:016x}"].split()[0]
            for point in metric.data.data_points
            for exemplar in point.exemplars
        }
        for name, metric in meters.metrics().items()
    }
    cost = found.pop("agentfootprint.cost")
    assert cost == {"chat", "invoke_agent"}
    for name, kinds in found.items():
        wanted = (
            "execute_tool" if "tool.d" in name else "invoke_agent" if "agent" in name else "embeddings"
            if name == OPERATION else "chat"
        )  # fmt: skip
        assert kinds == {wanted}, name


def test_unsampled_spans_are_measured_without_exemplars() -> None:
    """A sampler thins out traces, not figures."""
    meters = Meters()
    provider = TracerProvider(sampler=ALWAYS_OFF, shutdown_on_exit=False)
    emitter = Emitter(provider.get_tracer("t"), live=False, observers=(Metrics(meters.provider),))
    for event in whole_run().parsed():
        emitter.handle(event)
    assert meters.counts(DURATION) == 2
    assert not [e for point in meters.metrics()[DURATION].data.data_points for e in point.exemplars]


def test_the_meter_is_named_like_the_tracer() -> None:
    """Name, version, schema and the commit of the conventions."""
    scopes = measured(whole_run()).scopes()
    assert {(s.name, s.version, s.schema_url, s.attributes["atifold.semconv.commit"]) for s in scopes.values()} == {
        (semconv.SCOPE, __version__, semconv.SCHEMA_URL, semconv.PINNED_COMMIT)
    }


def test_a_global_provider_is_found_when_it_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was sealed before is not recorded; what comes after is, with the whole scope."""
    stand_in = api._internal._ProxyMeterProvider()
    monkeypatch.setattr("atifold.emit.metrics.get_meter_provider", lambda: stand_in)
    stage = Stage(live=False, observers=(Metrics(),))
    meters = Meters()
    for run in ("before", "after"):
        for event in asks(Story(run).turn()).answers().turn_over().parsed():
            stage.bus.emit(event)
        stand_in.on_set_meter_provider(meters.provider)
    assert meters.counts(AGENT) == 1
    assert meters.scopes()[AGENT].attributes == semconv.SCOPE_ATTRIBUTES


@pytest.mark.parametrize("provider", [api.NoOpMeterProvider(), None])
def test_without_meters_nothing_is_read(provider: api.MeterProvider | None) -> None:
    """No figure is made where nobody takes it; with no provider set, the next span asks again."""
    metrics = Metrics(provider)
    played = play(whole_run(), observers=(metrics,))
    assert "observers_failed" not in played.counts
    assert not metrics._feeds
    assert not metrics._few._seen


def test_what_is_no_meter_provider_is_refused() -> None:
    """At once, by its type."""
    with pytest.raises(TypeError, match="a MeterProvider is wanted, str was found"):
        Metrics("meters")  # type: ignore[arg-type]


def test_a_meter_that_raises_costs_no_span(caplog: pytest.LogCaptureFixture) -> None:
    """It is said once and counted."""

    class Broken(MeterProvider):
        def get_meter(self, *args: Any, **kwargs: Any) -> api.Meter:
            raise RuntimeError

    with caplog.at_level(logging.WARNING, "atifold"):
        played = play(whole_run(), observers=(Metrics(Broken(shutdown_on_exit=False)),))
    assert len(played.exported) == played.counts["observers_failed"] == 6
    assert len(caplog.records) == 1


def test_odd_figures_are_left_out(caplog: pytest.LogCaptureFixture) -> None:
    """The SDK would log a line for each of them."""
    story = asks(Story().turn()).answers(usage={"input": -4, "output": 1})
    story.tell("cost.tick", {"estimatedUsd": -1.0}, stage="call-llm#1")
    meters = measured(story.turn_over())
    assert meters.points(USAGE + "input_tokens") == []
    assert meters.points("agentfootprint.cost") == []
    assert not caplog.records


# ---- few values ----------------------------------------------------------------------------------


def tools_run(names: list[str], *, offered: list[str] | None, run: str = "run-1") -> Story:
    """Return a run that executes tools by name."""
    story = asks(Story(run).turn(), tools=offered).answers("", calls=len(names))
    for index, name in enumerate(names):
        story.starts(f"c{index}", name).ends(f"c{index}")
    return story.turn_over()


def named(meters: Meters) -> list[str]:
    """Return the tools that a metric names."""
    return [attributes[semconv.TOOL_NAME] for attributes, _ in meters.points(TOOL)]


def test_a_tool_that_was_never_offered_is_an_other_one() -> None:
    """A model can write any name; the span keeps it."""
    story = tools_run(["known", "rm -rf"], offered=["known"])
    assert named(measured(story)) == ["known", "_OTHER"]
    assert play(story).named("execute_tool rm -rf").attributes[semconv.TOOL_NAME] == "rm -rf"


def test_every_way_of_offering_counts() -> None:
    """The request's tools, definitions of `bus.run` in both shapes, and what was chosen before the request."""
    story = Story().turn().tell("tools.offered", {"availableIds": ["chosen"], "withheldIds": []})
    definitions = [{"name": "flat"}, {"type": "function", "function": {"name": "nested"}}, "odd"]
    story = asks(story, tools=["shown"]).answers("", 1)
    story = asks(story, 2, **{"atifold.toolDefinitions": definitions}).answers("", 2, calls=5)
    for name in ("chosen", "shown", "flat", "nested", "made_up"):
        story.starts(name, name).ends(name)
    assert named(measured(story.turn_over())) == ["chosen", "shown", "flat", "nested", "_OTHER"]


def test_an_offer_of_nothing_is_an_offer() -> None:
    """Then any call is made up."""
    story = asks(Story().turn(), **{"atifold.toolDefinitions": []}).answers("", calls=1).starts("c", "x").ends("c")
    assert named(measured(story.turn_over())) == ["_OTHER"]


def test_what_a_paused_leg_offered_is_known_in_the_next() -> None:
    """The answer comes before the next request shows the tools again."""
    meters = measured(paused_and_resumed(durationMs=5))
    assert meters.points(TOOL)[0][0][semconv.TOOL_NAME] == "ask"
    assert meters.points(TOOL)[0][1] == pytest.approx(0.005)


def test_without_any_offer_the_first_hundred_names_pass() -> None:
    """In one process, over all runs."""
    meters = Meters()
    stage = Stage(live=False, observers=(Metrics(meters.provider),))
    for run in range(3):
        for event in tools_run([f"t{run}-{n}" for n in range(50)], offered=None, run=f"run-{run}").parsed():
            stage.bus.emit(event)
    assert len(named(meters)) == 101
    assert "_OTHER" in named(meters)


@pytest.mark.parametrize("attribute", [semconv.REQUEST_MODEL, semconv.RESPONSE_MODEL, semconv.AGENT_NAME])
def test_names_of_models_and_agents_are_bounded_too(attribute: str) -> None:
    """The hundred and first is an other one."""
    meters = Meters()
    stage = Stage(live=False, observers=(Metrics(meters.provider),))
    for number in range(120):
        story = Story(f"run-{number}", composition=[f"Agent:a{number}"]).turn()
        asks(story, model=f"m-{number}").answers(**{"atifold.responseModel": f"r-{number}"})
        for event in story.turn_over().parsed():
            stage.bus.emit(event)
    name = AGENT if attribute == semconv.AGENT_NAME else DURATION
    values = {attributes[attribute] for attributes, _ in meters.points(name)}
    assert len(values) == 101
    assert "_OTHER" in values


# ---- names and settings --------------------------------------------------------------------------

LATEST_ONLY = {DURATION, CLIENT + "inference.time_to_first_chunk"} | {
    f"{CLIENT}inference.{kind}_tokens"
    for kind in ("operation.input", "operation.output", "usage.input", "usage.output", "usage.cache_read.input",
                 "usage.cache_write.input", "usage.reasoning.output")
}  # fmt: skip
COMPAT_ONLY = {CLIENT + "token.usage", CLIENT + "operation.time_to_first_chunk"}
ALWAYS = {OPERATION, AGENT, CALLS, TOOL_CALLS, TOOL, "agentfootprint.cost"}


def test_the_setting_chooses_names() -> None:
    """Unchanged names stay in all modes; `both` has all."""
    found = {names: set(measured(whole_run(), names=names).metrics()) for names in ("latest", "compat", "both")}
    assert found["latest"] == LATEST_ONLY | ALWAYS
    assert found["compat"] == COMPAT_ONLY | ALWAYS
    assert found["both"] == LATEST_ONLY | COMPAT_ONLY | ALWAYS


def test_older_names_have_older_attributes() -> None:
    """One duration for all operations, one histogram for both kinds of tokens."""
    meters = measured(whole_run(), names="compat")
    operations = [attributes[semconv.OPERATION] for attributes, _ in meters.points(OPERATION)]
    assert sorted(operations) == ["chat", "chat", "embeddings", "execute_tool", "invoke_agent"]
    used = {(p[0][semconv.USAGE_TYPE], p[0].get(semconv.RESPONSE_MODEL)): p[1] for p in
            meters.points(CLIENT + "token.usage")}  # fmt: skip
    assert used == {
        ("input", "m-1-2026"): 100,
        ("output", "m-1-2026"): 27,
        ("input", None): 10,
        ("output", None): 5,
    }
    assert measured(failed_run(), names="compat").points(CLIENT + "token.usage") == []


@pytest.mark.parametrize(("names", "group"), [("latest", "inference"), ("compat", "operation")])
def test_gaps_between_chunks_are_measured_where_that_is_asked_for(names: str, group: str) -> None:
    """One measurement for each chunk after the first."""
    name = f"{CLIENT}{group}.time_per_output_chunk"
    meters = measured(whole_run(), names=names, per_chunk=True, emitter={"time_chunks": True})
    assert meters.counts(name) == 2
    assert meters.points(name)[0][1] == pytest.approx(0.02)
    assert measured(whole_run(), names=names, emitter={"time_chunks": True}).counts(name) == 0


def test_units_and_boundaries_are_those_of_the_conventions(shared: Path) -> None:
    """As the SDK has them, for every metric of the table."""
    compiled = json.loads((shared / "reference" / "semconv" / "genai-current-compiled.json").read_text("utf-8"))
    workflow = Story("run-2", composition=("Sequence:f",), start_ms=START_MS + 10_000)
    workflow.tell("composition.enter", {"kind": "Sequence", "name": "f"}).tell("composition.exit", {"status": "ok"})
    story = whole_run()
    story.events.extend(workflow.events)
    meters = measured(story, names="both", per_chunk=True, emitter={"time_chunks": True})
    checked = 0
    for name, metric in meters.metrics().items():
        if name in compiled["metrics"]:
            wanted = compiled["metrics"][name]
            assert metric.unit == wanted["unit"], name
            points = metric.data.data_points
            bounds = [list(point.explicit_bounds) for point in points if hasattr(point, "explicit_bounds")]
            assert all(found == wanted["buckets"] for found in bounds), name
            assert bool(bounds) == ("buckets" in wanted), name
            checked += 1
    assert checked == 16


def test_every_row_of_the_table_is_a_metric_of_the_conventions(shared: Path) -> None:
    """Of the same kind, unit, boundaries and attributes; our own and the older ones apart."""
    compiled = json.loads((shared / "reference" / "semconv" / "genai-current-compiled.json").read_text("utf-8"))
    rows = [row for row in INSTRUMENTS if row.spelled != "compat" and row.name != semconv.COST_METRIC]
    assert len({row.name for row in rows}) == 16
    for row in rows:
        wanted = compiled["metrics"][row.name]
        assert (row.kind, row.unit) == (wanted["instrument"], wanted["unit"]), row.name
        assert list(row.buckets) == wanted.get("buckets", []), row.name
        names = {text.split()[0] for text in wanted["attributes"]} - {"provider.name"}
        assert set(row.attributes) | {name for name, _ in row.fixed} == names, row.name
        assert row.operations


def test_rows_of_one_metric_agree() -> None:
    """Rows that share a name share the instrument."""
    seen: dict[str, tuple[object, ...]] = {}
    for row in INSTRUMENTS:
        made = (row.kind, row.unit, row.description, row.buckets)
        assert seen.setdefault(row.name, made) == made


def test_several_buses_feed_one_meter() -> None:
    """Their instruments are the same ones, without a warning of the SDK."""
    meters = Meters()
    provider = TracerProvider(shutdown_on_exit=False)
    for run in ("one", "two"):
        bus = EventBus()
        emitter = Emitter(provider.get_tracer("t"), live=False, observers=(Metrics(meters.provider),))
        emitter.attach(bus)
        for event in asks(Story(run).turn()).answers().turn_over().parsed():
            bus.emit(event)
    assert meters.counts(AGENT) == 2
