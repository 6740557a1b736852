"""Take requests, whatever protocol brought them, and have what they hold folded and written."""

from __future__ import annotations

import hmac
import logging
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from atifold.assemble import Assembler, Bounds, Fold, Folding, Sink
from atifold.serve import carrying, figures
from atifold.serve.figures import Figures
from atifold.serve.liberties import words_of
from atifold.serve.limits import Limits
from atifold.serve.refusals import BUSY, CLOSING, FAULT, UNKNOWN, Reason, RefusedError
from atifold.serve.room import Room, Share
from atifold.serve.signals import TRACES, Form, Read, Signal, read, unpacked
from atifold.settings import Settings
from atifold.spans import LogRecord, Span

if TYPE_CHECKING:
    from atifold.fold import Document


class Receiver:
    """Hand the spans and log records of requests to an assembler; any thread may call.

    Nothing is taken that could not be held: where folding or writing does not keep up, requests are
    refused until it does, and whoever sent them keeps them for later.
    """

    def __init__(
        self,
        settings: Settings,
        sink: Sink,
        limits: Limits,
        *,
        token: str | None = None,
        finish: Callable[[Sequence[Document]], Sequence[Document]] = tuple,
        carry: Path | None = None,
    ) -> None:
        """Take the settings of the fold, where documents go, the limits, and the token of requests (None: none).

        `finish` is given documents before they are written; `carry` is the file by which what is held
        goes from a server to the next one.
        """
        self.limits = limits
        self.figures = Figures()
        self.closing = False
        self._closed = False
        self._token = token
        self._bounds = Bounds.of(settings)
        self._room = Room(limits.requests_bytes, limits.retry_s)
        folding = Folding(settings.group, note=self._note, files=True)
        self._assembler = Assembler(
            _finished(folding, finish),
            sink,
            self._bounds,
            by_conversation=settings.group == "conversation",
            prepare=folding.prepare,
        )
        self._carry = carry
        if carry is not None:
            self._assembler.resume(carrying.load(carry))

    # ---- a request -------------------------------------------------------------------------------

    def admit(self, authorization: str | None, open_now: int) -> Share:
        """Return a share of the room for a request; raises RefusedError where it must not or cannot come in.

        `authorization` is the header of that name, `open_now` how many connections or calls there are.
        """
        if self.closing:
            raise RefusedError(CLOSING, "the server is about to stop", retry_s=self.limits.retry_s)
        self.check(authorization)
        if open_now > self.limits.max_connections:
            raise RefusedError(BUSY, "too many connections", retry_s=self.limits.retry_s)
        held = self._assembler.held
        if held.waiting > self._bounds.waiting_bytes // 2 or held.unsaved > self._bounds.unsaved_bytes // 2:
            raise RefusedError(BUSY, "writing does not keep up", retry_s=self.limits.retry_s)
        return self._room.share()

    def check(self, authorization: str | None) -> None:
        """Raise RefusedError where the header does not bear the token, if one is wanted."""
        if self._token is None:
            return
        scheme, _, given = (authorization or "").partition(" ")
        same = hmac.compare_digest(given.strip().encode(errors="replace"), self._token.encode())
        if scheme.lower() != "bearer" or not same:
            raise RefusedError(UNKNOWN, "an Authorization header with the server's bearer token was wanted")

    def take(self, data: bytes, form: Form, signal: Signal, share: Share, *, packed: bool = False) -> Read:
        """Take the body of a request; raises RefusedError where none of it can be read."""
        try:
            if packed:
                data = unpacked(data, self.limits.max_body_bytes)
                share.grow(len(data))
            found = read(data, form, signal)
        except RefusedError:
            raise
        except Exception as error:  # noqa: BLE001  one request must not cost the others, and no word of it stands in a log
            words = f"an error of atifold itself: {type(error).__name__}"
            self._assembler.note("internal_errors", words, 1, level=logging.WARNING)
            raise RefusedError(FAULT, words) from None
        for item in found.items:
            if isinstance(item, Span):
                self._assembler.closed(item)
            else:
                self._assembler.logged(item)
        self.figures.add(figures.SPANS if signal is TRACES else figures.RECORDS, len(found.items))
        for kind, count in found.liberties.items():
            words = f"a client sends {words_of(kind)}, which OTLP's JSON has not: they are taken"
            self._assembler.note(kind, words, count, level=logging.WARNING)
        if found.rejected:
            self.figures.add(figures.REJECTED, found.rejected, signal=signal.name)
        return found

    def count(self, protocol: str, signal: Signal, reason: Reason | None) -> None:
        """Count an answered request; `reason` is None for one that was taken."""
        became = "taken" if reason is None else reason.name
        self.figures.add(figures.REQUESTS, protocol=protocol, signal=signal.name, outcome=became)

    # ---- the whole -------------------------------------------------------------------------------

    @property
    def counts(self) -> dict[str, int]:
        """Return what became of spans, records and documents (`Assembler.counts`)."""
        return self._assembler.counts

    def metrics(self, open_now: dict[str, int]) -> str:
        """Return all figures as Prometheus reads them; `open_now` are connections by protocol."""
        counts, held = self._assembler.counts, self._assembler.held
        written = counts.pop("documents_written", 0)
        return self.figures.text(
            {
                figures.DOCUMENTS: {(): written},
                figures.HAPPENED: {(("kind", kind),): n for kind, n in counts.items()},
                figures.HELD: {(("of", what),): n for what, n in held._asdict().items()},
                figures.IN_WORK: {(): self._room.held},
                figures.CONNECTIONS: {(("protocol", name),): n for name, n in open_now.items()},
            }
        )

    def close(self) -> bool:
        """Write everything, unfinished traces as incomplete, and stop; return whether nothing was lost."""
        if self._carry is not None and not self._closed:
            written = self._assembler.flush(everything=True)
            carrying.save(self._carry, self._assembler.carried(written=written))
        self._closed = True
        return self._assembler.shutdown()

    def _note(self, kind: str, words: str, n: int) -> None:
        self._assembler.note(kind, words, n)


def _finished(folding: Folding, finish: Callable[[Sequence[Document]], Sequence[Document]]) -> Fold:
    def fold(
        spans: Sequence[Span],
        *,
        logs: Sequence[LogRecord] = (),
        incomplete: Sequence[str] = (),
        part: int = 1,
        whole: Collection[str] = (),
    ) -> Sequence[Document]:
        return finish(folding(spans, logs=logs, incomplete=incomplete, part=part, whole=whole))

    return fold
