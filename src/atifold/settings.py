"""Hold every setting in one table: its environment variable, its default, how it is read, what it does.

A setting given in code wins over the environment. What stands in the environment never raises: a value
that cannot be read gives one warning line and the default. A mistake in code raises TypeError there.
"""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from enum import Enum
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

_log = logging.getLogger("atifold")

PREFIX: Final = "ATIFOLD_"
SERVE_PREFIX: Final = f"{PREFIX}SERVE_"
"""What variables begin with that stand for options of `atifold serve`; the command minds them."""

_MOST_DIGITS: Final = 18
_MOST_SHOWN: Final = 80  # characters of a value that cannot be read
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

    @property
    def on_events(self) -> bool:
        """Return whether content goes on log events."""
        return self in (Capture.EVENT_ONLY, Capture.SPAN_AND_EVENT)


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


def _size(value: str) -> int:
    if not _is_whole(value):
        raise _UnreadableError("a whole number, 0 or more")
    return int(value)


def _is_whole(value: str) -> bool:
    return value.isascii() and value.isdigit() and len(value) <= _MOST_DIGITS


def _count(value: str) -> int:
    if not (_is_whole(value) and int(value) > 0):
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
        raise _UnreadableError("true, false or one of " + ", ".join(Capture)) from None


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
    max_value: int = 0
    events: Literal["span", "log", "both"] = "span"
    log_unsampled: bool = False
    metrics: Literal["latest", "compat", "both", "off"] = "latest"
    chunk_metrics: bool = False
    attributes: Literal["latest", "compat", "both"] = "latest"
    cost_names: Literal["none", "proposal", "openinference", "openlit", "logfire"] = "none"
    openinference: bool = False
    export_max_bytes: int = 0
    flush_at_sigterm: bool = True
    runs: bool = False

    @classmethod
    def from_env(cls, env: Mapping[str, str] | None = None, /, **overrides: object) -> Settings:
        """Return the settings of `env` (None: the process's environment), `overrides` winning over it.

        An override of None counts as not given; texts are read as the environment's are. A name that
        is no setting, or a value that cannot be read, raises TypeError there (a mistake in code) and
        gives a warning line in the environment.
        """
        names = [row.name for row in SETTINGS]
        for name in sorted(overrides.keys() - set(names)):
            raise TypeError(f"atifold has no setting named {name}{_nearest(name, names)}")
        source = os.environ if env is None else env
        _mind_unknown(source)
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
    return Setting(name, variable or PREFIX + name.upper(), _DEFAULTS[name], parse, doc)


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
    _row(
        "max_value",
        _size,
        "characters of a content value beyond which it is left out and its length named; 0: no limit",
    ),
    _row(
        "events",
        _one_of("span", "log", "both"),
        "what agent events become that are no spans: span (span events), log (log events) or both",
    ),
    _row("log_unsampled", _switch, "emit log events of spans that the sampler dropped"),
    _row(
        "metrics",
        _one_of("latest", "compat", "both", "off"),
        "names of metrics: latest (conventions), compat (older ones, which backends know), both, or off",
    ),
    _row("chunk_metrics", _switch, "record the time between streamed chunks, one measurement a chunk"),
    _row(
        "attributes",
        _one_of("latest", "compat", "both"),
        "names of attributes: latest (conventions), compat (older ones, which backends know) or both",
    ),
    _row(
        "cost_names",
        _one_of("none", "proposal", "openinference", "openlit", "logfire"),
        "whose names for cost are written beside ours: none, proposal, openinference, openlit or logfire",
    ),
    _row(
        "openinference",
        _switch,
        "name kind, input and output of agents and tools as OpenInference does too, which Phoenix shows",
    ),
    _row(
        "export_max_bytes",
        _size,
        "bytes of one request of `atif_otlp` and the splitting exporters; 0: 3,500,000 (gRPC) or 18,000,000 (HTTP)",
    ),
    _row(
        "flush_at_sigterm",
        _switch,
        "without code: pass everything on before SIGTERM ends a program that has no handler",
    ),
    _row("runs", _switch, "record each trajectory in the run ledger of the workspace that its folder is in"),
)
"""All settings, a row for each field of `Settings`, whose default it takes."""


def _value(row: Setting, env: Mapping[str, str], override: object) -> Any:
    if override is not None:
        return _given(row, override)
    text = env.get(row.variable, "").strip()
    try:
        return row.parse(text) if text else row.default
    except _UnreadableError as wanted:
        words = "%s: %r was found, %s was wanted; %s is used"
        if f"{row.variable}={text}" not in _warned:
            _warned.add(f"{row.variable}={text}")
            _log.warning(words, row.variable, text[:_MOST_SHOWN], wanted, _plain(row.default))
        return row.default


def _given(row: Setting, value: object) -> Any:
    """Read what code gave, in its own type or as text."""
    try:
        text = _as_text(value, path=isinstance(row.default, Path)).strip()
        return row.parse(text) if text else row.default
    except _UnreadableError as wanted:
        shown = repr(value if not isinstance(value, int) or value.bit_length() < _MOST_SHOWN else "a huge number")
        raise TypeError(f"{row.name}: {shown[:_MOST_SHOWN]} was found, {wanted} was wanted") from None


def _as_text(value: object, *, path: bool) -> str:
    """Write a value as the environment would hold it; a whole number as such, whatever its type."""
    if path and not isinstance(value, (str, Path)):
        raise _UnreadableError("a path")
    if isinstance(value, int) and value.bit_length() > _MOST_SHOWN:
        raise _UnreadableError("a smaller number")
    whole = isinstance(value, float) and value.is_integer()
    return f"{value:.0f}" if whole else str(_plain(value))


def _plain(value: object) -> object:
    return value.value if isinstance(value, Enum) else value


_warned: set[str] = set()


def _mind_unknown(env: Mapping[str, str]) -> None:
    """Warn of variables that look like settings and are none, of each once in a process."""
    known = [row.variable for row in SETTINGS]
    for name in sorted(name for name in env if name.startswith(PREFIX)):
        if name not in known and name not in _warned and not name.startswith(SERVE_PREFIX):
            _warned.add(name)
            _log.warning("%s: atifold reads no such variable%s", name, _nearest(name, known))


def _nearest(name: str, names: Iterable[str]) -> str:
    """Return words that name what was probably meant, none where nothing is near."""
    import difflib  # noqa: PLC0415 - only a mistake needs it

    bare = {known.removeprefix(PREFIX): known for known in names}  # what all begin with makes none nearer
    near = difflib.get_close_matches(name.removeprefix(PREFIX), bare, n=1, cutoff=0.5)
    return f"; {bare[near[0]]} was meant?" if near else ""
