"""Book tables in worker processes, one for each day; the second argument is how these are started."""

from __future__ import annotations

import multiprocessing
import sys

from agent import book

from atifold import instrument


def work(target: str, days: tuple[str, ...]) -> None:
    """Book for each day, and end without a word to the provider."""
    bus = instrument()
    for day in days:
        book(bus, target, day)


if __name__ == "__main__":
    target, method = sys.argv[1:]
    book(instrument(), target, "Friday")
    context = multiprocessing.get_context(method)
    workers = [context.Process(target=work, args=(target, days)) for days in (("Monday", "Tuesday"), ("Sunday",))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    sys.exit(max(worker.exitcode or 0 for worker in workers))
