"""Make a span the current one for as long as its block lasts, in whatever order and context blocks are left."""

from __future__ import annotations

from contextvars import ContextVar

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.context import Context

(_SPAN,) = trace.set_span_in_context(trace.INVALID_SPAN, Context())
"""The key under which a context holds its current span; `set_span_in_context` for each block costs twice the copy."""

_BLOCK = otel_context.create_key("atifold-block")

_token = otel_context.attach(otel_context.get_current())
_CURRENT: ContextVar[Context] = _token.var
"""Where the API keeps the current context: for each block its own functions cost three times as much."""
otel_context.detach(_token)


class Current:
    """A span that is current until called; `is_left` says that it was."""

    __slots__ = ("_before", "_span", "_token", "is_left")

    def __init__(self, span: trace.Span) -> None:
        """Make a span of ours the current one of this thread or task."""
        before = _CURRENT.get()
        block = before.get(_BLOCK)
        if block is not None and block.is_left:  # type: ignore[attr-defined]  # contexts hold anything
            before = sound(before)
            _CURRENT.set(before)
        self._before = before
        self._span = span
        self.is_left = False
        self._token = _CURRENT.set(Context({**before, _SPAN: span, _BLOCK: self}))

    def __call__(self) -> None:
        """Make the span current that was so before; where another one is current by now, it stays so.

        A generator may be left in another context than it was entered in (a task that closes it has a
        copy): there the copy is put right, and the context it was entered in when a block is next
        entered or left there.
        """
        self.is_left = True
        try:  # noqa: SIM105  contextlib.suppress costs more than the reset
            _CURRENT.reset(self._token)
        except ValueError:  # another task or thread leaves the block
            pass
        context = _CURRENT.get()
        block = context.get(_BLOCK)
        if block is not None and block.is_left:  # type: ignore[attr-defined]  # contexts hold anything
            _CURRENT.set(sound(context))

    def outside(self, context: Context) -> Context | None:
        """Return a context without this block's span; None where the block lasts, or its span is not current."""
        if not self.is_left or context.get(_SPAN) is not self._span:
            return None
        entries = {key: value for key, value in context.items() if key not in (_SPAN, _BLOCK)}
        entries.update({key: self._before[key] for key in (_SPAN, _BLOCK) if key in self._before})
        return Context(entries)


def sound(context: Context) -> Context:
    """Return a context in which no span of a block that was left is current: itself, where that is so."""
    block = context.get(_BLOCK)
    while isinstance(block, Current):
        repaired = block.outside(context)
        if repaired is None:
            break
        context = repaired
        block = context.get(_BLOCK)
    return context
