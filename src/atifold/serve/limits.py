"""Hold where a server listens, and how much it takes at once."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Tls(NamedTuple):
    """The server's certificate (with those above it) and its key, both PEM files."""

    certificate: Path
    key: Path


class Place(NamedTuple):
    """Where a server listens; port 0 is any free one, no gRPC port is no gRPC."""

    host: str = "127.0.0.1"
    port: int = 4318
    grpc_port: int | None = 4317
    tls: Tls | None = None


class Limits(NamedTuple):
    """How much is taken at once, and for how long somebody is waited for.

    `max_body_bytes` holds for a request as it comes and for what it unpacks to. `max_connections` holds for
    HTTP connections and for gRPC calls, each. `requests_bytes` may be in work at once; one request may always.
    """

    max_body_bytes: int = 16_000_000
    max_connections: int = 256
    requests_bytes: int = 16_000_000
    read_s: float = 30.0
    drain_s: float = 10.0
    retry_s: int = 5
