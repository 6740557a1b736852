"""Make payloads of events that have every field, from their JSON schemas."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from atifold.events.schemas import schema

_SCALARS: dict[str, Any] = {
    "string": "some text",
    "integer": 7,
    "number": 0.5,
    "boolean": True,
    "null": None,
    "any": {"some": ["thing"]},
}


def payloads(name: str) -> Iterator[dict[str, Any]]:
    """Yield payloads of the full name `name`, each with every field, in all of them together every alternative.

    An alternative is a member of an enumeration or one of several kinds of value. A list has one
    element, a map one key `some key`.
    """
    document = _schema(name)
    definitions = document.get("$defs", {})
    for choice in range(_widest(document, definitions)):
        yield _value(document, definitions, choice)


@cache
def _schema(name: str) -> dict[str, Any]:
    return schema(name)


def _widest(node: Mapping[str, Any], definitions: Mapping[str, Any]) -> int:
    """Return how many payloads show each alternative of a schema, those inside of others too."""
    if "const" in node:
        return 1
    if "$ref" in node:
        return _widest(definitions[node["$ref"].rpartition("/")[2]], definitions)
    if choices := _alternatives(node):
        return len(choices) * max(_widest(choice, definitions) for choice in choices)
    inside = [*node.get("properties", {}).values(), node.get("items"), node.get("additionalProperties")]
    return max((_widest(item, definitions) for item in inside if isinstance(item, dict)), default=1)


def _alternatives(node: Mapping[str, Any]) -> list[Any]:
    """Return the choices of a schema: members as values of `const`, else schemas."""
    found: list[Any] = []
    for item in node.get("anyOf", (node,)) if "anyOf" in node or "enum" in node else ():
        found += [{"const": member} for member in item.get("enum", ())] or [item]
    return found


def _value(node: Mapping[str, Any], definitions: Mapping[str, Any], choice: int) -> Any:
    if "const" in node:
        return node["const"]
    if "$ref" in node:
        return _value(definitions[node["$ref"].rpartition("/")[2]], definitions, choice)
    if choices := _alternatives(node):
        return _value(choices[choice % len(choices)], definitions, choice // len(choices))
    if "properties" in node:
        return {key: _value(item, definitions, choice) for key, item in node["properties"].items()}
    return _by_type(node, definitions, choice)


def _by_type(node: Mapping[str, Any], definitions: Mapping[str, Any], choice: int) -> Any:
    kind = node.get("type", "any")
    if kind == "array":
        return [_value(node["items"], definitions, choice)]
    if kind == "object":
        values = node["additionalProperties"]
        return {"some key": _value({} if values is True else values, definitions, choice)}
    return copy.deepcopy(_SCALARS[kind])  # one of its own: what is written into it stands nowhere else
