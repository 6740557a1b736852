"""Name the attributes that an event's fields become: `agentfootprint.<domain>.<field>` in snake case."""

from __future__ import annotations

import re
from typing import Final

_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def attribute_name(domain: str, path: str) -> str:
    """Return the attribute of a leaf's path; all elements of a list are in one.

    >>> attribute_name("agentfootprint.tools", "checkedItems[].what")
    'agentfootprint.tools.checked_items'
    """
    return f"{domain}.{_HUMP.sub('_', path.partition('[]')[0]).lower()}"
