"""Record metrics of sealed spans."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, NamedTuple

from opentelemetry.metrics import Meter, MeterProvider, NoOpMeter, get_meter_provider
from opentelemetry.trace import SpanContext

from atifold import semconv
from atifold.emit.cardinality import OTHER, FewValues
from atifold.emit.instruments import Instrument, rows
from atifold.emit.readings import Reading
from atifold.emit.record import Moment, Record
from atifold.emit.scope import SCOPE
from atifold.emit.tally import Calls, Offers

_MOST_OFFERED: Final = 1_000  # names of tools that a program offered


class _Feed(NamedTuple):
    """A row of the table with the way to its instrument."""

    reads: Reading
    attributes: tuple[str, ...]
    fixed: dict[str, str]
    record: Callable[..., None]


_Feeds = Mapping[str, tuple[_Feed, ...]]


class Metrics:
    """Observe an emitter and record what its spans measured (an `Observer`).

    `provider` None is the global one, also one that is set later; until then, and where metrics are
    disabled, nothing is recorded. Each measurement has its span as context, so exemplars name it.
    The attributes of a metric have few values: a tool that the run never offered is `_OTHER`, as a
    model can write any name, and so is what comes after the first hundred values of an attribute
    (a thousand, of offered tools).

    Raises TypeError for a provider that is none.
    """

    def __init__(
        self,
        provider: MeterProvider | None = None,
        *,
        names: Literal["latest", "compat", "both"] = "latest",
        per_chunk: bool = False,
    ) -> None:
        """Take who makes meters, whose names metrics have, and whether each chunk is measured."""
        if provider is not None and not isinstance(provider, MeterProvider):
            raise TypeError(f"a MeterProvider is wanted, {type(provider).__name__} was found")
        self._given: MeterProvider = get_meter_provider() if provider is None else provider
        self._rows = rows(names, per_chunk=per_chunk)
        self._feeds: _Feeds | None = None
        self._lock = threading.Lock()
        self._few = FewValues()
        self._offered = FewValues(_MOST_OFFERED)

    def sealed(self, record: Record) -> None:
        """Record what an ended span measured."""
        feeds = self._feeds
        if feeds is None:
            feeds = self._connected()
            if feeds is None:
                return
        made: dict[tuple[str, ...], dict[str, Any]] = {}
        for feed in feeds.get(record.attributes.get(semconv.OPERATION, ""), ()):
            values = feed.reads(record)
            if not values:
                continue
            attributes = made.get(feed.attributes)
            if attributes is None:
                attributes = made[feed.attributes] = self._attributes(record, feed.attributes)
            if feed.fixed:
                attributes = {**attributes, **feed.fixed}
            for value in values:
                feed.record(value, attributes, record.context)

    def said(self, moment: Moment, at: SpanContext | None) -> None:
        """Do nothing: no metric is made of a fact that stands on no span."""

    def _connected(self) -> _Feeds | None:
        """Return the instruments once there is a provider; the global stand-in knows when one was set."""
        provider: MeterProvider | None = getattr(self._given, "_real_meter_provider", self._given)
        if provider is None:
            return None
        with self._lock:
            if self._feeds is None:
                self._feeds = _feeds(provider.get_meter(*SCOPE), self._rows)
        return self._feeds

    def _attributes(self, record: Record, names: tuple[str, ...]) -> dict[str, Any]:
        attributes = {}
        for name in names:
            value = record.attributes.get(name)
            if value is None and name == semconv.REQUEST_MODEL and isinstance(record.tally, Calls):
                value = record.tally.model
            if isinstance(value, str):
                value = self._tool(record, value) if name == semconv.TOOL_NAME else self._few.shown(name, value)
            if value is not None:
                attributes[name] = value
        return attributes

    def _tool(self, record: Record, name: str) -> str:
        offered = record.tally.has(name) if isinstance(record.tally, Offers) else None
        if offered is None:
            return self._few.shown(semconv.TOOL_NAME, name)
        return self._offered.shown(semconv.TOOL_NAME, name) if offered else OTHER


def _feeds(meter: Meter, table: tuple[Instrument, ...]) -> _Feeds:
    """Return the rows of a table by operation, each with its instrument; none of a meter that does nothing."""
    feeds: dict[str, list[_Feed]] = {}
    if isinstance(meter, NoOpMeter):
        return {}
    made: dict[str, Callable[..., None]] = {}
    for row in table:
        if row.name not in made:
            made[row.name] = _recorder(meter, row)
        feed = _Feed(row.reads, row.attributes, dict(row.fixed), made[row.name])
        for operation in row.operations:
            feeds.setdefault(operation, []).append(feed)
    return {operation: tuple(found) for operation, found in feeds.items()}


def _recorder(meter: Meter, row: Instrument) -> Callable[..., None]:
    if row.kind == "counter":
        return meter.create_counter(row.name, row.unit, row.description).add
    return meter.create_histogram(
        row.name, row.unit, row.description, explicit_bucket_boundaries_advisory=row.buckets
    ).record
