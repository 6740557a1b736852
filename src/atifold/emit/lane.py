"""Make a span of the SDK only where somebody needs one: the fast lane of emission.

What a span costs in the SDK is its bookkeeping from start to end: a lock, bounded collections, a
sampler that decides the same every time. Nearly always nobody but the emitter touches a span before
its end, so a `LightSpan` holds its context alone and becomes one finished `ReadableSpan`, handed to
the provider's processors as the SDK hands over its own. As soon as anybody else sets something on it
(a user's code on the current span, an exception that is recorded) it turns into the SDK's own span.

The lane is taken only where nothing could tell the difference: the SDK's own tracer, sampled by
default, no limit on lengths, no internal metrics, and processors that do nothing at a span's start.
Anything else is the SDK's own way, span by span. A processor's class tells that it does nothing
there by an attribute of its own, `quiet_at_start = True`; a class derived from it has to say so again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk import trace as sdk
from opentelemetry.sdk.trace import sampling
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

_QUIET = (BatchSpanProcessor, SimpleSpanProcessor)
"""Processors of the SDK whose `on_start` does nothing."""

_ALWAYS = (sampling.ALWAYS_ON, sampling.DEFAULT_ON)


class Lane:
    """Start light spans on one tracer, as long as nothing could tell them from the SDK's own."""

    def __init__(self, tracer: trace.Tracer, doors: Callable[[], Sequence[object]]) -> None:
        """Take the tracer, and the side doors: a processor that is one hears of starts there.

        Whether the tracer qualifies is looked at anew whenever its processors change.
        """
        self.tracer: Any = tracer
        self._doors = doors
        self._seen: object = None
        self._open = False
        self._listeners: tuple[sdk.SpanProcessor, ...] = ()

    def is_open(self) -> bool:
        """Tell whether the next span may be a light one."""
        try:
            processors: Any = self.tracer.span_processor._span_processors  # noqa: SLF001  no public way tells these
        except AttributeError:
            return False
        if processors is not self._seen:
            self._seen = processors
            doors = self._doors()
            self._open = _qualifies(self.tracer, processors, doors)
            known: tuple[sdk.SpanProcessor, ...] = processors if self._open else ()
            self._listeners = tuple(processor for processor in known if _is_quiet(processor))
        return self._open

    def listeners(self) -> tuple[sdk.SpanProcessor, ...]:
        """Return who hears of a light span's end: not the side doors, which have the whole record already.

        All processors, where the lane was closed since the span's start.
        """
        return self._listeners if self.is_open() else (self.tracer.span_processor,)

    def start(
        self, name: str, kind: SpanKind, start_ns: int, parent: SpanContext, links: Sequence[trace.Link]
    ) -> LightSpan | None:
        """Return a light span; None where its parent is not sampled, which the sampler must see."""
        ids = self.tracer.id_generator
        trace_id, _, is_remote, flags, state, is_valid = parent  # its properties cost more than all of it at once
        if is_valid:
            if is_remote or not flags & TraceFlags.SAMPLED:
                return None
            context = SpanContext(trace_id, ids.generate_span_id(), False, flags, state)
            return LightSpan(self, name, kind, start_ns, context, parent, links)
        flags = _RANDOM if ids.is_trace_id_random() else _SAMPLED
        context = SpanContext(ids.generate_trace_id(), ids.generate_span_id(), False, flags)
        return LightSpan(self, name, kind, start_ns, context, None, links)


_TOUCHING = threading.Lock()  # held for a moment by whoever ends a light span or makes it a real one
_SAMPLED = TraceFlags(TraceFlags.SAMPLED)
_RANDOM = TraceFlags(TraceFlags.SAMPLED | getattr(TraceFlags, "RANDOM_TRACE_ID", 0))


def _is_quiet(processor: object) -> bool:
    """Tell whether a processor does nothing at a span's start; a derived class may do something."""
    kind = type(processor)
    return kind in _QUIET or vars(kind).get("quiet_at_start") is True


def _qualifies(tracer: Any, processors: object, doors: Sequence[object]) -> bool:
    """Tell whether a tracer's spans may be light; whatever is not as known says no."""
    try:
        limits = tracer._span_limits  # noqa: SLF001  no public way tells these
        return (
            type(tracer) is sdk.Tracer
            and any(tracer.sampler is known for known in _ALWAYS)
            and limits.max_span_attribute_length is None
            and tracer._is_enabled()  # noqa: SLF001
            and type(tracer._tracer_metrics).__name__ == "NoOpTracerMetrics"  # noqa: SLF001
            and isinstance(processors, tuple)
            and all(_is_quiet(p) or any(p is door for door in doors) for p in processors)
            and _own_span(tracer, "", trace.INVALID_SPAN_CONTEXT, None, SpanKind.INTERNAL, ()) is not None
        )
    except (AttributeError, TypeError):
        return False


