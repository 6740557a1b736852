"""Say what each server keeps of a span, and what it makes of the rest: the table, as rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from backends.facts import Facts
from backends.probe import VALUES

GONE: Final = "the span is not there"
UNTOLD: Final = "it is not told"


class Fact(NamedTuple):
    """One thing that is told of a span of the probe: its name, the span, and where it stands."""

    name: str
    span: str
    of: Callable[[Facts], Any]


def _keys(*keys: str) -> Callable[[Facts], Any]:
    return lambda facts: [facts.get(key, UNTOLD) for key in keys]


def _key(key: str) -> Callable[[Facts], Any]:
    return lambda facts: facts.get(key, UNTOLD)


def _attribute(name: str) -> Callable[[Facts], Any]:
    return lambda facts: facts["attributes"].get(name, UNTOLD)


def _event(name: str) -> Callable[[Facts], Any]:
    return lambda facts: next((event for event in facts["events"] if event[0] == name), UNTOLD)


def _names(facts: Facts) -> list[str]:
    return sorted(facts["attributes"])


FACTS: Final = (
    Fact("ids", "child", _keys("trace_id", "span_id", "parent_id")),
    Fact("no parent", "root", _key("parent_id")),
    Fact("name", "child", _key("name")),
    Fact("kind", "child", _key("kind")),
    Fact("status", "child", _keys("status", "status_message")),
    Fact("times", "child", _keys("start_ns", "end_ns")),
    Fact("times of whole microseconds", "whole_us", _keys("start_ns", "end_ns")),
    Fact("zero length", "instant", _keys("start_ns", "end_ns")),
    Fact("names of attributes added", "instant", _names),
    *(Fact(f"attribute: {name}", "child", _attribute(name)) for name in VALUES),
    Fact("attribute: null", "null", _attribute("null")),
    Fact("attribute: map with null", "null", _attribute("map with null")),
    Fact("attribute: bytes", "bytes", _attribute("bytes")),
    Fact("attribute: nan", "nan", _attribute("nan")),
    Fact("names of attributes", "child", _names),
    Fact("names of attributes of a model call", "chat", _names),
    Fact("order of events", "child", lambda facts: [event[0] for event in facts["events"]]),
    Fact("event", "child", _event("zz")),
    Fact("event: exception", "child", _event("exception")),
    Fact("links", "child", _key("links")),
    Fact("link to the own parent", "own_parent", _keys("parent_id", "links")),
    Fact("reference to the parent", "child", _key("parent_by")),
    Fact("reference to the parent that is linked", "own_parent", _key("parent_by")),
    Fact("number of warnings", "instant", lambda facts: len(facts.get("warnings", ()))),
    Fact("resource", "child", _key("resource")),
    Fact("resource of no service", "nameless", _key("resource")),
    Fact("schema of the resource", "child", _key("resource_schema")),
    Fact("scope", "child", _key("scope")),
    Fact("schema of the scope", "child", _key("scope_schema")),
    Fact("flags", "child", _key("flags")),
    Fact("trace state", "child", _key("trace_state")),
    Fact("dropped counts", "child", _key("dropped")),
)

TWICE: Final = "a span that comes twice, the second time with another name"
COPIED: Final = "a span that comes twice"
STOLEN: Final = "a span id that was seen in another trace"


def tell(found: dict[str, list[Facts] | int]) -> dict[str, str]:
    """Return each fact as JSON text, which tells 1, 1.0 and true apart, of the spans that are found by name.

    A number instead of spans is the status with which the server refuses to tell of their trace.
    """

    def text(value: Any) -> str:
        return json.dumps(value, sort_keys=True, default=repr, ensure_ascii=False)

    def one(fact: Fact) -> Any:
        spans = found[fact.span]
        return spans if isinstance(spans, int) else fact.of(spans[0]) if spans else GONE

    told = {fact.name: text(one(fact)) for fact in FACTS}
    for name, span in ((TWICE, "twice"), (COPIED, "copied"), (STOLEN, "stolen")):
        spans = found[span]
        told[name] = text(spans if isinstance(spans, int) else sorted(facts["name"] for facts in spans))
    return told
