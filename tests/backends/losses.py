"""Say what each server changes or loses of what it is sent, a row for each fact; what has no row is kept."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from backends.sending import GRPC, JSON, PROTOBUF, Protocol
from backends.survival import COPIED, GONE, STOLEN, TWICE, UNTOLD

PROTOCOLS: Final = {
    "collector": (GRPC, PROTOBUF, JSON),
    "jaeger": (GRPC, PROTOBUF, JSON),
    "phoenix": (GRPC, PROTOBUF),
    "mlflow": (PROTOBUF, JSON),
}


class Change(NamedTuple):
    """What becomes of a fact, in words and as the value that is told; a function takes the value that was sent.

    `protocol` is the only one where it happens, None where it makes no difference.
    """

    fact: str
    how: str
    becomes: Any
    protocol: Protocol | None = None

    def of(self, sent: str) -> str:
        """Return what is told, as JSON text, of what was sent, JSON text too."""
        value = self.becomes(json.loads(sent)) if callable(self.becomes) else self.becomes
        return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _micro(ns: int) -> int:
    """Round to microseconds."""
    return (ns + 500) // 1000 * 1000


def _floored(ns: int) -> int:
    return ns // 1000 * 1000


def _with(*more: str) -> Any:
    return lambda names: sorted([*names, *more])


def _untold(*facts: str) -> tuple[Change, ...]:
    return tuple(Change(fact, "lost", UNTOLD) for fact in facts)


_WHERE: Final = ("resource", "resource of no service", "schema of the resource", "scope", "schema of the scope")
_WIRE: Final = ("flags", "trace state", "dropped counts")


def _as_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _as_compact_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def _lasting(times: list[int], rounded: Callable[[int], int]) -> list[int]:
    """Return a start and an end of which start and length were rounded."""
    start, end = times
    return [rounded(start), rounded(start) + rounded(end - start)]


def _misread(links: Any) -> Any:
    """Return links whose ids in hex were taken for base64."""
    return [[*(base64.b64decode(each).hex() for each in link[:2]), link[2]] for link in links]


_ONCE: Final = Change(COPIED, "once", ["copied"])

PHOENIX: Final = (
    *_untold("kind", *_WHERE, *_WIRE, "links", "attribute: null", "attribute: nan"),
    Change("times", "rounded to microseconds", lambda times: [_micro(ns) for ns in times]),
    Change("zero length", "rounded to microseconds", lambda times: [_micro(ns) for ns in times]),
    Change("attribute: map", "flattened", UNTOLD),
    Change("attribute: map with null", "flattened", UNTOLD),
    Change("attribute: bytes", "costs the span", GONE),
    Change(
        "names of attributes",
        "maps become dotted names",
        lambda names: sorted([*(name for name in names if name != "map"), "map.a.k", "map.z"]),
    ),
    Change(
        "names of attributes of a model call",
        "OpenInference's names are added",
        _with(
            *("llm.model_name", "llm.provider", "llm.system", "session.id"),
            *("llm.token_count.completion", "llm.token_count.prompt", "llm.token_count.total"),
        ),
    ),
    Change("event", "time rounded to microseconds", lambda event: [event[0], _micro(event[1]), event[2]]),
    Change(
        "event: exception",
        "keeps the four attributes of the conventions",
        lambda event: [event[0], _micro(event[1]), {k: v for k, v in event[2].items() if k != "why"}],
    ),
    Change("link to the own parent", "lost", lambda told: [told[0], UNTOLD]),
    Change(TWICE, "the first counts", ["twice"]),
    _ONCE,
    Change(STOLEN, "dropped", []),
)

MLFLOW: Final = (
    *_untold("kind", *_WHERE, *_WIRE),
    *(
        Change(f"attribute: {name}", "JSON text", _as_text)
        for name in ("text", "whole", "fraction", "truth", "array", "mixed array", "dotted.name", "null", "nan")
    ),
    # In the order of the keys as sent, which JSON of ours has sorted.
    Change("attribute: map", "JSON text", '{"z": 1, "a": {"k": ["v"]}}'),
    Change("attribute: map with null", "JSON text", _as_text),
    Change("attribute: bytes", "Python's repr as JSON text", _as_text),
    Change("names of attributes", "its own added", _with("mlflow.traceRequestId")),
    Change("names of attributes added", "its own added", _with("mlflow.traceRequestId")),
    Change(
        "names of attributes of a model call",
        "its own added",
        _with(
            *("mlflow.chat.tokenUsage", "mlflow.llm.cost", "mlflow.llm.model", "mlflow.llm.provider"),
            *("mlflow.spanType", "mlflow.traceRequestId"),
        ),
    ),
    Change("links", "ids, hex, are taken for base64", _misread, JSON),
    Change("link to the own parent", "the same", lambda told: [told[0], _misread(told[1])], JSON),
    Change(TWICE, "the last counts", ["twice, again"]),
    _ONCE,
)

_NAMELESS: Final = Change(
    "resource of no service", "a name is invented", lambda told: {**told, "service.name": "missing-service-name"}
)
_BY_NAME: Final = Change("order of events", "sorted by name", sorted)

JAEGER_RAW: Final = (
    Change("schema of the resource", "lost", ""),
    Change("schema of the scope", "lost", ""),
    Change("zero length", "becomes 1 ns", lambda times: [times[0], times[0] + 1]),
    Change("names of attributes added", "a warning about zero length", ["@jaeger@warnings"]),
    _NAMELESS,
)
JAEGER: Final = (*JAEGER_RAW, _BY_NAME, _ONCE)
CLASSIC: Final = (
    *_untold("schema of the resource", "schema of the scope", "flags", "dropped counts"),
    Change("scope", "name and version only", lambda told: [*told[:2], {}]),
    Change("times", "start and duration floored to microseconds", lambda times: _lasting(times, _floored)),
    Change("zero length", "floored to microseconds", lambda times: _lasting(times, _floored)),
    Change("attribute: whole", "beyond 53 bits, as text", str),
    *(
        Change(f"attribute: {name}", "JSON text, keys sorted", _as_compact_text)
        for name in ("array", "mixed array", "map", "map with null")
    ),
    Change("attribute: null", "empty text", ""),
    Change("attribute: bytes", "base64", "AP8="),
    Change("attribute: nan", "costs the trace", 500),
    _BY_NAME,
    Change("event", "time floored to microseconds", lambda event: [event[0], _floored(event[1]), event[2]]),
    Change("event: exception", "the same", lambda event: [event[0], _floored(event[1]), event[2]]),
    Change("links", "a reference only", lambda links: [[*link[:2], {}] for link in links]),
    Change("link to the own parent", "the parent's reference becomes the link's", lambda told: [told[0], []]),
    Change("reference to the parent", "is called one", ["CHILD_OF"]),
    Change("reference to the parent that is linked", "no parent by its type", ["FOLLOWS_FROM"]),
    Change("number of warnings", "one, about zero length", 1),
    _NAMELESS,
    _ONCE,
)

SERVERS: Final[Mapping[str, Mapping[str, tuple[Change, ...]]]] = {
    "collector": {"json": (), "proto": (), "json-zstd": (), "proto-zstd": ()},
    "jaeger": {"v3 raw": JAEGER_RAW, "v3": JAEGER, "classic": CLASSIC},
    "phoenix": {"spans": PHOENIX},
    "mlflow": {"artifact": MLFLOW},
}


def change(server: str, view: str, protocol: Protocol, fact: str) -> Change | None:
    """Return what becomes of a fact, None where it is kept."""
    rows = (row for row in SERVERS[server][view] if row.fact == fact and row.protocol in (None, protocol))
    return next(rows, None)
