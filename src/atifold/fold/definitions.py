"""Bring tool definitions into the one form that ATIF wants, whatever shape a provider gives them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from atifold.jsontext import parsed

_SCHEMAS: Final = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema")


def definitions(offered: Iterable[Iterable[Any]]) -> tuple[list[dict[str, Any]], int]:
    """Return (each function once, in the order first offered; how many could not be read)."""
    found: dict[str, dict[str, Any]] = {}
    unread = 0
    seen: set[int] = set()
    for tools in offered:
        if id(tools) in seen:
            continue
        seen.add(id(tools))
        for tool in tools:
            functions = list(_functions(tool))
            unread += not functions
            for function in functions:
                found.setdefault(function["name"], {"type": "function", "function": function})
    return list(found.values()), unread


def _functions(tool: Any) -> Iterator[dict[str, Any]]:
    """Yield the functions of one definition: a plain one, a wrapped one, a list of declarations."""
    if isinstance(tool, str):
        tool = parsed(tool)
    if isinstance(tool, list | tuple):
        for item in tool:
            yield from _functions(item)
        return
    if not isinstance(tool, Mapping):
        return
    wrapped = tool.get("function") or tool.get("toolSpec")
    declared = tool.get("function_declarations") or tool.get("functionDeclarations")
    if isinstance(declared, list | tuple):
        yield from _functions(declared)
    elif isinstance(wrapped, Mapping):
        yield from _functions({key: value for key, value in wrapped.items() if key not in ("function", "toolSpec")})
    elif isinstance(tool.get("name"), str) and tool["name"]:
        yield _function(tool)


def _function(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return name, description and parameters, those that are there."""
    function: dict[str, Any] = {"name": tool["name"]}
    if isinstance(tool.get("description"), str):
        function["description"] = tool["description"]
    schema = next((tool[name] for name in _SCHEMAS if tool.get(name) is not None), None)
    if isinstance(schema, str):
        schema = parsed(schema)
    if isinstance(schema, Mapping):
        function["parameters"] = schema["json"] if set(schema) == {"json"} else dict(schema)
    return function
