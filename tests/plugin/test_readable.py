"""What is taken out of the SDK's span."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode

from atifold.readable import span_of
from atifold.spans import Kind
from atifold.spans import Link as OurLink
from atifold.spans import Status as OurStatus

Make = Callable[..., TracerProvider]


def _finished(provider: TracerProvider) -> Callable[[], tuple[ReadableSpan, ...]]:
    exporter = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return exporter.get_finished_spans


def test_every_field_is_taken(provider_of: Make) -> None:
    """Ids as hex, arrays as lists, maps as dicts, links and events with their attributes."""
    provider = provider_of(resource=Resource({"service.name": "s", "list": ["a"]}))
    finished = _finished(provider)
    parent = SpanContext(0xA, 0xB, is_remote=True, trace_flags=trace.TraceFlags(1))
    span = provider.get_tracer("scope", "1.2").start_span(
        "chat",
        context=trace.set_span_in_context(trace.NonRecordingSpan(parent)),
        kind=SpanKind.CLIENT,
        attributes={"a": ("x", "y"), "b": b"z", "n": None, "m": {"k": [1, {"d": (True,)}]}, "f": 1.5},
        links=[Link(SpanContext(0xC, 0xD, is_remote=False), {"l": ("v",)})],
        start_time=100,
    )
    span.add_event("e", {"t": ("u",)}, timestamp=150)
    span.set_status(Status(StatusCode.ERROR, "why"))
    span.end(end_time=50)
    taken = span_of(finished()[0])
    assert taken.trace_id == "0" * 31 + "a"
    assert len(taken.span_id) == 16
    assert taken.parent_id == "0" * 15 + "b"
    assert (taken.name, taken.start_ns, taken.end_ns, taken.kind) == ("chat", 100, 50, Kind.CLIENT)
    assert taken.attributes == {"a": ["x", "y"], "b": b"z", "n": None, "m": {"k": [1, {"d": [True]}]}, "f": 1.5}
    assert [(event.name, event.time_ns, event.attributes) for event in taken.events] == [("e", 150, {"t": ["u"]})]
    assert taken.links == (OurLink("0" * 31 + "c", "0" * 15 + "d", {"l": ["v"]}),)
    assert (taken.status, taken.status_message) == (OurStatus.ERROR, "why")
    assert taken.resource == {"service.name": "s", "list": ["a"]}
    assert (taken.scope_name, taken.scope_version) == ("scope", "1.2")


@pytest.mark.parametrize("kind", list(SpanKind))
def test_every_kind_has_its_name(kind: SpanKind, provider_of: Make) -> None:
    """The SDK's five."""
    provider = provider_of()
    finished = _finished(provider)
    provider.get_tracer("t").start_span("s", kind=kind).end()
    assert span_of(finished()[0]).kind.name == kind.name


def test_spans_of_a_provider_share_one_resource(provider_of: Make) -> None:
    """It is held once, and another provider's is another."""
    taken = []
    for name in ("one", "two"):
        provider = provider_of(resource=Resource({"service.name": name}))
        finished = _finished(provider)
        for _ in range(2):
            provider.get_tracer("t").start_span("s").end()
        taken.append([span_of(span).resource for span in finished()])
    (one, other), (second, _) = taken
    assert one is other
    assert (one, second) == ({"service.name": "one"}, {"service.name": "two"})


def test_the_public_attributes_are_read_where_the_private_dict_is_not_there() -> None:
    """A span that somebody made by hand, or of another SDK version."""

    class Other(ReadableSpan):
        @property
        def attributes(self) -> Any:
            return MappingProxyType({"k": ("v",)})

    context = SpanContext(1, 2, is_remote=False)
    taken = span_of(Other("s", context=context, start_time=1, end_time=2, resource=Resource({})))
    assert taken.attributes == {"k": ["v"]}
    assert (taken.parent_id, taken.scope_name, taken.status) == (None, "", OurStatus.UNSET)


def test_a_span_without_a_context_is_refused() -> None:
    """There is nothing to know it by."""
    with pytest.raises(ValueError, match="without a context"):
        span_of(ReadableSpan("s", resource=Resource({})))


def test_names_are_texts(provider_of: Make) -> None:
    """The SDK takes any object for the name of a span or an event; the dialects look at texts."""
    provider = provider_of()
    finished = _finished(provider)
    name: Any = 7
    with provider.get_tracer("scope").start_as_current_span(name) as span:
        span.add_event(name)
    taken = span_of(finished()[0])
    assert (taken.name, taken.events[0].name) == ("7", "7")