class LightSpan(trace.Span):
    """A span that has only its context until somebody sets something on it."""

    __slots__ = ("_context", "_ended", "_kind", "_lane", "_links", "_name", "_parent", "_real", "_start_ns", "_tracer")

    def __init__(
        self,
        lane: Lane,
        name: str,
        kind: SpanKind,
        start_ns: int,
        context: SpanContext,
        parent: SpanContext | None,
        links: Sequence[trace.Link],
    ) -> None:
        """Take what identifies the span; nothing else is known of it yet."""
        self._lane = lane
        self._tracer = lane.tracer
        self._name = name
        self._kind = kind
        self._start_ns = start_ns
        self._context = context
        self._parent = parent
        self._links = links
        self._real: trace.Span | None = None
        self._ended = False

    # ---- what the emitter does -------------------------------------------------------------------

    def finish(self, attributes: dict[str, Any], end_ns: int) -> bool:
        """End the span with its attributes; False where the SDK's own span must do it (`real`)."""
        tracer = self._tracer
        most = tracer._span_limits.max_span_attributes  # noqa: SLF001
        if most is not None and len(attributes) > most:
            return False
        with _TOUCHING:
            if self._real is not None:
                return False
            self._ended = True
        span = sdk.ReadableSpan(
            name=self._name,
            context=self._context,
            parent=self._parent,
            resource=tracer.resource,
            attributes=attributes,
            links=self._links,
            kind=self._kind,
            instrumentation_info=tracer.instrumentation_info,
            start_time=self._start_ns,
            end_time=end_ns,
            instrumentation_scope=tracer._instrumentation_scope,  # noqa: SLF001
        )
        for processor in self._lane.listeners():
            processor.on_end(span)
        return True

    def real(self) -> trace.Span:
        """Return the SDK's own span, made now where it was not before."""
        with _TOUCHING:
            span = self._real
            if span is None:
                made = _own_span(self._tracer, self._name, self._context, self._parent, self._kind, self._links)
                made.start(start_time=self._start_ns, parent_context=Context())
                self._real = span = made
        return span

    # ---- what anybody may do with the current span -----------------------------------------------

    def get_span_context(self) -> SpanContext:
        """Return the ids."""
        return self._context

    def is_recording(self) -> bool:
        """Tell whether the span has not ended."""
        return not self._ended if self._real is None else self._real.is_recording()

    def set_attributes(self, attributes: Mapping[str, Any]) -> None:
        """Set attributes, on the SDK's own span."""
        self._touch().set_attributes(attributes)

    def set_attribute(self, key: str, value: Any) -> None:
        """Set one attribute, on the SDK's own span."""
        self._touch().set_attribute(key, value)

    def add_event(self, name: str, attributes: Any = None, timestamp: int | None = None) -> None:
        """Add an event, on the SDK's own span."""
        self._touch().add_event(name, attributes, timestamp)

    def add_link(self, context: SpanContext, attributes: Any = None) -> None:
        """Add a link, on the SDK's own span."""
        self._touch().add_link(context, attributes)

    def update_name(self, name: str) -> None:
        """Rename the SDK's own span."""
        self._touch().update_name(name)

    def set_status(self, status: Status | StatusCode, description: str | None = None) -> None:
        """Set the status of the SDK's own span."""
        self._touch().set_status(status, description)

    def record_exception(
        self,
        exception: BaseException,
        attributes: Any = None,
        timestamp: int | None = None,
        escaped: bool = False,  # noqa: FBT001, FBT002  the API's own form
    ) -> None:
        """Record an exception, on the SDK's own span."""
        self._touch().record_exception(exception, attributes, timestamp, escaped)

    def end(self, end_time: int | None = None) -> None:
        """End the SDK's own span: whoever ends a span of ours early gets what a span would do."""
        self._touch().end(end_time)

    def __getattr__(self, name: str) -> Any:
        """Return whatever else the SDK's own span has (`name`, `attributes`, `parent`, …)."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.real(), name)

    def _touch(self) -> trace.Span:
        return trace.INVALID_SPAN if self._ended else self.real()


def _own_span(
    tracer: Any,
    name: str,
    context: SpanContext,
    parent: SpanContext | None,
    kind: SpanKind,
    links: Sequence[trace.Link],
) -> sdk.Span:
    """Make the SDK's span of given ids; a tracer would give it other ones."""
    return sdk._Span(  # noqa: SLF001
        name=name,
        context=context,
        parent=parent,
        sampler=tracer.sampler,
        resource=tracer.resource,
        span_processor=tracer.span_processor,
        kind=kind,
        links=links,
        limits=tracer._span_limits,  # noqa: SLF001
        instrumentation_info=tracer.instrumentation_info,
        instrumentation_scope=tracer._instrumentation_scope,  # noqa: SLF001
    )
