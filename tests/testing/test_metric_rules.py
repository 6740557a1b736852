"""Each rule of metrics refuses what breaks it and nothing else; all of them are recorded with the real SDK."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry.sdk.metrics import Histogram, MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.metrics.view import ExponentialBucketHistogramAggregation, View

from atifold.testing import assert_conforms, faults, metric_checks
from atifold.testing.attributes import Wanted
from atifold.testing.metric_checks import Measured, Point
from atifold.testing.metric_rules import COMPAT, METRICS, OLD_METRICS, MetricType

INFERENCE = "gen_ai.client.inference.duration"
OTHERS = "gen_ai.client.operation.duration"
USAGE = "gen_ai.client.inference.usage.input_tokens"
TOOL = "gen_ai.execute_tool.duration"
STD = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "p"}


def measured(
    name: str, row: MetricType | None = None, views: tuple[View, ...] = (), **changes: Any
) -> InMemoryMetricReader:
    """Return a reader of one metric, recorded once as its row says but for the changes.

    `attributes` are added to the required ones, those of None taken away.
    """
    row = row or METRICS.get(name) or MetricType("counter", "1", frozenset(), None)
    reader = InMemoryMetricReader()
    meter = MeterProvider([reader], views=views, shutdown_on_exit=False).get_meter("test")
    usual = dict.fromkeys(row.required, "input")
    attributes = {k: v for k, v in {**usual, **changes.get("attributes", {})}.items() if v is not None}
    unit, bounds = changes.get("unit", row.unit), changes.get("bounds", row.bounds)
    match changes.get("instrument", row.instrument):
        case "counter":
            meter.create_counter(name, unit).add(1, attributes)
        case "updowncounter":
            meter.create_up_down_counter(name, unit).add(1, attributes)
        case "gauge":
            meter.create_gauge(name, unit).set(1, attributes)
        case _:
            meter.create_histogram(name, unit, explicit_bucket_boundaries_advisory=bounds).record(1, attributes)
    return reader


@pytest.mark.parametrize("name", METRICS)
def test_each_metric_is_accepted_as_it_stands_in_the_table(name: str) -> None:
    """With required attributes alone, and with one of one's own."""
    assert_conforms(metrics=measured(name))
    assert_conforms(metrics=measured(name, attributes={"my.region": "eu"}).get_metrics_data())


@pytest.mark.parametrize("name", METRICS)
def test_each_metric_is_refused_as_another_instrument_and_in_another_unit(name: str) -> None:
    """A counter that goes down, a gauge, milliseconds."""
    wanted = METRICS[name].instrument
    for instrument in ("updowncounter", "gauge"):
        (fault,) = faults(metrics=measured(name, instrument=instrument))
        assert fault == (name, "", f"a {instrument} was found, a {wanted} was wanted [{name}]")
    (fault,) = faults(metrics=measured(name, unit="ms"))
    assert fault == (name, "", f"the unit 'ms' was found, {METRICS[name].unit!r} was wanted [{name}]")


@pytest.mark.parametrize("name", [name for name, row in METRICS.items() if row.bounds])
def test_each_histogram_is_refused_with_other_buckets(name: str) -> None:
    """Those that the SDK takes of itself, say."""
    (fault,) = faults(metrics=measured(name, bounds=[5.0, 10.0]))
    assert fault.rule.startswith("the bucket bounds (5.0, 10.0) were found, [")


def test_exponential_buckets_are_accepted() -> None:
    """A view may ask for them; then there are no bounds to hold against."""
    view = View(instrument_type=Histogram, aggregation=ExponentialBucketHistogramAggregation())
    assert_conforms(metrics=measured(INFERENCE, views=(view,)))


@pytest.mark.parametrize("name", [name for name, row in METRICS.items() if row.required])
def test_each_required_attribute_is_missed(name: str) -> None:
    """On every point."""
    for attribute in METRICS[name].required:
        (fault,) = faults(metrics=measured(name, attributes={attribute: None}))
        assert fault == (name, attribute, f"nothing was found, it is required [{name}]")


