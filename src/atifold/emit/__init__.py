"""Turn agent events into OpenTelemetry spans."""

from __future__ import annotations

from atifold.emit.emitter import Emitter

__all__ = ["Emitter"]
