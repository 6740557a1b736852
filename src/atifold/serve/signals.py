"""Read the requests of OTLP's signals, and write the answers: all that is known of their messages is here."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, Union

from google.protobuf.json_format import MessageToJson
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from atifold.jsontext import fault, from_json
from atifold.kinds import kind_name
from atifold.otlp import json, protobuf
from atifold.otlp.batch import Batch
from atifold.otlp.place import Place
from atifold.serve.liberties import liberties, told
from atifold.serve.refusals import BAD, TOO_LARGE, RefusedError
from atifold.spans import LogRecord, Span

Items = list[Union[Span, LogRecord]]
_GZIP: Final = 31  # zlib's number for data with a gzip header
_WHERE: Final = "request"


class Form(str, Enum):
    """How a request is written, and its answer too, by its media type."""

    PROTOBUF = "application/x-protobuf"
    JSON = "application/json"


class Signal(NamedTuple):
    """One signal: its name, what an item is, its service over gRPC, its answer and the field of that for items."""

    name: str
    what: Literal["span", "log record"]
    service: str
    response: Any
    rejected: str

    @property
    def path(self) -> str:
        """Return the path of its requests over HTTP."""
        return f"/v1/{self.name}"

    def items(self, batch: Batch) -> Items:
        """Return what the batch holds of this signal."""
        return [*(batch.spans if self is TRACES else batch.logs)]


TRACES: Final = Signal(
    "traces",
    "span",
    "opentelemetry.proto.collector.trace.v1.TraceService",
    ExportTraceServiceResponse,
    "rejected_spans",
)
LOGS: Final = Signal(
    "logs",
    "log record",
    "opentelemetry.proto.collector.logs.v1.LogsService",
    ExportLogsServiceResponse,
    "rejected_log_records",
)
SIGNALS: Final = (TRACES, LOGS)


class Read(NamedTuple):
    """What a request holds: its items, how many could not be read, what to say of it, and its liberties by kind."""

    items: Items
    rejected: int = 0
    words: str = ""
    liberties: Mapping[str, int] = MappingProxyType({})


def unpacked(data: bytes, most: int) -> bytes:
    """Return what gzip packed; raises RefusedError for what is none, is cut, or unpacks to more than `most` bytes."""
    unpacker = zlib.decompressobj(wbits=_GZIP)
    try:
        found = unpacker.decompress(data, most + 1)
    except zlib.error as error:
        raise RefusedError(BAD, f"{_WHERE}: no gzip ({error})") from None
    if len(found) > most:
        raise RefusedError(TOO_LARGE, f"{_WHERE}: more than {most:,} bytes when unpacked")
    if not unpacker.eof:
        raise RefusedError(BAD, f"{_WHERE}: gzip data that is cut")
    return found


def read(data: bytes, form: Form, signal: Signal) -> Read:
    """Read a request; raises RefusedError where it is not one of this signal."""
    batch = _protobuf(data, signal) if form is Form.PROTOBUF else _json(data, signal)
    items = signal.items(batch)
    found = len(batch.spans) + len(batch.logs)
    if found > len(items):
        raise RefusedError(BAD, f"{_WHERE}: found another signal, wanted {signal.what}s")
    if batch.complaints and not items:
        raise RefusedError(BAD, str(batch.complaints[0]))
    taken = liberties(data) if form is Form.JSON else {}
    words = [str(batch.complaints[0])] if batch.complaints else []
    words += [told(taken)] if taken else []
    return Read(items, len(batch.complaints), "; ".join(words), taken)


def _protobuf(data: bytes, signal: Signal) -> Batch:
    found = protobuf.decode_as(signal.what, data, _WHERE)
    if found is None:
        raise RefusedError(BAD, f"{_WHERE}: found no protobuf of {signal.what}s")
    return found


def _json(data: bytes, signal: Signal) -> Batch:
    try:
        value = from_json(data)
    except ValueError as error:
        raise RefusedError(BAD, f"{_WHERE}: found no JSON ({fault(error)}), wanted {signal.what}s") from None
    if not json.is_otlp(value):
        raise RefusedError(BAD, f"{_WHERE}: found {kind_name(value)} that is no request, wanted {signal.what}s")
    batch = Batch()
    json.decode(value, Place(batch, _WHERE))
    return batch


def response(signal: Signal, rejected: int = 0, words: str = "") -> Any:
    """Return the answer to a request that was taken, but for what was rejected."""
    found = signal.response()
    if rejected or words:
        partial: Any = found.partial_success
        setattr(partial, signal.rejected, rejected)
        partial.error_message = words
    return found


def written(message: Any, form: Form) -> bytes:
    """Return an answer, which is a message, as the request was written."""
    if form is Form.PROTOBUF:
        return bytes(message.SerializeToString())
    return str(MessageToJson(message, indent=None)).encode()
