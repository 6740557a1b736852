"""Emit log events: those of the conventions, and the catalogue's where they stand on no span (semconv §4).

A log event has a name, the time of what it tells, the context of the span it belongs to and no body.
Content is structured, not JSON text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from opentelemetry import _logs, trace
from opentelemetry.context import Context
from opentelemetry.trace import SpanContext, SpanKind

from atifold import semconv
from atifold.emit.attributes import rising
from atifold.emit.logger import LoggerSource
from atifold.emit.oversize import short_enough
from atifold.emit.places import ERROR, INFO, PLACES, WARN
from atifold.emit.record import MOST_MOMENTS, Moment, Record
from atifold.emit.structured import structured
from atifold.events import full_name

_DEBUG: Final = 5
_SEVERITIES: Final = {full_name(row.event): row.severity for row in PLACES}
_NUMBERS: Final = {number: _logs.SeverityNumber(number) for number in (_DEBUG, INFO, WARN, ERROR)}
_NOWHERE: Final = trace.set_span_in_context(trace.INVALID_SPAN, Context())
"""A context without a span: an empty one would stand for the ambient context."""

_TOLD_AT_ONCE: Final = frozenset({"agentfootprint.eval.score", "agentfootprint.eval.threshold_crossed"})
_TOOL_START: Final = "agentfootprint.stream.tool_start"
_TOOL_END: Final = "agentfootprint.stream.tool_end"
_OF_THE_END: Final = (
    semconv.DISPATCH,
    semconv.ERROR_TYPE,
    "agentfootprint.stream.changed_arg_keys",
    "agentfootprint.stream.status",
)
_NO_TYPE: Final = frozenset({semconv.OTHER_ERROR, "permission_halt"})
"""Errors of a client operation that name no exception."""


class EventLog:
    """Log events of what an emitter seals and says, through the logs API.

    Always, where there is an SDK's LoggerProvider: the details of each inference, exceptions, scores, and
    what stands on no span. The catalogue's other events as `events` says; a tool's start and end also
    where `content` lets its arguments and results go on log events.
    """

    def __init__(
        self,
        provider: _logs.LoggerProvider | None = None,
        *,
        events: Literal["span", "log", "both"] = "span",
        content: bool = False,
        unsampled: bool = False,
        max_value: int = 0,
        live: bool = True,
        found: Callable[[], object] | None = None,
    ) -> None:
        """Take the provider, None for the global one, also one that is set later: `found` is called then.

        `unsampled` lets events of spans go that the sampler dropped. A content value of more than
        `max_value` characters is left out and named; 0 is no limit. `live` False is for replays: an
        event was observed when it happened.
        """
        self.content = content
        self.catalogue = events != "span"
        self.instead = events == "log"
        self._unsampled = unsampled
        self._max_value = max_value
        self._live = live
        self._source = LoggerSource(provider, found)

    def ready(self) -> bool:
        """Tell whether anybody takes log events now."""
        return self._source.logger() is not None

    def sealed(self, record: Record) -> None:
        """Emit what a sealed span gives."""
        if self._source.logger() is None or not self._wanted(record.at):
            return
        operation = record.attributes.get(semconv.OPERATION)
        if operation == "execute_tool" and (self.content or self.catalogue):
            self._tool(record)
        elif record.moments:
            self._moments(record)
        if operation == "chat":
            self._details(record)
        if record.kind is SpanKind.CLIENT and record.error_type is not None:
            self._exception(record, record.error_type)

    def said(self, moment: Moment, at: SpanContext | None) -> None:
        """Emit a fact that stands on no span."""
        if at is None:
            self._moment(moment, _NOWHERE)
        elif self._wanted(at):
            self._moment(moment, trace.set_span_in_context(trace.NonRecordingSpan(at), Context()))

    # ---- inside ----------------------------------------------------------------------------------

    def _wanted(self, at: SpanContext) -> bool:
        return self._unsampled or at.trace_flags.sampled

    def _details(self, record: Record) -> None:
        found, content = _of_the_conventions(record.attributes), _of_the_conventions(record.content)
        self._emit(semconv.INFERENCE_DETAILS, _end_ns(record), record.context, _DEBUG, found, content)

    def _exception(self, record: Record, error_type: str) -> None:
        if error_type in _NO_TYPE:
            return
        text = {} if not record.error_text else {semconv.EXCEPTION_MESSAGE: record.error_text}
        found = {semconv.EXCEPTION_TYPE: error_type}
        self._emit(semconv.OPERATION_EXCEPTION, _end_ns(record), record.context, WARN, found, text)

    def _moments(self, record: Record) -> None:
        """Emit what happened on a span, or what it has no room for."""
        for moment in record.moments if self.catalogue else record.moments[MOST_MOMENTS:]:
            if moment.name not in _TOLD_AT_ONCE:
                self._moment(moment, record.context)

    def _moment(self, moment: Moment, context: Context) -> None:
        attributes, content = moment.attributes, moment.content
        if moment.logged is not None:
            attributes, content = moment.logged
        severity = WARN if moment.denies else _SEVERITIES.get(moment.name, INFO)
        self._emit(moment.name, moment.time_ns, context, severity, attributes, content)

    def _tool(self, record: Record) -> None:
        """Emit a tool's start and end around what happened on it; its arguments may leave only now.

        They are on its end where no start was told, as in the run that resumes a paused call.
        """
        arguments, rest = _split(record.content)
        if record.begun:
            first = {name: value for name, value in record.attributes.items() if name not in _OF_THE_END}
            self._emit(_TOOL_START, record.start_ns, record.context, INFO, first, arguments)
        self._moments(record)
        if record.ended:
            failed = record.error_type is not None or record.attributes.get(semconv.DISPATCH) == "refused"
            content = rest if record.begun else record.content
            severity = WARN if failed else INFO
            self._emit(_TOOL_END, _end_ns(record), record.context, severity, record.attributes, content)

    def _emit(
        self,
        name: str,
        time_ns: int,
        context: Context,
        severity: int,
        attributes: Mapping[str, Any],
        content: Mapping[str, Any],
    ) -> None:
        logger = self._source.logger()
        if logger is None:
            return
        told = {**attributes, **short_enough(content, self._max_value)} if self.content else attributes
        logger.emit(
            event_name=name,
            timestamp=time_ns,
            observed_timestamp=None if self._live else time_ns,
            context=context,
            severity_number=_NUMBERS[severity],
            attributes=rising(structured(told)),
        )


def _of_the_conventions(attributes: Mapping[str, Any]) -> dict[str, Any]:
    known = (name for name in attributes if name.startswith("gen_ai.") or name == semconv.ERROR_TYPE)
    return {name: attributes[name] for name in known}


def _end_ns(record: Record) -> int:
    return record.start_ns if record.end_ns is None else record.end_ns


def _split(content: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a tool's arguments, and what else there is."""
    rest = {name: value for name, value in content.items() if name != semconv.TOOL_ARGUMENTS}
    return {name: content[name] for name in content if name not in rest}, rest
