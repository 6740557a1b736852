"""Book one table on the shared bus; of OpenTelemetry this program knows nothing."""

from __future__ import annotations

import sys

from agent import book

from atifold import shared_bus

book(shared_bus(), sys.argv[1], "Friday")
