"""Add up what the inferences of one turn took."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any


class Totals:
    """What the inferences of a turn took, and the text of the last one; they may end in several threads."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._lock = threading.Lock()
        self.calls = 0
        self.input_tokens = 0
        self.output_tokens = 0
        self.last_text = ""
        self._priced = {"tokensInput": 0, "tokensOutput": 0, "estimatedUsd": 0.0}

    def add(self, usage: Mapping[str, Any] | None, text: str | None) -> None:
        """Add one inference: its usage by the fields of `llm_end`, and its text, the answer so far."""
        with self._lock:
            self.calls += 1
            if usage:
                self.input_tokens += usage.get("input", 0)
                self.output_tokens += usage.get("output", 0)
            if text:
                self.last_text = text

    def add_cost(self, usage: Mapping[str, Any], cost_usd: float) -> dict[str, float]:
        """Add what one inference cost, in US dollars; return the sums of all that have a price, in wire form."""
        priced = self._priced
        with self._lock:
            priced["tokensInput"] += usage.get("input", 0)
            priced["tokensOutput"] += usage.get("output", 0)
            priced["estimatedUsd"] += cost_usd
            return priced.copy()
