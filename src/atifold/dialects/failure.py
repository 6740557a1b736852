"""Tell whether a span failed, and why."""

from __future__ import annotations

from typing import Any, Final

from atifold.calls import Failure
from atifold.dialects.values import parsed, word
from atifold.kinds import is_object
from atifold.spans import Attributes, Span, Status

_MARKS: Final = ("isError", "is_error")
"""Keys with which MCP, and frameworks after it, say in a result that the tool failed."""

_HOLDERS: Final = ("result", "output", "response")
"""Keys of an object that only wraps a result."""


def tells_failure(result: Any) -> bool:
    """Tell whether a tool's result itself says that the tool failed: as MCP's does, or the AI SDK's by its type."""
    if isinstance(result, str):
        worth = result.startswith("{") and any(f'"{mark}"' in result for mark in (*_MARKS, "type"))
        result = parsed(result) if worth else None
    if is_object(result) and len(result) == 1:
        result = next((result[key] for key in _HOLDERS if key in result), result)
    if not is_object(result):
        return False
    is_error_value = str(result.get("type")).startswith("error-") and "value" in result
    return is_error_value or any(result.get(mark) is True for mark in _MARKS)


def failure(span: Span) -> Failure | None:
    """Return why a span failed, None when it did not.

    Its status says so, or `error.type`, or, unless the status is OK, an exception event.
    """
    exceptions = [event.attributes for event in span.events if event.name == "exception"]
    error_type = word(span.attributes.get("error.type"))
    is_error = span.status is Status.ERROR or error_type is not None
    if not is_error and (span.status is Status.OK or not exceptions):
        return None
    raised: Attributes = exceptions[-1] if exceptions else {}
    message = span.status_message or word(raised.get("exception.message"))
    return Failure(error_type or word(raised.get("exception.type")), message or None)
