"""Write durations, token counts and sums of money the way people read them."""

from __future__ import annotations

from rich.text import Text

_SECOND = 1_000
_MINUTE = 60

NONE = Text("–", style="dim")


def duration(nanoseconds: int | None) -> str:
    """Return a duration in the unit that suits its size, three figures at most; None is unknown."""
    if nanoseconds is None:
        return "open"
    milliseconds = max(0, nanoseconds) / 1_000_000
    if milliseconds < 1:
        return f"{milliseconds:.1f} ms"
    if milliseconds < _SECOND:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / _SECOND
    if seconds < _MINUTE:
        return f"{seconds:.1f} s"
    return f"{seconds // _MINUTE:.0f} min {seconds % _MINUTE:.0f} s"


def money(usd: float | None) -> Text:
    """Return US dollars without trailing zeros; None is unknown, which is not nothing."""
    if usd is None:
        return NONE
    digits = f"{usd:.6f}".rstrip("0")
    whole, _, cents = digits.partition(".")
    return Text(f"${whole}.{cents:0<2}")


def count(number: float | None) -> Text:
    """Return a number with a comma at the thousands; None is unknown, which is not nothing."""
    return NONE if number is None else Text(f"{number:,}")
