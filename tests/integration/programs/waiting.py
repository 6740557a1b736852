"""Book one table on the shared bus, say so, and wait for the end."""

from __future__ import annotations

import sys
import time

from agent import book

from atifold import shared_bus

book(shared_bus(), sys.argv[1], "Friday")
print("booked", flush=True)  # noqa: T201 - the test waits for it
time.sleep(60)
