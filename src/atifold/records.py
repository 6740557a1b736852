"""Make dataclasses that type checkers hold to be frozen, at a tenth of what frozen ones cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:
    from dataclasses import dataclass

    T = TypeVar("T")

    def record(*, frozen: bool, slots: bool) -> Callable[[type[T]], type[T]]:
        """Return what `dataclass(frozen=True, slots=True)` returns, but nobody is stopped from setting a field.

        A frozen dataclass sets each field through `object.__setattr__`: of a call, which has forty, that
        costs more than reading its span.
        """
        return dataclass(slots=slots, unsafe_hash=frozen)


__all__ = ["record"]
