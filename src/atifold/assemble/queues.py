"""Keep traces in the queues that they wait in, each in order of what is due next."""

from __future__ import annotations

from collections import OrderedDict

from atifold.assemble.trace import Queue, Trace


class Queues:
    """Traces, each in the queue that it names; who comes into one has no earlier deadline than who is in it.

    A call costs the same however many traces there are.
    """

    def __init__(self) -> None:
        """Start without traces; `waiting` has those of each queue by their ids."""
        self.waiting: dict[Queue, OrderedDict[str, Trace]] = {queue: OrderedDict() for queue in Queue}

    def enter(self, trace: Trace, deadline: float) -> None:
        """Have a new trace wait in the queue that it names."""
        self.waiting[trace.queue][trace.id] = trace
        trace.deadline = deadline

    def move(self, trace: Trace, queue: Queue, deadline: float) -> None:
        """Have a trace wait at the end of a queue, which may be the one that it is in."""
        if trace.queue is queue:
            self.waiting[queue].move_to_end(trace.id)
            trace.deadline = deadline
        else:
            self.leave(trace)
            trace.queue = queue
            self.enter(trace, deadline)

    def leave(self, trace: Trace) -> None:
        """Let go of a trace."""
        del self.waiting[trace.queue][trace.id]

    def first(self, *queues: Queue) -> Trace | None:
        """Return what is due first in any of these queues, None where all of them are empty."""
        fronts = (next(iter(self.waiting[queue].values()), None) for queue in queues)
        return min((front for front in fronts if front is not None), key=lambda front: front.deadline, default=None)
