"""Write spans: start them in the user's pipeline, and hand the whole record to the side doors.

A record keeps structure (`attributes`) and content (`content`) apart until it leaves: what the
tracing backend gets is structure, and content only where capture is on; a side door gets both.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import SpanContext, SpanKind, StatusCode

from atifold import semconv
from atifold.emit.attributes import put
from atifold.emit.lane import Lane, LightSpan
from atifold.spans import Kind, Link, SideDoor, Span, SpanEvent, Status

_KINDS = {SpanKind.CLIENT: Kind.CLIENT, SpanKind.INTERNAL: Kind.INTERNAL}

DROPPED_EVENTS: Final = "atifold.dropped_events"
_MOST_MOMENTS: Final = 128  # the SDK's own default

NextIds = Callable[[str, str], None]
"""Told before each start which trace (by run id) and which span (by a key inside it) comes next."""


@dataclass(slots=True, eq=False)
class Moment:
    """A span event in the making."""

    name: str
    time_ns: int
    attributes: dict[str, Any]
    content: dict[str, Any]


class Facts(NamedTuple):
    """An event's fields as attributes: what may leave without leave, and what may not."""

    structure: dict[str, Any]
    content: dict[str, Any]


class Record:
    """One span from its start until it is sealed.

    `attributes` are structure, `content` is what leaves only where capture is on, `door` what only a
    side door gets, over `content`: of a history the new part. Sequences are tuples. `incomplete`
    says why the span is not whole.
    """

    __slots__ = (
        "_context", "at", "attributes", "content", "door", "end_ns", "error_text", "error_type",
        "incomplete", "kind", "links", "moments", "name", "parent_id", "span", "start_ns",
    )  # fmt: skip

    def __init__(
        self,
        span: trace.Span,
        parent_id: int | None,
        name: str,
        kind: SpanKind,
        start_ns: int,
        attributes: dict[str, Any],
        links: Sequence[trace.Link],
    ) -> None:
        """Take a started span, the id of its parent, and what it was started with."""
        self.span = span
        self.at = span.get_span_context()
        self.parent_id = parent_id
        self.name = name
        self.kind = kind
        self.start_ns = start_ns
        self.attributes = attributes
        self.content: dict[str, Any] = {}
        self.door: dict[str, Any] = {}
        self.moments: list[Moment] = []
        self.links = links
        self.end_ns: int | None = None
        self.error_type: str | None = None
        self.error_text: str | None = None
        self.incomplete: tuple[str, ...] = ()
        self._context: Context | None = None

    @property
    def context(self) -> Context:
        """Return the context in which this span is the current one."""
        if self._context is None:
            self._context = trace.set_span_in_context(self.span, Context())
        return self._context

    def note(self, moment: Moment) -> None:
        """Add a span event; beyond what any backend shows they are only counted."""
        if len(self.moments) < _MOST_MOMENTS:
            self.moments.append(moment)
        else:
            self.attributes[DROPPED_EVENTS] = self.attributes.get(DROPPED_EVENTS, 0) + 1

    def take(self, facts: Facts) -> None:
        """Put an event's fields on the span."""
        self.attributes.update(facts.structure)
        self.content.update(facts.content)

    def fail(self, error_type: str, text: str | None) -> None:
        """Mark the span as failed; the first reason stays."""
        if self.error_type is None:
            self.error_type = error_type
            self.error_text = text

    def unfinished(self, reason: str) -> None:
        """Say why this span is not complete."""
        if reason not in self.incomplete:
            self.incomplete = (*self.incomplete, reason)


