"""Take spans and log records from the program's threads, and fold and write whole traces on one of its own."""

from __future__ import annotations

import contextlib
import logging
import math
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from atifold import process
from atifold.assemble.bounds import Bounds
from atifold.assemble.counts import Counts
from atifold.assemble.inbox import LOOKED_AT_EVERY, TOO_MANY, Ended, Inbox, Logged, Read, Started, Told
from atifold.assemble.sizes import record_size, size_of
from atifold.assemble.table import TraceTable
from atifold.assemble.trace import Carried, Job
from atifold.assemble.writing import Fold, Outbox, Sink
from atifold.spans import LogRecord, Span

_NAP_S: Final = 0.2


class Held(NamedTuple):
    """Bytes that an assembler holds: of traces, of what waits to be folded, of documents without a place."""

    traces: int
    waiting: int
    unsaved: int


class Assembler:
    """Put spans together to traces, fold each once it is whole, and hand its documents to a sink.

    A trace is whole when its local root and all spans that were started have ended; it is then given
    `grace_s` for late spans. Spans that come later still reopen it, and its document is written again.
    A trace nothing came of for `idle_s` is written as it stands. Where one of the `Bounds` is passed,
    finished traces are written before their grace is over, and only then open ones: their documents
    say that they are incomplete, and `counts` how often.

    Every call may come from any thread, none raises, and only `flush` and `shutdown` wait: the others
    append to an inbox, which the worker empties a moment later.
    """

    def __init__(
        self,
        fold: Fold,
        sink: Sink,
        bounds: Bounds,
        *,
        by_conversation: bool = False,
        read: Read | None = None,
        prepare: Callable[[], object] | None = None,
        clock: Callable[[], float] = time.monotonic,
        worker: bool = True,
    ) -> None:
        """Take how spans become documents, where these go, and how much is held for how long.

        `read` understands what is `put`; it runs under the lock, so it is quick and waits for nothing.
        `prepare` is called by the worker once there is something to fold some day. `clock` gives seconds
        and only goes on. Without a `worker` no thread is started: its owner calls `turn`.
        """
        self._read = read if read is not None else _nothing
        self._prepare = prepare
        self._fold = fold
        self._sink = sink
        self._bounds = bounds
        self._by_conversation = by_conversation
        self._clock = clock
        self._has_worker = worker
        self._shut = False
        self._start_clean()
        process.watch(self)

    def _start_clean(self) -> None:
        self._pid = os.getpid()
        # Reentrant: the end of a span in a finalizer or a signal handler may come in the midst of it.
        self._lock = threading.RLock()
        self._due = threading.Condition(self._lock)
        self._working = threading.RLock()
        self._putting_away = False
        self._worker: threading.Thread | None = None
        self._inbox: Inbox = deque()
        self._watched = True
        self._counts = Counts()
        self._table = TraceTable(self._bounds, self._counts, by_conversation=self._by_conversation)
        self._outbox = Outbox(
            self._fold, self._sink, self._counts, clock=self._clock, max_bytes=self._bounds.unsaved_bytes
        )

    # ---- for the program's threads ---------------------------------------------------------------

    def opened(
        self, trace_id: str, span_id: str, parent_span_id: str | None = None, *, remote_parent: bool = False
    ) -> None:
        """Hear that a span was started: its trace is not whole before it has ended."""
        self.put(Started(trace_id, span_id, parent_span_id is None or remote_parent))

    def closed(self, span: Span, *, remote_parent: bool = False, whole: bool = False) -> None:
        """Take a finished span; the first record of it counts, but a `whole` one over one that is not."""
        self.put(Ended(span, remote_parent, whole))

    def logged(self, record: LogRecord) -> None:
        """Take a log record: it is folded with the trace that it names, without one with its session's."""
        self.put(Logged(record))

    def note(self, kind: str, words: str, n: int, *, level: int = logging.INFO) -> None:
        """Count what a fold did not read, or another's trouble, and say it once a kind; without words only count it."""
        self._counts.add(kind, "%s" if words else "", words, n=n, level=level)

    def say(self) -> None:
        """Log what was noted since."""
        self._counts.say()

    def put(self, thing: Any) -> None:
        """Take what `read` turns into a start, an end or a log record when there is time.

        What is read of it must not change any more. This is all that a span costs its own thread.
        """
        inbox = self._inbox
        inbox.append(thing)
        if self._watched or len(inbox) % LOOKED_AT_EVERY == 0:
            self._look(thing)

    def knows(self, trace_id: str, span_id: str) -> bool:
        """Return whether the span's record was put away already; for use in `read`, under the lock."""
        return self._table.knows(trace_id, span_id)

    def _look(self, thing: Any) -> None:
        """Wake the worker, and do its work where the inbox is too full to wait for it."""
        if self._in_child():
            self._inbox.append(thing)
        if self._shut:
            self._leave_out()
            return
        entries = len(self._inbox)
        if entries >= TOO_MANY or (
            entries >= LOOKED_AT_EVERY and self._weight(thing) * entries > self._bounds.inbox_bytes
        ):
            self._put_away()
        self._wake()

    def _in_child(self) -> bool:
        """Start clean after a fork that skipped Python's own hooks (uWSGI without --py-call-uwsgi-fork-hooks)."""
        if os.getpid() == self._pid:
            return False
        self._start_clean()
        return True

    def _weight(self, thing: Any) -> int:
        """Return the bytes that one thing holds, taken for those of the others."""
        with self._lock:
            told = self._told(thing)
        if isinstance(told, Logged):
            return record_size(told.record)
        return size_of(told.span) if isinstance(told, Ended) else 0

    def _told(self, thing: Any) -> Told | None:
        try:
            return thing if isinstance(thing, (Started, Ended, Logged)) else self._read(thing)
        except Exception as error:  # noqa: BLE001 - guards the user's program and the spans beside it
            self._stumble(error)
            return None

    def _leave_out(self) -> None:
        left_out = 0
        with self._lock:
            while self._inbox:
                left_out += isinstance(self._told(self._inbox.popleft()), (Ended, Logged))
        self._counts.add("after_shutdown", "what comes after the shutdown is left out", n=left_out)
        self._counts.say()

    def _put_away(self, most: int | None = None) -> int:
        """Bring what was told into the table, in the order in which it was told; return how much that was.

        With `most` it stops there, and as soon as that makes a job urgent.
        """
        done = 0
        with self._lock:
            if self._putting_away:
                return 0  # further up in this very thread
            self._putting_away = True
            now = self._clock()
            while self._inbox and (most is None or (done < most and not self._table.jobs)):
                told = self._told(self._inbox.popleft())
                done += 1
                try:
                    self._tell(told, now)
                except Exception as error:  # noqa: BLE001 - as above
                    self._stumble(error)
            self._putting_away = False
        return done

    def _catch_up(self, give_up_at: float = math.inf) -> bool:
        """Put away what was told until now, and do what is urgent on the way, so that it does not pile up.

        Returns False where the time (of `time.monotonic`) is over before.
        """
        left = len(self._inbox)
        while (job := self._urgent_job()) is not None or left > 0:
            if job is not None:
                self._do(job)
            elif (done := self._put_away(left)) > 0:
                left -= done
            else:
                break
            if time.monotonic() >= give_up_at:
                return False
        return True

    def _tell(self, told: Told | None, now: float) -> None:
        if isinstance(told, Ended):
            span, remote_parent, whole = told
            self._table.closed(span, size_of(span), now, root=remote_parent or span.parent_id is None, whole=whole)
        elif isinstance(told, Logged):
            self._table.logged(told.record, now)
        elif told is not None:
            self._table.opened(told.trace_id, told.span_id, now, root=told.root)

    @property
    def waiting(self) -> int:
        """Return how many things were told and wait to be put away."""
        return len(self._inbox)

    @property
    def held(self) -> Held:
        """Return the bytes that are held now."""
        with self._lock:
            return Held(self._table.held, self._table.waiting, self._outbox.unsaved_bytes)

    @property
    def counts(self) -> dict[str, int]:
        """Return what happened so far, by kind; a kind that did not happen is not there.

        Documents: `documents_written`, `documents_replaced` (they became part of another one),
        `documents_lost`. Bounds: `trace_bound`, `process_bound`, `grace_cut_short`, `late_parts`,
        `open_spans_forgotten`, `spans_lost`, `after_shutdown`. Log records that are left out: `log_lines`
        (they have no name), `records_without_trace` (nor a session), `records_late` (their span was let go).
        Not read: `no_dialect` (traces, each time they are folded), `content_unread` (model calls). Errors:
        `fold_errors`, `sink_errors`, `internal_errors`.
        """
        return self._counts.as_dict()

    def flush(self, timeout_s: float = 30.0, *, everything: bool = False) -> bool:
        """Fold and write now what is finished or waits without open spans; `everything`: all there is.

        Returns whether all of it was written within the time.
        """
        self._in_child()
        give_up_at = time.monotonic() + timeout_s
        if not self._working.acquire(timeout=max(timeout_s, 0)):
            return False
        try:
            if not self._catch_up(give_up_at):
                return False
            while (job := self._next_job(flush=True, everything=everything)) is not None:
                self._do(job)
                if time.monotonic() >= give_up_at:
                    return False
            return self._outbox.retry(now=True)
        except Exception as error:  # noqa: BLE001 - guards the user's program
            self._stumble(error)
            return False
        finally:
            self._working.release()
            self._counts.say()

    def carried(self, *, written: bool) -> list[Carried]:
        """Return what is held of each trace, for `resume` in another process; `written` as `flush` said."""
        with self._lock:
            return list(self._table.carried(written=written))

    def resume(self, held: Iterable[Carried]) -> None:
        """Go on with what another process had; its documents are written again once more of a trace comes."""
        with self._lock:
            for one in held:
                try:
                    self._table.resume(one, self._clock())
                except Exception as error:  # noqa: BLE001 - one trace must not cost the others
                    self._stumble(error)
        self._wake()

    def shutdown(self, timeout_s: float = 30.0) -> bool:
        """Write everything, unfinished traces as incomplete, and stop; return whether nothing was lost.

        Spans that come afterwards are counted and left out. A second call does nothing.
        """
        with self._lock:
            if self._shut:
                return True
            self._shut = self._watched = True
            self._due.notify_all()
        written = self.flush(timeout_s, everything=True)
        with self._lock:
            lost = self._table.unwritten_spans() + len(self._inbox)
            self._inbox.clear()
            self._table = TraceTable(self._bounds, self._counts)
        if lost:
            self._counts.add("spans_lost", "%d spans were not written by the shutdown", lost, n=lost)
        self._outbox.give_up()
        self._counts.say()
        return written

    def turn(self) -> None:
        """Do now what the worker would do: put away what was told, fold and write what is due."""
        with self._working:
            self._work_off()

    def after_fork(self) -> None:
        """Start clean in a child process: the spans at hand are the parent's, which writes them."""
        self._start_clean()

    # ---- the worker ------------------------------------------------------------------------------

    def _wake(self) -> None:
        """Have the worker look what there is."""
        with self._lock:
            self._watched = self._shut
            if not self._has_worker:
                return
            if self._worker is not None:
                self._due.notify()
                return
            worker = threading.Thread(target=self._work, name="atifold", daemon=True)
            # at the interpreter's end no thread starts any more: flush does the work then
            with contextlib.suppress(RuntimeError):
                worker.start()
                self._worker = worker

    def _work(self) -> None:
        lock = self._lock
        while not self._shut and self._lock is lock:
            busy = bool(self._inbox)
            self.turn()
            self._wait(busy=busy)

    def _wait(self, *, busy: bool) -> None:
        """Sleep until something is due; after a busy moment only a little, so that nobody has to wake us."""
        with self._due:
            wake_at = min(self._table.deadline(), self._outbox.retry_at)
            seconds = max(wake_at - self._clock(), 0.0)
            if busy:
                seconds = min(seconds, _NAP_S)
            self._watched = self._shut or not busy
            # after the flag: who puts something in from here on sees it
            if seconds > 0 and len(self._inbox) < (LOOKED_AT_EVERY if busy else 1) and not self._shut:
                self._due.wait(None if seconds == math.inf else seconds)
            self._watched = self._shut

    def _work_off(self) -> None:
        try:
            self._catch_up()
            self._get_ready()
            while not self._shut and (job := self._next_job()) is not None:
                self._do(job)
            self._outbox.retry()
        except Exception as error:  # noqa: BLE001 - a worker that dies writes nothing any more
            self._stumble(error)
        self._counts.say()

    def _urgent_job(self) -> Job | None:
        with self._lock:
            return self._table.jobs.popleft() if self._table.jobs else None

    def _get_ready(self) -> None:
        """Do what the first fold takes while the first trace waits, so that what comes meanwhile is not held up."""
        prepare = self._prepare
        if prepare is not None and self._table.held:
            self._prepare = None
            prepare()

    def _next_job(self, *, flush: bool = False, everything: bool = False) -> Job | None:
        with self._lock:
            return self._table.next_job(self._clock(), flush=flush, everything=everything)

    def _do(self, job: Job) -> None:
        documents = self._outbox.fold(job)
        if documents is None:
            with self._lock:
                self._table.done(job, self._clock(), None, paused=False)
            return
        beside = job.beside
        own = [document for document in documents if not beside.has(document)]
        paused = any(_is_paused(document.trajectory) for document in own)
        kinship = {trace_id: found for document in own for trace_id, found in document.kinship.items()}
        digests = {document.name: hash(repr(document.trajectory)) for document in documents} if beside.ids else {}
        with self._lock:
            names = {document.name for document in own}
            stale = self._table.done(job, self._clock(), names, paused=paused, kinship=kinship)
            stale |= self._table.done_beside(job, {document.name for document in documents})
            changed = self._table.kin.changed(digests)
        if beside.ids:
            documents = [document for document in documents if document.name in changed]
        self._outbox.write(job, documents, stale)

    def _stumble(self, error: Exception) -> None:
        self._counts.add("internal_errors", "an error of atifold itself: %s", type(error).__name__)


def _nothing(thing: Any) -> Told | None:
    raise TypeError(f"nobody reads a {type(thing).__name__}")


def _is_paused(trajectory: dict[str, object]) -> bool:
    extra = trajectory.get("extra")
    ours = extra.get("atifold") if isinstance(extra, dict) else None
    return isinstance(ours, dict) and ours.get("state") == "paused"
