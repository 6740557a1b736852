"""Name the kind, the input and the output of agents, workflows and tools as OpenInference does.

Phoenix makes all else of the conventions' own names; these it makes of them in part or not at all, and its
tables and the top of each trace show them. Names: `openinference.semconv.trace`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from atifold import semconv
from atifold.jsontext import parsed

_JSON: Final = "application/json"
_TEXT: Final = "text/plain"
_MESSAGES: Final = frozenset({semconv.INPUT_MESSAGES, semconv.OUTPUT_MESSAGES})


class Shown(NamedTuple):
    """What a span of one operation is called, and which of its attributes are its input and its output."""

    kind: str
    input: str
    output: str


SHOWN: Final = {
    "invoke_agent": Shown("AGENT", semconv.INPUT_MESSAGES, semconv.OUTPUT_MESSAGES),
    "invoke_workflow": Shown("CHAIN", semconv.INPUT_MESSAGES, semconv.OUTPUT_MESSAGES),
    "execute_tool": Shown("TOOL", semconv.TOOL_ARGUMENTS, semconv.TOOL_RESULT),
}
"""By operation. Model calls are not among them: their messages are shown, and would only be there twice."""

KIND: Final = "openinference.span.kind"
TOOL_NAME: Final = "tool.name"


def shown(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return what stands under these names for a span's attributes; of content only what is among them."""
    row = SHOWN.get(attributes.get(semconv.OPERATION, ""))
    if row is None:
        return {}
    found = {KIND: row.kind}
    if semconv.TOOL_NAME in attributes:
        found[TOOL_NAME] = attributes[semconv.TOOL_NAME]
    for side, name in (("input", row.input), ("output", row.output)):
        value, mime = _value(name, attributes.get(name))
        if value:
            found[f"{side}.value"], found[f"{side}.mime_type"] = value, mime
    return found


def _value(name: str, text: Any) -> tuple[str, str]:
    if not isinstance(text, str):
        return "", _TEXT
    return _said(text) if name in _MESSAGES else _typed(text)


def _typed(text: str) -> tuple[str, str]:
    """Return what a tool was given or gave, and its type: JSON only of objects and lists, as they are shown."""
    return text, _JSON if text.startswith(("{", "[")) and parsed(text) is not None else _TEXT


def _said(text: str) -> tuple[str, str]:
    """Return what a person reads of messages, and its type: the text where one is all there is, else the JSON."""
    match parsed(text):
        case [{"parts": [{"type": "text", "content": str(content)}]}]:
            return content, _TEXT
        case [{"parts": []}]:
            return "", _TEXT
        case _:
            return text, _JSON
