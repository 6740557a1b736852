"""Cut a batch into parts that a receiver takes, each by its bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar

from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk._logs import ReadableLogRecord
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import format_span_id

from atifold.delivery.characters import mended_record, mended_span
from atifold.delivery.weight import frame_bytes, record_bytes, span_bytes


class Framed(Protocol):
    """What has a resource and a scope: spans and log records."""

    @property
    def resource(self) -> Any:
        """Return the resource, on which one frame in a request depends."""
        ...

    @property
    def instrumentation_scope(self) -> Any:
        """Return the scope, on which the other one depends."""
        ...


T = TypeVar("T", bound=Framed)


@dataclass(frozen=True)  # Python 3.10 has no generic NamedTuple
class Signal(Generic[T]):
    """One row: what a thing is, the bound of its bytes, the true encoder, the mender, and how a thing is named."""

    what: str
    bound: Callable[[T], int]
    encode: Callable[[list[T]], Any]
    mend: Callable[[T], T]
    name: Callable[[T], str]


class TooLarge(NamedTuple):
    """A thing that no request can hold: what it is, and its bytes in a request of its own."""

    name: str
    size: int


@dataclass(frozen=True)  # Python 3.10 has no generic NamedTuple
class Parts(Generic[T]):
    """The requests that a batch becomes, what is in none of them, and how many things were mended."""

    requests: Sequence[Sequence[T]]
    too_large: Sequence[TooLarge]
    mended: int


def _span_name(span: ReadableSpan) -> str:
    context = span.get_span_context()
    return f"span {span.name!r} [{format_span_id(context.span_id) if context else 'without an id'}]"


def _record_name(record: ReadableLogRecord) -> str:
    told = record.log_record
    return f"log record {told.event_name or 'without a name'!r} [{format_span_id(told.span_id or 0)}]"


SPANS: Final = Signal[ReadableSpan]("span", span_bytes, encode_spans, mended_span, _span_name)
RECORDS: Final = Signal[ReadableLogRecord]("log record", record_bytes, encode_logs, mended_record, _record_name)


def cut(batch: Sequence[T], signal: Signal[T], max_bytes: int) -> Parts[T]:
    """Return the requests of a batch, in its order; one that passes whole is the batch itself."""
    weighed = list(_weighed(batch, signal))
    mended = sum(item.thing is not before for item, before in zip(weighed, batch, strict=True))
    if sum(item.size for item in weighed) + sum(_frames(weighed).values()) <= max_bytes:
        return Parts([batch if not mended else [item.thing for item in weighed]] if batch else [], [], mended)
    filling = _Filling[T](max_bytes)
    too_large = []
    for item in weighed:
        if filling.takes(item):
            continue
        size = signal.encode([item.thing]).ByteSize()  # the bound may say too much
        if size <= max_bytes:
            filling.take_alone(item)
        else:
            too_large.append(TooLarge(signal.name(item.thing), size))
    return Parts(filling.requests, too_large, mended)


@dataclass(frozen=True)  # Python 3.10 has no generic NamedTuple
class _Weighed(Generic[T]):
    """A thing, mended where it has to be, its bound, and that of its frame."""

    thing: T
    size: int
    frame: int

    @property
    def framed_by(self) -> _Frame:
        return _framed_by(self.thing)


_Frame = tuple[int, Any]
"""Whose resource by its id (a hash of one is dear), and which scope."""


def _framed_by(thing: Framed) -> _Frame:
    return id(thing.resource), thing.instrumentation_scope


def _weighed(batch: Sequence[T], signal: Signal[T]) -> Iterator[_Weighed[T]]:
    frames: dict[_Frame, int] = {}
    for thing in batch:
        try:
            size = signal.bound(thing)
            key = _framed_by(thing)
            if key not in frames:
                frames[key] = frame_bytes(thing.resource, thing.instrumentation_scope)
            yield _Weighed(thing, size, frames[key])
        except UnicodeEncodeError:
            whole = signal.mend(thing)
            yield _Weighed(whole, signal.bound(whole), frame_bytes(whole.resource, whole.instrumentation_scope))


def _frames(items: Sequence[_Weighed[T]]) -> dict[_Frame, int]:
    return {item.framed_by: item.frame for item in items}


class _Filling(Generic[T]):
    """Requests that are filled one after the other."""

    def __init__(self, max_bytes: int) -> None:
        self.requests: list[list[T]] = []
        self._max_bytes = max_bytes
        self._open = False
        self._size = 0
        self._frames: set[_Frame] = set()

    def takes(self, item: _Weighed[T]) -> bool:
        """Put a thing into the open request, or into a new one; tell whether it fits at all."""
        frame = 0 if item.framed_by in self._frames else item.frame
        if self._open and self._size + item.size + frame <= self._max_bytes:
            self.requests[-1].append(item.thing)
            self._size += item.size + frame
        elif item.size + item.frame <= self._max_bytes:
            self.requests.append([item.thing])
            self._open, self._size, self._frames = True, item.size + item.frame, set()
        else:
            return False
        self._frames.add(item.framed_by)
        return True

    def take_alone(self, item: _Weighed[T]) -> None:
        """Give a thing a request of its own, to which nothing is added."""
        self.requests.append([item.thing])
        self._open = False
