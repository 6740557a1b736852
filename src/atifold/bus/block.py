"""Be a context manager that emits the start and the end of something."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextvars import Token
from types import TracebackType
from typing import TYPE_CHECKING, Any

from typing_extensions import Self

if TYPE_CHECKING:
    from atifold.bus.bus import EventBus


class Block(ABC):
    """A context manager, for `with` and `async with`, whose span is current inside."""

    def __init__(self, bus: EventBus) -> None:
        """Take the bus that the block emits on."""
        self.bus = bus
        self._release: Callable[[], None] | None = None

    @abstractmethod
    def _enter(self) -> None:
        """Emit the start, and make the block's span the current one."""

    @abstractmethod
    def _leave(self, error: BaseException | None) -> None:
        """Make the span before current again, and emit the end; `error` is what leaves the block."""

    def _deactivate(self) -> None:
        release = self._release
        if release is not None:
            self._release = None
            release()

    def __enter__(self) -> Self:
        """Emit the start and return the block."""
        self._enter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Emit the end; an exception goes on to the caller."""
        self._leave(error)

    async def __aenter__(self) -> Self:
        """Emit the start and return the block."""
        self._enter()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Emit the end; an exception goes on to the caller."""
        self._leave(error)


def reset(token: Token[Any] | None) -> None:
    """Undo a setting of a context variable; a generator that another task closes has no way back."""
    if token is not None:
        try:  # noqa: SIM105  contextlib.suppress costs more than the reset
            token.var.reset(token)
        except ValueError:
            pass


def error_type(error: BaseException) -> str:
    """Return the exception's canonical type name, as `error.type` wants it."""
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
