"""Read spans and log records out of OTLP and of what servers export, and write them as OTLP JSON Lines.

A container is recognised by what is in it, never by its file name. Each container format is one
module of this package; `containers` picks the one that fits.
"""

from __future__ import annotations

from atifold.otlp.batch import Batch
from atifold.otlp.containers import parse, read
from atifold.otlp.encode import encode_lines, requests_of
from atifold.otlp.encode_logs import LogEvent, Scope, encode_log_lines
from atifold.otlp.encode_records import resource_logs
from atifold.otlp.naming import container_of

__all__ = [
    "Batch",
    "LogEvent",
    "Scope",
    "container_of",
    "encode_lines",
    "encode_log_lines",
    "parse",
    "read",
    "requests_of",
    "resource_logs",
]
