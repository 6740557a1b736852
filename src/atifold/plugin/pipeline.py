"""Look into a provider's processors, which the SDK has no public way for, and stand in front of them.

An SDK that names these otherwise is no error: nothing is found then, and a processor goes to the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from opentelemetry.sdk.trace import SpanProcessor, TracerProvider

from atifold.plugin.listener import Listener

_NONE: Final[tuple[SpanProcessor, ...]] = ()


def put_in_front(provider: TracerProvider, processor: SpanProcessor) -> None:
    """Add a processor before all that are there, so that it is shut down and flushed first.

    (One after the other, that is: the SDK's ConcurrentMultiSpanProcessor knows no first.)
    """
    active: Any = getattr(provider, "_active_span_processor", None)
    try:
        with active._lock:  # noqa: SLF001 - see the module
            before = active._span_processors  # noqa: SLF001
            if isinstance(before, tuple):
                active._span_processors = (processor, *before)  # noqa: SLF001
                return
    except (AttributeError, TypeError):
        pass
    provider.add_span_processor(processor)


class Doors:
    """Return, when called, each processor and exporter of ours that a provider feeds.

    Looked up anew whenever its processors change; where none is found it is the `known` ones.
    """

    def __init__(self, provider: TracerProvider) -> None:
        """Take the provider; what it is found by is kept, not the provider."""
        self._active = getattr(provider, "_active_span_processor", None)
        self._seen: object = None
        self._found: tuple[Listener, ...] = ()
        self.known: tuple[Listener, ...] = ()

    def __call__(self) -> tuple[Listener, ...]:
        """Return the side doors."""
        processors = getattr(self._active, "_span_processors", _NONE)
        if processors is not self._seen:
            self._found = _ours(processors)
            self._seen = processors
        return self._found or self.known


def _ours(processors: Sequence[object]) -> tuple[Listener, ...]:
    parts = (part for each in processors for part in (each, getattr(each, "span_exporter", None)))
    return tuple(part for part in parts if isinstance(part, Listener))
