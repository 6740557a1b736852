"""Keep the run ledger: which run, what it cost, which transcript, signed."""

from __future__ import annotations
