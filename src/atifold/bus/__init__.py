"""Take typed agent events from whoever emits them and hand each to whoever listens."""

from __future__ import annotations

from atifold.bus.blocks import ModelBlock, ToolBlock
from atifold.bus.bus import EventBus
from atifold.bus.run import Run

__all__ = ["EventBus", "ModelBlock", "Run", "ToolBlock"]
