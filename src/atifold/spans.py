"""Hold the neutral record of one finished span, whatever SDK, file or wire it came from.

Times are integer nanoseconds since the epoch, ids are lower-case hex, attribute values are plain
Python values (str, bool, int, float, bytes, None, and lists and string-keyed dicts of these).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from enum import Enum
from typing import Any, Final, Protocol

from atifold.records import record

Attributes = Mapping[str, Any]
"""Attribute names to plain Python values; of a name given twice the last value counts."""

SpanKey = tuple[str, str]
"""(trace id, span id): the same pair is the same span, however often it was exported."""


class Kind(str, Enum):
    """The five span kinds of OpenTelemetry, and the value that says none was given."""

    UNSPECIFIED = "UNSPECIFIED"
    INTERNAL = "INTERNAL"
    SERVER = "SERVER"
    CLIENT = "CLIENT"
    PRODUCER = "PRODUCER"
    CONSUMER = "CONSUMER"


class Status(str, Enum):
    """The three status codes of OpenTelemetry."""

    UNSET = "UNSET"
    OK = "OK"
    ERROR = "ERROR"


@record(frozen=True, slots=True)
class SpanEvent:
    """One point in time inside a span."""

    name: str
    time_ns: int
    attributes: Attributes = field(default_factory=dict)


@record(frozen=True, slots=True)
class Link:
    """A tie to another span, in this trace or another."""

    trace_id: str
    span_id: str
    attributes: Attributes = field(default_factory=dict)


@record(frozen=True, slots=True)
class Span:
    """One finished span.

    `parent_id` is None for a root; the parent may lie outside the spans at hand. `end_ns` may be
    before `start_ns` (clocks go back) and is None where a span never ended.
    """

    trace_id: str
    span_id: str
    parent_id: str | None
    name: str
    start_ns: int
    end_ns: int | None
    kind: Kind = Kind.UNSPECIFIED
    attributes: Attributes = field(default_factory=dict)
    events: tuple[SpanEvent, ...] = ()
    links: tuple[Link, ...] = ()
    status: Status = Status.UNSET
    status_message: str = ""
    resource: Attributes = field(default_factory=dict)
    scope_name: str = ""
    scope_version: str = ""

    @property
    def key(self) -> SpanKey:
        """Return what makes this span the same as another export of it."""
        return self.trace_id, self.span_id


@record(frozen=True, slots=True)
class LogRecord:
    """One log record, which may name a span.

    `name` is the name of the event, "" for a plain line of a log. `trace_id` and `span_id` are None where
    the record names none. `time_ns` is 0 where no time is known. `body` is any plain value.
    """

    name: str
    time_ns: int
    trace_id: str | None = None
    span_id: str | None = None
    attributes: Attributes = field(default_factory=dict)
    body: Any = None
    resource: Attributes = field(default_factory=dict)
    scope_name: str = ""
    scope_version: str = ""

    @property
    def tells(self) -> bool:
        """Tell whether the record is an event, or a plain line that a dialect reads."""
        return bool(self.name) or tells(self.body)


TELLING_LINES: Final = ("OpenAI usage: ",)
"""How the plain lines of a log begin that a dialect reads: Semantic Kernel's."""


def tells(body: object) -> bool:
    """Tell whether the body of a log record is a plain line that a dialect reads."""
    return isinstance(body, str) and body.startswith(TELLING_LINES)


class SideDoor(Protocol):
    """Take the whole record of a span in process: by span id, before any limit, sampled or not.

    Both calls are quick, may come from any thread, and never raise. A span that is told twice is one
    span: the first record of it counts. It counts over what the SDK tells of the same span, whichever
    of the two comes first.
    """

    def opened(
        self,
        trace_id: str,
        span_id: str,
        *,
        parent_span_id: str | None = None,
        remote_parent: bool = False,
        sampled: bool = True,
    ) -> None:
        """Hear that a span was started; `parent_span_id` is None for a root of its trace."""

    def closed(self, span: Callable[[], Span], *, sampled: bool = True) -> None:
        """Take the record of a span that is about to be ended, structure and content together.

        `span` makes the record; it may be called later and on any thread. It has an attribute
        `redacted`, True, where a user's redaction saw all content of the record before.
        """
