"""Put many attributes on an SDK span at once, without having each copied."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opentelemetry.attributes import BoundedAttributes
from opentelemetry.trace import Span


def put(span: Span, attributes: Mapping[str, Any]) -> None:
    """Set attributes that are clean already: texts, numbers, booleans and tuples of these.

    The SDK's own way checks and copies every value, which is most of what a span costs. Where the
    span has no limit that these could pass, they go into its mapping under its lock, as
    `set_attributes` would put them; everywhere else (limits, another SDK) `set_attributes` does it.
    """
    bounded = getattr(span, "_attributes", None)
    if type(bounded) is not BoundedAttributes:
        span.set_attributes(attributes)
        return
    try:
        held = bounded._dict  # noqa: SLF001  see above
        room = bounded.maxlen is None or len(held) + len(attributes) <= bounded.maxlen
        if room and bounded.max_value_len is None and not bounded._immutable:  # noqa: SLF001
            with bounded._lock:  # noqa: SLF001
                held.update(attributes)
            return
    except AttributeError:  # an SDK that keeps them otherwise
        pass
    span.set_attributes(attributes)
