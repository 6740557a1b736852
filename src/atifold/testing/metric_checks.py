"""Apply the rules to one metric."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal, NamedTuple

from atifold.semconv import OPERATION
from atifold.testing.attributes import Wanted, of_attribute
from atifold.testing.conventions import INVENTED_UNDER, TEXTS, row_name
from atifold.testing.fault import Fault
from atifold.testing.metric_rules import (
    COMPAT,
    METRICS,
    OLD_METRICS,
    OTHER_OPERATIONS,
    TOKEN_TYPE,
    UNBOUNDED,
    UNBOUNDED_ENDS,
    MetricType,
)
from atifold.testing.span_rules import SPAN_TYPES
from atifold.testing.values import is_flat, shown

_INFERENCES: Final = SPAN_TYPES["gen_ai.client.inference"].operations


class Point(NamedTuple):
    """One point's attributes and, of a histogram with explicit buckets, its bounds; else None."""

    attributes: dict[str, Any]
    bounds: tuple[float, ...] | None = None


class Measured(NamedTuple):
    """A metric as it was collected. A counter that also goes down is an `updowncounter`."""

    name: str
    unit: str
    instrument: Literal["counter", "updowncounter", "gauge", "histogram"]
    points: tuple[Point, ...]


def faults_of(metric: Measured, wanted: Wanted) -> list[Fault]:
    """Return what is wrong with a metric; of one in a foreign namespace only its attributes count."""
    row = METRICS.get(metric.name) or (COMPAT.get(metric.name) if wanted.compat else None)
    if row is not None:
        pairs = [*_of_instrument(metric, row), *_of_points(metric, row, wanted)]
    elif metric.name in OLD_METRICS:
        pairs = [("", f"deprecated, {OLD_METRICS[metric.name]} was wanted [metrics]")]
    elif metric.name.startswith(INVENTED_UNDER):
        pairs = [("", "no name of the conventions [metrics]")]
    else:
        pairs = list(_of_points(metric, None, wanted))
    return [Fault(metric.name, *pair) for pair in dict.fromkeys(pairs)]


def _of_instrument(metric: Measured, row: MetricType) -> Iterator[tuple[str, str]]:
    where = f"[{metric.name}]"
    if metric.instrument != row.instrument:
        yield "", f"a {metric.instrument} was found, a {row.instrument} was wanted {where}"
    if metric.unit != row.unit:
        yield "", f"the unit {shown(metric.unit)} was found, {shown(row.unit)} was wanted {where}"
    for point in metric.points:
        if row.bounds and point.bounds is not None and point.bounds != row.bounds:
            yield "", f"the bucket bounds {shown(point.bounds)} were found, {list(row.bounds)} were wanted {where}"


def _of_points(metric: Measured, row: MetricType | None, wanted: Wanted) -> Iterator[tuple[str, str]]:
    for point in metric.points:
        if row is not None:
            yield from _of_required(metric.name, row, point, wanted)
        for name, value in point.attributes.items():
            for rule in _of_attribute(metric.name, row, name, value, wanted):
                yield name, rule


def _of_required(metric: str, row: MetricType, point: Point, wanted: Wanted) -> Iterator[tuple[str, str]]:
    for name in sorted(row.required):
        if not point.attributes.get(name):
            yield name, f"nothing was found, it is required [{metric}]"
    if "server.address" in point.attributes and "server.port" not in point.attributes:
        yield "server.port", f"nothing was found, it is required where server.address is [{metric}]"
    operation = point.attributes.get(OPERATION)
    if metric == OTHER_OPERATIONS and operation in _INFERENCES and not wanted.compat:
        yield OPERATION, f"{shown(operation)} was found, gen_ai.client.inference.duration is its metric [{metric}]"


def _of_attribute(metric: str, row: MetricType | None, name: str, value: Any, wanted: Wanted) -> Iterator[str]:
    own = row is None
    if name in UNBOUNDED or (not name.startswith(INVENTED_UNDER) and name.endswith(UNBOUNDED_ENDS)):
        yield f"{shown(value)} was found, no attribute without bound was wanted [{metric}]"
    elif row_name(name) in TEXTS:
        yield f"content was found, none may be on a metric [{metric}]"
    elif name == TOKEN_TYPE and wanted.compat:
        if value not in ("input", "output"):
            yield f"{shown(value)} was found, input or output was wanted [{metric}]"
    else:
        allowed = None if own or row is None else row.allowed
        yield from of_attribute(name, value, wanted, allowed, metric, as_json=True)
        if not is_flat(value):
            yield f"{shown(value)} was found, a scalar or a list of scalars was wanted [{metric}]"
