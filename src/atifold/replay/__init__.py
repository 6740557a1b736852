"""Play recordings through the bus: spans and log events of their own time, and the trajectories they fold to."""

from __future__ import annotations

from atifold.replay.files import LogFile, SpanFile
from atifold.replay.player import Replayed, replay

__all__ = ["LogFile", "Replayed", "SpanFile", "replay"]
