"""Read LangSmith's runs: a list of them, the answer of a query, a run with those below it, one a line.

A run becomes the span that its SDK would have sent over OTLP: under the names that the dialect reads.
Source: LangSmith's public API (`RunSchema` of `/runs/query`), the SDK's `Run`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from atifold.jsontext import parsed, text_of, to_json_text
from atifold.kinds import is_list, is_object
from atifold.otlp.ids import SPAN_BYTES, TRACE_BYTES, made_id
from atifold.otlp.instants import instant
from atifold.otlp.place import BAD, Place
from atifold.otlp.shapes import object_in, text_in
from atifold.spans import Span, Status

_METADATA: Final = "langsmith.metadata."
_USAGE: Final = "usage_metadata"
_CHILDREN: Final = "child_runs"
_MODEL: Final = "llm"
_TRACEBACK: Final = "Traceback (most recent call last)"

_COUNTS: Final = (
    ("input_tokens", "prompt_tokens"),
    ("output_tokens", "completion_tokens"),
    ("total_tokens", "total_tokens"),
    ("input_token_details", "prompt_token_details"),
    ("output_token_details", "completion_token_details"),
)
"""Counts of a call of a model, as LangChain names them and as a run does; other runs hold the sums of those in them."""


def is_langsmith(value: Any) -> bool:
    """Tell whether a value is a run, a list of runs or the answer of a query."""
    return any(True for _ in _runs(value))


def decode(value: Any, place: Place) -> None:
    """Read the runs of a value that `is_langsmith`, those below others too; one that is broken leaves a complaint."""
    for item in _runs(value):
        try:
            place.batch.spans.append(_span(object_in(item)))
        except BAD as error:
            place.complain("run", error)


def _runs(value: Any) -> Iterator[Any]:
    if _is_run(value):
        yield value
        yield from _runs(value.get(_CHILDREN))
    elif is_list(value):
        alike = any(_is_run(item) for item in value)
        for item in value:
            yield from _runs(item) if _is_run(item) or not alike else [item]
    elif is_object(value) and "runs" in value:
        yield from _runs(value["runs"])


def _is_run(value: Any) -> bool:
    if not is_object(value) or "start_time" not in value:
        return False
    return all(isinstance(value.get(name), str) for name in ("id", "run_type"))


def _span(item: Mapping[str, Any]) -> Span:
    parent, error = item.get("parent_run_id"), text_in(item.get("error"))
    return Span(
        trace_id=made_id(item.get("trace_id") or _root(item), TRACE_BYTES),
        span_id=made_id(item.get("id"), SPAN_BYTES),
        parent_id=made_id(parent, SPAN_BYTES) if parent else None,
        name=text_in(item.get("name")),
        start_ns=instant(item.get("start_time")),
        end_ns=instant(item.get("end_time")) or None,
        attributes=_attributes(item),
        status=Status.ERROR if error else Status.UNSET,
        status_message=error.partition(_TRACEBACK)[0].strip(),
        scope_name="langsmith",
    )


def _root(item: Mapping[str, Any]) -> Any:
    """Return the id of the outermost run, with which the order of a run begins: `20260101T…Z<id>.…`."""
    outermost = text_in(item.get("dotted_order")).partition(".")[0]
    return outermost.partition("Z")[2] or item.get("id")


def _attributes(item: Mapping[str, Any]) -> dict[str, Any]:
    extra = _object(item.get("extra"))
    metadata = _object(extra.get("metadata"))
    parameters = _object(extra.get("invocation_params"))
    found = {
        "langsmith.span.kind": item["run_type"],
        "langsmith.trace.name": item.get("name"),
        "langsmith.trace.session_name": item.get("session_name"),
        "gen_ai.prompt": _json(item.get("inputs")),
        "gen_ai.completion": _json(item.get("outputs")),
        "gen_ai.tool.call.id": extra.get("tool_call_id"),
        "gen_ai.tool.definitions": _json(parameters.get("tools")),
        "gen_ai.request.model": parameters.get("model") or parameters.get("model_name"),
        **{_METADATA + name: _json(value) for name, value in metadata.items()},
    }
    if item["run_type"] == _MODEL:
        found["gen_ai.usage.cost"] = item.get("total_cost")
        found.setdefault(_METADATA + _USAGE, _json(_usage(item)))
    return {name: value for name, value in found.items() if value is not None and value != ""}


def _usage(item: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the counts of a call of a model, None for one that reports none."""
    counts = {name: item[told] for name, told in _COUNTS if item.get(told)}
    return counts or None


def _object(value: Any) -> Mapping[str, Any]:
    """Return an object, also behind JSON text (as a table's cell has it); an empty one for anything else."""
    found = parsed(value) if isinstance(value, str) else value
    return found if is_object(found) else {}


def _json(value: Any) -> str | None:
    """Write a value as the SDK does: JSON text, a text as it is, nothing for what is empty."""
    if value is None or value in ({}, []):
        return None
    return to_json_text(value) if is_object(value) or is_list(value) else text_of(value)
