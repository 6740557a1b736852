"""Write spans: start them in the user's pipeline, and hand the whole record to the side doors.

A record keeps structure (`attributes`) and content (`content`) apart until it leaves: what the
tracing backend gets is structure, and content only where capture is on; a side door gets both.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import SpanContext, SpanKind, StatusCode

from atifold import semconv
from atifold.emit.attributes import put
from atifold.emit.lane import Lane, LightSpan
from atifold.emit.log import Log
from atifold.emit.oversize import Fitting
from atifold.emit.record import MOST_MOMENTS, Moment, Record
from atifold.emit.spellings import Spelling
from atifold.spans import Kind, Link, SideDoor, Span, SpanEvent, Status

_KINDS = {SpanKind.CLIENT: Kind.CLIENT, SpanKind.INTERNAL: Kind.INTERNAL}

_EXCEPTION: Final = "exception"
DROPPED_EVENTS: Final = "atifold.dropped_events"
_NONE: Final[dict[str, Any]] = {}

NextIds = Callable[[str, str], None]
"""Told before each start which trace (by run id) and which span (by a key inside it) comes next."""


class SpanWriter:
    """Start and end spans through a tracer, and tell the side doors."""

    def __init__(
        self,
        tracer: trace.Tracer,
        doors: Callable[[], Sequence[SideDoor]],
        *,
        capture: bool,
        ids: NextIds | None,
        log: Log,
        max_value: int = 0,
        redacted: bool = False,
        spelling: Spelling | None = None,
    ) -> None:
        """Take the tracer, who gets whole records, and whether content goes on spans.

        `ids` is told before each start what the span is, so that a replay can derive its ids.
        `max_value` is the length of the longest content value that goes there, 0 for any. `redacted`
        tells the side doors that a redaction saw all of it before. `spelling` names attributes for the
        tracing backend otherwise than they are named here.
        """
        self._tracer = tracer
        self._doors = doors
        self.capture = capture
        self._ids = ids
        self._log = log
        self._max_value = max_value
        self.redacted = redacted
        self._spelling = spelling
        self._lane = Lane(tracer, doors)
        self._resource = dict(getattr(getattr(tracer, "resource", None), "attributes", None) or {})

    @property
    def wants_content(self) -> bool:
        """Tell whether content goes anywhere at all."""
        return self.capture or bool(self._doors()) or self._logs_content()

    @property
    def wants_whole(self) -> bool:
        """Tell whether anybody gets whole histories: all but side doors, which put them together again."""
        return self.capture or self._logs_content()

    def _logs_content(self) -> bool:
        return self._log.content and self._log.ready()

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
            first = attributes if self._spelling is None else self._spelling(attributes)
            span = self._tracer.start_span(name, context, kind, first, links, start_ns)
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
        if len(record.moments) > MOST_MOMENTS:
            self._count_dropped(record)
        doors = self._doors()
        if doors:
            whole = partial(self._span, record, end_ns)
            if self.redacted:
                vars(whole)["redacted"] = True  # see `atifold.spans.SideDoor`
            for door in doors:
                door.closed(whole, sampled=record.at.trace_flags.sampled)
        if record.span.is_recording():
            self._end(record, end_ns)

    def _end(self, record: Record, end_ns: int) -> None:
        span = record.span
        moments = self._shown(record.moments) if record.moments else record.moments
        if isinstance(span, LightSpan):
            if not moments and record.error_type is None and self._end_light(span, record, end_ns):
                return
            span = span.real()
        fitting = Fitting(span, self._max_value)
        attributes = fitting.attributes(record.attributes, record.content if self.capture else _NONE)
        for moment in moments:
            facts = fitting.of_event(moment.attributes, moment.content if self.capture else _NONE)
            span.add_event(moment.name, facts, moment.time_ns)
        if record.error_type is not None:
            text = fitting.text(semconv.STATUS, record.error_text) if self.capture else None
            span.set_status(StatusCode.ERROR, text)
            if self._spelling is not None and self._spelling.tells_exceptions and len(moments) < MOST_MOMENTS:
                span.add_event(_EXCEPTION, _exception(record.error_type, text), end_ns)
        put(span, self._spelled(fitting.with_omitted(attributes)))
        span.end(end_ns)

    def _end_light(self, span: LightSpan, record: Record, end_ns: int) -> bool:
        """End a span that is nothing but attributes; most are, and few users set a limit."""
        content = record.content if self.capture else _NONE
        if self._max_value == 0:
            attributes = {**record.attributes, **content} if content else record.attributes
        else:
            fitting = Fitting(span, self._max_value)
            attributes = fitting.with_omitted(fitting.attributes(record.attributes, content))
        return span.finish(self._spelled(attributes), end_ns)

    def _spelled(self, attributes: dict[str, Any]) -> dict[str, Any]:
        return attributes if self._spelling is None else self._spelling(attributes)

    def _shown(self, moments: list[Moment]) -> list[Moment]:
        """Return what becomes span events: as many as a span takes, and none that the log has in their place."""
        return [] if self._log.instead and self._log.ready() else moments[:MOST_MOMENTS]

    def _count_dropped(self, record: Record) -> None:
        """Say how many moments neither the span nor the log has."""
        dropped = record.lost + (0 if self._log.ready() else len(record.moments) - MOST_MOMENTS)
        if dropped:
            record.attributes[DROPPED_EVENTS] = dropped

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


def _exception(kind: str, text: str | None) -> dict[str, str]:
    told = {semconv.EXCEPTION_TYPE: kind}
    return {**told, semconv.EXCEPTION_MESSAGE: text} if text else told


def _hex(span_id: int | None) -> str | None:
    return None if span_id is None else f"{span_id:016x}"


def _without_sdk(above: SpanContext) -> trace.Span:
    """Return a span that only carries ids, for a program that set up no SDK: side doors go by id."""
    trace_id = above.trace_id if above.is_valid else secrets.randbits(128) | 1
    return trace.NonRecordingSpan(SpanContext(trace_id, secrets.randbits(64) | 1, is_remote=False))


def _link(link: trace.Link) -> Link:
    at = link.context
    return Link(f"{at.trace_id:032x}", f"{at.span_id:016x}", dict(link.attributes or {}))
