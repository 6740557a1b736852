"""Read what Logfire's instrumentations of model clients write beside, and before, the conventions.

The request and the response stand as JSON in `request_data` and `response_data`. A streamed call is
two spans: the request, and at its end a record (`logfire.span_type` is `log`) with the response.
"""

from __future__ import annotations

from typing import Any, Final

from atifold.calls import MISSING, Message, Text
from atifold.dialects import exchange, values
from atifold.dialects.about import About
from atifold.dialects.entity import opened, restored
from atifold.dialects.table import MODELS, CallKind, Dialect, Fields, Row, Verdict
from atifold.dialects.usage_objects import put_usage
from atifold.dialects.values import Note
from atifold.jsontext import scrub
from atifold.kinds import is_list, is_object
from atifold.spans import Span

_REQUEST: Final = "request_data"
_RESPONSE: Final = "response_data"
_RAW: Final = "gen_ai.usage.raw"
_ASKED: Final = ("messages", "input", "prompt")
_CHUNKS: Final = "combined_chunk_content"

ROWS: Final = (Row("cost_usd", ("operation.cost",), values.money, MODELS),)


def marks(span: Span) -> bool:
    """Tell whether Logfire wrote a request or a response here."""
    return _REQUEST in span.attributes or _RESPONSE in span.attributes or _RAW in span.attributes


def classify(span: Span) -> Verdict:
    """Say that a request of messages, or a response, without an operation is a model call."""
    if span.attributes.get("gen_ai.operation.name"):
        return None
    request = opened(span.attributes.get(_REQUEST))
    asks = is_object(request) and any(name in request for name in _ASKED)
    return CallKind.MODEL if asks or _RESPONSE in span.attributes else None


def complete(span: Span, kind: CallKind, fields: Fields, note: Note) -> None:
    """Fill in what the request, the response and the provider's own counts hold."""
    if kind is not CallKind.MODEL:
        return
    request, response = (restored(span.attributes.get(name), note) for name in (_REQUEST, _RESPONSE))
    exchange.put(fields, "output", _streamed(response))
    inner = response.get("message") if is_object(response) else None
    exchange.complete_exchange(request, inner or response, kind, fields, note)
    for usage in (opened(span.attributes.get(_RAW)), response.get("usage") if is_object(response) else None):
        put_usage(usage, fields)


def _streamed(response: Any) -> Any:
    """Return the text that the chunks of a stream make, MISSING where there is none."""
    text = response.get(_CHUNKS) if is_object(response) else None
    if is_list(text):
        text = "".join(chunk for chunk in text if isinstance(chunk, str))
    return (Message("assistant", (Text(scrub(text)),)),) if isinstance(text, str) and text else MISSING


LOGFIRE: Final = Dialect(
    name="logfire",
    marks=marks,
    rows=ROWS,
    classify=classify,
    complete=complete,
    known=frozenset({_REQUEST, _RESPONSE, "async", "duration"}),
    known_prefixes=("logfire.", _RAW),
    about=About(
        title="Logfire's instrumentations of model clients",
        versions="5.x, and older ones that write `request_data`",
        carries="requests and responses as JSON, tokens, cost, streams as a record of their own",
        lacks="tools' executions; agents; sessions",
    ),
)