class SpanWriter:
    """Start and end spans through a tracer, and tell the side doors."""

    def __init__(
        self, tracer: trace.Tracer, doors: Callable[[], Sequence[SideDoor]], *, capture: bool, ids: NextIds | None
    ) -> None:
        """Take the tracer, who gets whole records, and whether content goes to the tracing backend.

        `ids` is told before each start what the span is, so that a replay can derive its ids.
        """
        self._tracer = tracer
        self._doors = doors
        self.capture = capture
        self._ids = ids
        self._lane = Lane(tracer, doors)
        self._resource = dict(getattr(getattr(tracer, "resource", None), "attributes", None) or {})

    @property
    def wants_content(self) -> bool:
        """Tell whether content goes anywhere at all."""
        return self.capture or bool(self._doors())

    def start(
        self,
        name: str,
        kind: SpanKind,
        start_ns: int,
        attributes: dict[str, Any],
        parent: Record | Context,
        identity: tuple[str, tuple[object, ...]],
        links: Sequence[trace.Link] = (),
    ) -> Record:
        """Start a span with the attributes that a sampler may look at, if this one looks at any.

        `identity` is the run's id and what tells this span from the others of the run.
        """
        if self._ids is not None:
            self._ids(identity[0], "/".join(map(str, identity[1])))
        above = parent.at if isinstance(parent, Record) else trace.get_current_span(parent).get_span_context()
        span: trace.Span | None = None
        if self._lane.is_open():
            span = self._lane.start(name, kind, start_ns, above, links)
        if span is None:
            context = parent.context if isinstance(parent, Record) else parent
            span = self._tracer.start_span(name, context, kind, attributes, links, start_ns)
            at = span.get_span_context()
            if not at.is_valid or at.span_id == above.span_id:  # the API's own tracer hands the parent on
                span = _without_sdk(above)
        return Record(span, above.span_id if above.is_valid else None, name, kind, start_ns, attributes, links)

    def tell(self, record: Record, *, remote_parent: bool) -> None:
        """Tell the side doors that a span was started which others are sealed before.

        What runs inside an agent or composition is sealed before it, so one word for all is enough.
        """
        at = record.at
        for door in self._doors():
            door.opened(
                f"{at.trace_id:032x}",
                f"{at.span_id:016x}",
                parent_span_id=_hex(record.parent_id),
                remote_parent=remote_parent,
                sampled=at.trace_flags.sampled,
            )

    def finish(self, record: Record) -> None:
        """Hand the whole record to the side doors, then end the span."""
        end_ns = record.start_ns if record.end_ns is None else record.end_ns
        if record.incomplete:
            record.attributes[semconv.INCOMPLETE] = record.incomplete
        if record.error_type is not None:
            record.attributes[semconv.ERROR_TYPE] = record.error_type
        doors = self._doors()
        if doors:
            whole = partial(self._span, record, end_ns)
            for door in doors:
                door.closed(whole, sampled=record.at.trace_flags.sampled)
        if record.span.is_recording():
            self._end(record, end_ns)

    def _end(self, record: Record, end_ns: int) -> None:
        span = record.span
        attributes = {**record.attributes, **record.content} if self.capture else record.attributes
        if isinstance(span, LightSpan):
            if not record.moments and record.error_type is None and span.finish(attributes, end_ns):
                return
            span = span.real()
        put(span, attributes)
        for moment in record.moments:
            facts = {**moment.attributes, **moment.content} if self.capture else moment.attributes
            span.add_event(moment.name, facts, moment.time_ns)
        if record.error_type is not None:
            span.set_status(StatusCode.ERROR, record.error_text if self.capture else None)
        span.end(end_ns)

    def _span(self, record: Record, end_ns: int) -> Span:
        failed = record.error_type is not None
        return Span(
            trace_id=f"{record.at.trace_id:032x}",
            span_id=f"{record.at.span_id:016x}",
            parent_id=_hex(record.parent_id),
            name=record.name,
            start_ns=record.start_ns,
            end_ns=end_ns,
            kind=_KINDS[record.kind],
            attributes={**record.attributes, **record.content, **record.door},
            events=tuple(SpanEvent(m.name, m.time_ns, {**m.attributes, **m.content}) for m in record.moments),
            links=tuple(_link(link) for link in record.links),
            status=Status.ERROR if failed else Status.UNSET,
            status_message=record.error_text or "",
            resource=self._resource,
            scope_name=semconv.SCOPE,
        )


def _hex(span_id: int | None) -> str | None:
    return None if span_id is None else f"{span_id:016x}"


def _without_sdk(above: SpanContext) -> trace.Span:
    """Return a span that only carries ids, for a program that set up no SDK: side doors go by id."""
    trace_id = above.trace_id if above.is_valid else secrets.randbits(128) | 1
    return trace.NonRecordingSpan(SpanContext(trace_id, secrets.randbits(64) | 1, is_remote=False))


def _link(link: trace.Link) -> Link:
    at = link.context
    return Link(f"{at.trace_id:032x}", f"{at.span_id:016x}", dict(link.attributes or {}))
