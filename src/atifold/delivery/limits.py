"""Say how many bytes a receiver takes in one request, by the protocol that it is sent over."""

from __future__ import annotations

from typing import Final

from atifold.settings import Settings

GRPC: Final = 3_500_000
"""Below 4 MiB, the longest message that a gRPC server takes unless it was told otherwise."""
HTTP: Final = 18_000_000
"""Below 20 MiB, the longest body that the Collector's OTLP/HTTP receiver takes unless it was told otherwise."""

_GRPC_HOME: Final = "opentelemetry.exporter.otlp.proto.grpc"


def max_bytes_over(protocol: str, given: int | None = None) -> int:
    """Return the bytes of a request: the given ones, those of the environment, or those of the protocol."""
    return given or Settings.from_env().export_max_bytes or (GRPC if protocol == "grpc" else HTTP)


def max_bytes_of(exporter: object, given: int | None = None) -> int:
    """Return the bytes of a request of an exporter, whose protocol its class tells.

    Never more than it sends itself (`max_request_size` of the SDK's HTTP exporters).
    """
    limit = max_bytes_over("grpc" if _speaks_grpc(type(exporter)) else "http/protobuf", given)
    own = getattr(exporter, "_max_request_size", None)
    return min(limit, own) if isinstance(own, int) and own > 0 else limit


def _speaks_grpc(kind: type[object]) -> bool:
    return any(base.__module__.startswith(_GRPC_HOME) for base in kind.__mro__)
