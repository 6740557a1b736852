"""Read a span's name where an attribute is lost: the conventions write it as `{operation} {target}`.

A name proves nothing of a model call (`chat` is what many programs call their own spans), so those are
left to the names of the attributes.
"""

from __future__ import annotations

from typing import Final

_OPERATIONS: Final = frozenset({"execute_tool", "invoke_agent", "invoke_workflow", "create_agent"})


def operation_in(name: str) -> str | None:
    """Return the operation that a span's name begins with, None where that is no sure sign of a call."""
    operation = name.partition(" ")[0]
    return operation if operation in _OPERATIONS else None


def tool_in(name: str) -> str:
    """Return the name of a tool after which its span is called: the word after the operation, else all of it."""
    operation, *target = name.split()[:2] or [""]
    return target[0] if operation == "execute_tool" and target else name