WRONG: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "an address without a port": (
        INFERENCE,
        {"server.address": "h"},
        "server.port",
        "nothing was found, it is required where server.address is",
    ),
    "an attribute of another metric": (
        TOOL,
        {"gen_ai.provider.name": "p"},
        "gen_ai.provider.name",
        "not an attribute of this item",
    ),
    "an error on a counter of tokens": (USAGE, {"error.type": "X"}, "error.type", "not an attribute of this item"),
    "an invented name": (INFERENCE, {"gen_ai.mood": "good"}, "gen_ai.mood", "no name of the conventions"),
    "an older name": (
        INFERENCE,
        {"gen_ai.system": "p"},
        "gen_ai.system",
        "deprecated, gen_ai.provider.name was wanted",
    ),
    "another type": (INFERENCE, {"gen_ai.request.model": 7}, "gen_ai.request.model", "7 was found, string was wanted"),
    "a conversation": (
        INFERENCE,
        {"gen_ai.conversation.id": "c"},
        "gen_ai.conversation.id",
        "'c' was found, no attribute without bound was wanted",
    ),
    "a call": (
        TOOL,
        {"gen_ai.tool.call.id": "c"},
        "gen_ai.tool.call.id",
        "'c' was found, no attribute without bound was wanted",
    ),
    "a run of one's own": (
        TOOL,
        {"my.run.id": "r"},
        "my.run.id",
        "'r' was found, no attribute without bound was wanted",
    ),
    "content": (
        TOOL,
        {"gen_ai.tool.call.arguments": "{}"},
        "gen_ai.tool.call.arguments",
        "content was found, none may be on a metric",
    ),
    "an inference among the other operations": (
        OTHERS,
        {"gen_ai.operation.name": "chat"},
        "gen_ai.operation.name",
        "'chat' was found, gen_ai.client.inference.duration is its metric",
    ),
}


@pytest.mark.parametrize(("name", "attributes", "attribute", "rule"), WRONG.values(), ids=WRONG)
def test_a_rule_finds_what_breaks_it_and_only_that(
    name: str, attributes: dict[str, Any], attribute: str, rule: str
) -> None:
    """One fault, with its place."""
    (fault,) = faults(metrics=measured(name, attributes=attributes))
    assert fault == (name, attribute, f"{rule} [{name}]")


def test_a_structured_value_is_refused() -> None:
    """A point as an SDK could hand it over that takes such attributes."""
    metric = Measured("my.cost", "1", "counter", (Point({"my.odd": {"a": 1}}),))
    (fault,) = metric_checks.faults_of(metric, Wanted())
    assert fault[1:] == ("my.odd", "{'a': 1} was found, a scalar or a list of scalars was wanted [my.cost]")


def test_an_invented_metric_is_refused() -> None:
    """Under `gen_ai.`; elsewhere only its attributes count."""
    (fault,) = faults(metrics=measured("gen_ai.mood"))
    assert fault == ("gen_ai.mood", "", "no name of the conventions [metrics]")
    assert_conforms(metrics=measured("my.cost", attributes={**STD, "gen_ai.agent.name": "a", "my.kind": "x"}))
    (fault,) = faults(metrics=measured("my.cost", attributes={"gen_ai.response.id": "r"}))
    assert fault == ("my.cost", "gen_ai.response.id", "'r' was found, no attribute without bound was wanted [my.cost]")
    (fault,) = faults(metrics=measured("my.cost", attributes={"mine": "x"}), namespaces=("my.",))
    assert fault == ("my.cost", "mine", "in none of the namespaces my. [common]")


@pytest.mark.parametrize("name", OLD_METRICS)
def test_an_older_metric_is_refused_with_its_new_name(name: str) -> None:
    """One that nobody recorded is not accepted on demand either."""
    row = COMPAT.get(name, METRICS["gen_ai.invoke_workflow.duration"])
    (fault,) = faults(metrics=measured(name, row))
    assert fault == (name, "", f"deprecated, {OLD_METRICS[name]} was wanted [metrics]")
    assert (faults(metrics=measured(name, row), compat=True) == []) == (name in COMPAT)


def test_older_metrics_have_rules_too() -> None:
    """Of tokens it is said which; of an inference the older name is right."""
    name = "gen_ai.client.token.usage"
    (fault,) = faults(metrics=measured(name, COMPAT[name], attributes={"gen_ai.token.type": "both"}), compat=True)
    assert fault == (name, "gen_ai.token.type", f"'both' was found, input or output was wanted [{name}]")
    assert_conforms(metrics=measured(OTHERS, attributes=STD), compat=True)


def test_nothing_measured_is_nothing_wrong() -> None:
    """An empty reader, and None."""
    assert_conforms(metrics=InMemoryMetricReader())
    assert_conforms(metrics=None)
