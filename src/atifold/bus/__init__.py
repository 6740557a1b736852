"""Take typed agent events from whoever emits them and hand each to whoever listens."""

from __future__ import annotations

from atifold.bus.bus import EventBus
from atifold.bus.model_block import ModelBlock
from atifold.bus.run import Run
from atifold.bus.tool_block import ToolBlock

__all__ = ["EventBus", "ModelBlock", "Run", "ToolBlock"]
