"""Take nested attributes apart to names with dots, and put together again the values that are read whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from atifold.kinds import is_list, is_object

WHOLE: Final = (
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.system_instructions",
    "gen_ai.tool.definitions",
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.call.result",
    "gen_ai.retrieval.documents",
    "pydantic_ai.all_messages",
    "all_messages_events",
    "final_result",
    "logfire.json_schema",
    "model_request_parameters",
    "request_data",
    "response_data",
    "tool_arguments",
    "tool_response",
)
"""Attributes whose value may be an object or a list of objects: those of the conventions, pydantic-ai and Logfire."""


def flat(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return attributes in which no value is an object or a list with objects."""
    return dict(_leaves("", attributes))


def _leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    inner: Iterator[tuple[Any, Any]] | None = None
    if is_object(value) and value:
        inner = iter(value.items())
    elif is_list(value) and any(is_object(item) for item in value):
        inner = iter(enumerate(value))
    if inner is None:
        yield name, value
        return
    for key, item in inner:
        yield from _leaves(f"{name}.{key}" if name else str(key), item)


def gathered(attributes: Mapping[str, Any], wholes: tuple[str, ...] = WHOLE) -> dict[str, Any]:
    """Return attributes in which each of `wholes` that was taken apart is one value again."""
    found: dict[str, Any] = {}
    parts: dict[str, dict[str, Any]] = {}
    for name, value in attributes.items():
        whole = next((whole for whole in wholes if name.startswith(whole + ".")), None)
        if whole is None:
            found[name] = value
        else:
            _put(parts.setdefault(whole, {}), name[len(whole) + 1 :].split("."), value)
    return {**{name: _lists(value) for name, value in parts.items()}, **found}


def _put(tree: dict[str, Any], path: list[str], value: Any) -> None:
    *above, last = path
    for key in above:
        inner = tree.get(key)
        if not is_object(inner):
            inner = tree[key] = {}
        tree = inner
    tree[last] = value


def _lists(tree: Any) -> Any:
    """Return what a tree stands for: numbers from 0 on without a gap are the places of a list."""
    if not is_object(tree):
        return tree
    values = {key: _lists(value) for key, value in tree.items()}
    if values and values.keys() == {str(number) for number in range(len(values))}:
        return [values[str(number)] for number in range(len(values))]
    return values
