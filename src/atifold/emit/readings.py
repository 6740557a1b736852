"""Read the figures of a sealed span that metrics are made of; no value where there is none to tell."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

from atifold import semconv
from atifold.emit.record import Record
from atifold.emit.tally import Calls, Gaps

Reading = Callable[[Record], Sequence[float]]
"""Return the values that one sealed span adds to a metric, none or one, of a stream one for each gap."""

_NONE: Final[tuple[float, ...]] = ()
_ZERO: Final = (0,)


def duration(record: Record) -> Sequence[float]:
    """Return the seconds from start to end, where both are those of the operation.

    Not of a span that is incomplete: its start was cut off or its end never came, and the times that
    it has are those of the events around it. Not of a paused one, which goes on in another span, nor
    of a call that never ran. One that a failure closed ended there.
    """
    if record.end_ns is None or not _is_over(record) or semconv.DISPATCH in record.attributes:
        return _NONE
    return (max(0, record.end_ns - record.start_ns) / 1e9,)


def time_to_first_chunk(record: Record) -> Sequence[float]:
    """Return the seconds until a streamed answer began; also of an answer that then broke off."""
    seconds = record.attributes.get(semconv.TIME_TO_FIRST_CHUNK)
    return _NONE if seconds is None else (seconds,)


def times_per_chunk(record: Record) -> Sequence[float]:
    """Return the seconds between the chunks of a streamed answer."""
    return record.tally.seconds if isinstance(record.tally, Gaps) else _NONE


def reported_tokens(attribute: str) -> Reading:
    """Return a reading of one usage figure as it was reported."""

    def reading(record: Record) -> Sequence[float]:
        count = record.attributes.get(attribute)
        return (count,) if type(count) is int and count >= 0 else _NONE

    return reading


def spent_tokens(attribute: str) -> Reading:
    """Return a reading of one usage figure: 0 of a failed inference that reported no usage at all.

    (Conventions, token metrics: failed operations are recorded too.) Of an inference that succeeded,
    or that only never ended, what was not reported is unknown: no value.
    """
    reported = reported_tokens(attribute)

    def reading(record: Record) -> Sequence[float]:
        if record.error_type is not None and not any(name in record.attributes for name in _USAGE):
            return _ZERO
        return reported(record)

    return reading


_USAGE: Final = (
    semconv.USAGE_INPUT,
    semconv.USAGE_OUTPUT,
    semconv.USAGE_CACHE_READ,
    semconv.USAGE_CACHE_WRITE,
    semconv.USAGE_REASONING,
)


def inference_calls(record: Record) -> Sequence[float]:
    """Return how many inferences an agent made, 0 too; of one that is not over nobody knows."""
    return (record.tally.inference_calls,) if isinstance(record.tally, Calls) and _is_over(record) else _NONE


def tool_calls(record: Record) -> Sequence[float]:
    """Return how many tools an agent ran, 0 too; of one that is not over nobody knows."""
    return (record.tally.tool_calls,) if isinstance(record.tally, Calls) and _is_over(record) else _NONE


def cost(record: Record) -> Sequence[float]:
    """Return the dollars of an inference, or those of an agent beside its inferences, however it ended."""
    for name in (semconv.COST_USD, semconv.COST_OTHER):
        usd = record.attributes.get(name)
        if isinstance(usd, float) and math.isfinite(usd) and usd >= 0:
            return (usd,)
    return _NONE


def _is_over(record: Record) -> bool:
    return record.timed and not record.incomplete
