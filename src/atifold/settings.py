"""Hold every setting in one table: its environment variable, its default, how it is read, what it does.

A setting given in code wins over the environment. Reading never raises into a program: a value that
cannot be read gives one warning line and the default.
"""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from enum import Enum
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

_log = logging.getLogger("atifold")

CAPTURE_VARIABLE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"


class Capture(str, Enum):
    """Where content (texts of people, models and tools) may go in the pipeline."""

    NO_CONTENT = "NO_CONTENT"
    SPAN_ONLY = "SPAN_ONLY"
    EVENT_ONLY = "EVENT_ONLY"
    SPAN_AND_EVENT = "SPAN_AND_EVENT"

    @property
    def on_spans(self) -> bool:
        """Return whether content goes on spans."""
        return self in (Capture.SPAN_ONLY, Capture.SPAN_AND_EVENT)


class _UnreadableError(ValueError):
    """Say what was wanted instead of the value that was found."""


def _text(value: str) -> str:
    return value


def _path(value: str) -> Path:
    return Path(value).expanduser()


def _number(value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number >= 0):
        raise _UnreadableError("a number of seconds, 0 or more")
    return number


def _count(value: str) -> int:
    if not (value.isascii() and value.isdigit() and int(value) > 0):
        raise _UnreadableError("a whole number above 0")
    return int(value)


_SWITCH = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}


def _switch(value: str) -> bool:
    try:
        return _SWITCH[value.lower()]
    except KeyError:
        raise _UnreadableError("true or false") from None


_LEGACY_CAPTURE = {"TRUE": Capture.SPAN_AND_EVENT, "FALSE": Capture.NO_CONTENT, "0": Capture.NO_CONTENT}


def _capture(value: str) -> Capture:
    word = value.upper()
    if word in _LEGACY_CAPTURE:
        return _LEGACY_CAPTURE[word]
    try:
        return Capture(word)
    except ValueError:
        raise _UnreadableError("one of " + ", ".join(Capture)) from None


def _one_of(*words: str) -> Callable[[str], str]:
    def parse(value: str) -> str:
        if value.lower() not in words:
            raise _UnreadableError("one of " + ", ".join(words))
        return value.lower()

    return parse


@dataclass(frozen=True, slots=True)
class Settings:
    """The values of all settings; `SETTINGS` says what each means."""

    dir: Path = Path("trajectories")
    group: Literal["trace", "conversation"] = "trace"
    grace_s: float = 2.0
    idle_s: float = 60.0
    retain_s: float = 300.0
    max_bytes: int = 64_000_000
    max_trace_bytes: int = 16_000_000
    max_open_spans: int = 10_000
    follow_sampler: bool = False
    capture_content: Capture = Capture.NO_CONTENT
    session_id: Literal["raw", "hashed"] = "raw"

    @classmethod
    def from_env(cls, env: Mapping[str, str] | None = None, /, **overrides: object) -> Settings:
        """Return the settings of `env` (None: the process's environment), `overrides` winning over it.

        An override of None counts as not given; texts are read as the environment's are. A name that
        is no setting raises TypeError (a mistake in code, not in the environment).
        """
        unknown = overrides.keys() - {row.name for row in SETTINGS}
        if unknown:
            raise TypeError(f"atifold has no setting named {', '.join(sorted(unknown))}")
        source = os.environ if env is None else env
        return cls(**{row.name: _value(row, source, overrides.get(row.name)) for row in SETTINGS})


class Setting(NamedTuple):
    """One row: the field of `Settings`, its environment variable, default, parser and meaning."""

    name: str
    variable: str
    default: Any
    parse: Callable[[str], Any]
    doc: str


_DEFAULTS: Final = {field.name: field.default for field in fields(Settings)}


def _row(name: str, parse: Callable[[str], Any], doc: str, variable: str = "") -> Setting:
    return Setting(name, variable or f"ATIFOLD_{name.upper()}", _DEFAULTS[name], parse, doc)


SETTINGS: Final = (
    _row("dir", _path, "folder that live trajectories are written to"),
    _row("group", _one_of("trace", "conversation"), "what one document covers: trace or conversation"),
    _row("grace_s", _number, "seconds that a finished trace waits for late spans before it is written"),
    _row("idle_s", _number, "seconds without a span after which an open trace is written as it stands"),
    _row("retain_s", _number, "seconds that a written trace is kept, so that a late span can rewrite it"),
    _row("max_bytes", _count, "bytes of spans held in one process"),
    _row("max_trace_bytes", _count, "bytes of spans held of one trace"),
    _row("max_open_spans", _count, "started spans whose end is waited for"),
    _row("follow_sampler", _switch, "leave out spans that the sampler dropped"),
    _row(
        "capture_content",
        _capture,
        "where content goes in the pipeline: NO_CONTENT, SPAN_ONLY, EVENT_ONLY or SPAN_AND_EVENT",
        CAPTURE_VARIABLE,
    ),
    _row("session_id", _one_of("raw", "hashed"), "gen_ai.conversation.id as it is, or its hash"),
)
"""All settings, a row for each field of `Settings`, whose default it takes."""


def _value(row: Setting, env: Mapping[str, str], override: object) -> Any:
    if override is not None:
        return _read(row, row.name, override) if isinstance(override, str) else override
    return _read(row, row.variable, env.get(row.variable, ""))


def _read(row: Setting, where: str, text: str) -> Any:
    text = text.strip()
    if not text:
        return row.default
    try:
        return row.parse(text)
    except _UnreadableError as wanted:
        _log.warning("%s: %r was found, %s was wanted; %s is used", where, text, wanted, _plain(row.default))
        return row.default


def _plain(value: object) -> object:
    return value.value if isinstance(value, Enum) else value
