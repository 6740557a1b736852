"""Put many attributes on an SDK span at once, without having each copied; the important ones last."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from opentelemetry.attributes import BoundedAttributes
from opentelemetry.trace import Span

from atifold import semconv


def put(span: Span, attributes: Mapping[str, Any]) -> None:
    """Set attributes that are clean already: texts, numbers, booleans and tuples of these.

    The SDK's own way checks and copies every value, which is most of what a span costs. Where the
    span has no limit that these could pass, they go into its mapping under its lock, as
    `set_attributes` would put them; everywhere else (limits, another SDK) `set_attributes` does it.
    A limit of the SDK takes the oldest away, so what makes a span readable comes last.
    """
    bounded = getattr(span, "_attributes", None)
    if type(bounded) is not BoundedAttributes:
        span.set_attributes(rising(attributes))
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
    span.set_attributes(rising(attributes))


_LAST: Final = (
    semconv.CONVERSATION,
    semconv.FINISH_REASONS,
    semconv.RESPONSE_ID,
    semconv.RESPONSE_MODEL,
    semconv.USAGE_OUTPUT,
    semconv.USAGE_INPUT,
    semconv.TOOL_CALL_ID,
    semconv.WORKFLOW_NAME,
    semconv.AGENT_NAME,
    semconv.TOOL_NAME,
    semconv.REQUEST_MODEL,
    semconv.PROVIDER,
    semconv.ERROR_TYPE,
    semconv.OWN_OPERATION,
    semconv.OPERATION,
)
"""What says most of a span or log event, in rising importance."""

_RANKS: Final = {name: rank for rank, name in enumerate(_LAST, start=2)}


def rising(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return attributes in rising importance: facts of our own, those of the conventions, what says most."""
    return {name: attributes[name] for name in sorted(attributes, key=_rank)}


def _rank(name: str) -> int:
    return _RANKS.get(name) or int(name.startswith("gen_ai."))
