"""Collect spans and log records into whole traces within bounds of bytes, and have each folded and written."""

from __future__ import annotations

from atifold.assemble.assembler import Assembler
from atifold.assemble.bounds import Bounds
from atifold.assemble.folding import Folding
from atifold.assemble.trace import Carried
from atifold.assemble.writing import Fold, Sink

__all__ = ["Assembler", "Bounds", "Carried", "Fold", "Folding", "Sink"]
