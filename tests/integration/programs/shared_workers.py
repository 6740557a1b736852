"""Book tables in worker processes of multiprocessing on the shared bus; the second argument is how these start.

With `pool` as the third one it is a pool, torn down when it has done its work. Of OpenTelemetry this program
knows nothing.
"""

from __future__ import annotations

import multiprocessing
import sys
from typing import Any

from agent import book

from atifold import shared_bus


def work(target: str, days: tuple[str, ...]) -> None:
    """Book for each day."""
    for day in days:
        book(shared_bus(), target, day)


WORK = (("Monday", "Tuesday"), ("Sunday",))


def in_a_pool(context: Any, target: str) -> int:
    """Give the work to a pool."""
    with context.Pool(2) as pool:
        pool.starmap(work, [(target, days) for days in WORK])
    return 0


def in_processes(context: Any, target: str) -> int:
    """Give each part of the work to a process, and return the worst of their exit codes."""
    workers = [context.Process(target=work, args=(target, days)) for days in WORK]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return max(worker.exitcode or 0 for worker in workers)


if __name__ == "__main__":
    target, method, *pool = sys.argv[1:]
    book(shared_bus(), target, "Friday")
    give = in_a_pool if pool else in_processes
    sys.exit(give(multiprocessing.get_context(method), target))
