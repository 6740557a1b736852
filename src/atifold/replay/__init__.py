"""Play recordings through the bus: spans of their own time, and the trajectories they fold to."""

from __future__ import annotations

from atifold.replay.files import SpanFile
from atifold.replay.player import Replayed, replay

__all__ = ["Replayed", "SpanFile", "replay"]
