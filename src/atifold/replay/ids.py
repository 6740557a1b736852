"""Derive the ids of replayed spans from what was recorded: the same recording gives the same ids."""

from __future__ import annotations

import hashlib

from opentelemetry.sdk.trace.id_generator import IdGenerator


class ReplayIds(IdGenerator):
    """Ids from run ids, span keys and a seed.

    The emitter says before each start what comes next; the tracer then asks for the ids.
    """

    def __init__(self, seed: str = "") -> None:
        """Take the seed: another one gives other ids for the same recording."""
        self._seed = seed
        self._run_id = ""
        self._key = ""
        self._used: set[int] = set()

    def tell(self, run_id: str, key: str) -> None:
        """Say which run and which span in it is started next."""
        self._run_id = run_id
        self._key = key

    def generate_trace_id(self) -> int:
        """Return the run's trace id."""
        return _number(16, self._seed, "trace", self._run_id)

    def generate_span_id(self) -> int:
        """Return the span's id; a key that comes again counts on."""
        count = 0
        while True:
            span_id = _number(8, self._seed, "span", self._run_id, self._key, str(count))
            if span_id not in self._used:
                self._used.add(span_id)
                return span_id
            count += 1


def _number(size: int, *parts: str) -> int:
    digest = hashlib.sha256("\x00".join(parts).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:size], "big") or 1
