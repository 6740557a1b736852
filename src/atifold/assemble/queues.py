"""Keep traces where they wait, those first whose deadline is first."""

from __future__ import annotations

from collections import OrderedDict

from atifold.assemble.trace import Queue, Trace


class Queues(dict[Queue, "OrderedDict[str, Trace]"]):
    """The traces that wait in each queue, by id, in order of their deadlines."""

    def __init__(self) -> None:
        """Start with nobody waiting."""
        super().__init__((queue, OrderedDict()) for queue in Queue)

    def enter(self, trace: Trace, deadline: float) -> None:
        """Have a new trace wait where it says."""
        self[trace.queue][trace.id] = trace
        trace.deadline = deadline

    def move(self, trace: Trace, queue: Queue, deadline: float) -> None:
        """Have a trace wait as the last of a queue, which may be the one that it is in."""
        if trace.queue is queue:
            self[queue].move_to_end(trace.id)
            trace.deadline = deadline
            return
        self.leave(trace)
        trace.queue = queue
        self.enter(trace, deadline)

    def leave(self, trace: Trace) -> None:
        """Let go of a trace."""
        del self[trace.queue][trace.id]

    def first(self, *queues: Queue) -> Trace | None:
        """Return what is due first in any of these queues."""
        fronts = (next(iter(self[queue].values()), None) for queue in queues)
        return min((front for front in fronts if front is not None), key=lambda front: front.deadline, default=None)

    def next_due(self, now: float, *, flush: bool, everything: bool) -> Trace | None:
        """Return the next trace to write; `flush` waits for nothing but open spans, `everything` not even for these."""
        for queue in (Queue.DUE, Queue.ROOTLESS, Queue.OPEN):
            front = self.first(queue)
            if front is not None and (front.deadline <= now or everything or (flush and queue is not Queue.OPEN)):
                return front
        return None

    def oldest(self) -> Trace | None:
        """Return the oldest trace that holds spans: of those written, else of those finished, else of those open."""
        for queues in ((Queue.WRITTEN,), (Queue.PAUSED,), (Queue.DUE,), (Queue.STALE,), (Queue.OPEN, Queue.ROOTLESS)):
            front = self.first(*queues)
            if front is not None:
                return front
        return None
