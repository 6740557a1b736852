"""Emit takes on a harness, and keep all that was said and counted meanwhile."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest
from catalogue import Take

from atifold import semconv
from atifold.emit import Emitter
from atifold.events.envelope import Event, parse
from atifold.plugin import attach
from atifold.testing import Harness


class Performed(NamedTuple):
    """What a whole recording became, and what was said meanwhile."""

    harness: Harness
    counts: dict[str, int]
    sealed: dict[str, set[str]]
    """By run: operations of the spans that its event had exported."""
    said: list[str]


def perform(takes: Iterable[Take], **settings: Any) -> Performed:
    """Emit takes, each event as it comes; a Python warning is an error."""
    emitters, made = [], attach.emitter_of
    plays = [(take, [parse(wire) for wire in take.events]) for take in takes]

    def keep(*given: Any) -> Emitter:
        emitters.append(made(*given))
        return emitters[-1]

    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(), _heard() as lines:
        warnings.simplefilter("error")
        patch.setattr(attach, "emitter_of", keep)
        with Harness(**settings) as harness:
            sealed = {take.run_id: _emitted(harness, events, take.at) for take, events in plays}
    (emitter,) = emitters
    return Performed(harness, dict(emitter.counts), sealed, lines)


def _emitted(harness: Harness, events: Sequence[Event[Any]], place: int) -> set[str]:
    """Emit events; return the operations of the spans that the one at `place` sealed."""
    sealed: set[str] = set()
    for at, event in enumerate(events):
        before = len(harness.spans) if at == place else 0
        harness.bus.emit(event)
        if at == place:
            sealed = {operation_of(span) for span in harness.spans[before:]}
    return sealed


def operation_of(span: Any) -> str:
    """Return what a span is, by the conventions' name or by ours."""
    attributes = span.attributes or {}
    return str(attributes.get(semconv.OPERATION) or attributes.get(semconv.OWN_OPERATION))


@contextmanager
def _heard() -> Iterator[list[str]]:
    """Keep the lines, from WARNING on, of our own and of the SDK's loggers."""
    handler = _Handler(logging.WARNING)
    loggers = [logging.getLogger(name) for name in ("atifold", "opentelemetry")]
    for logger in loggers:
        logger.addHandler(handler)
    try:
        yield handler.lines
    finally:
        for logger in loggers:
            logger.removeHandler(handler)


class _Handler(logging.Handler):
    def __init__(self, level: int) -> None:
        super().__init__(level)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())
