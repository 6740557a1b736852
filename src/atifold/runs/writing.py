"""Write runs to the ledger: a start, an end, both at once, a statement.

What is refused raises RefusedError, and nothing is written then.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from atifold.runs import branch
from atifold.runs.canonical import canonical, digest
from atifold.runs.ecmascript import iso, time_ms
from atifold.runs.fields import RUN_ID, Commit, EndFields, Instruction, Pin, RecordFields, StartFields, read
from atifold.runs.git import Git
from atifold.runs.lines import Line, Lines, appended, end_line, parse, start_line, statement_line
from atifold.runs.refusal import RefusedError
from atifold.runs.workspace import Workspace


class Appended(NamedTuple):
    """A run after a write: its lines, its file, and where the write went."""

    run: str
    file: str
    lines: Lines
    written: branch.Written


class Writer(NamedTuple):
    """Who writes: the workspace, the folder that paths are seen from, the clock (ms since 1970), random hex digits."""

    workspace: Workspace
    folder: Path
    now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000
    token: Callable[[], str] = lambda: secrets.token_hex(4)

    def start(self, value: Any) -> Appended:
        """Write the start of a run."""
        fields = read(StartFields, value)
        at = fields.startedAt or iso(self.now_ms())
        run = fields.id or self._new_id(at)
        line = start_line(fields, run, at, self._pinned(fields.instruction, "instruction"))
        return self._append(run, _unused([line], run), f"Agent run start: {run}")

    def record(self, value: Any) -> Appended:
        """Write a run that is over, start and end in one."""
        fields = read(RecordFields, value)
        ended = fields.endedAt or iso(self.now_ms())
        started = fields.startedAt or ended
        _mind_order(started, ended)
        run = fields.id or self._new_id(started)
        start = start_line(fields, run, started, self._pinned(fields.instruction, "instruction"))
        transcript = self._pinned(fields.transcript, "transcript")
        end = end_line(fields, run, ended, transcript, _commits(self.workspace.git, fields.commits))
        return self._append(run, _unused([start, end], run), f"Agent run: {run}")

    def end(self, run: str, value: Any) -> Appended:
        """Write the end of a run that was started."""
        if not RUN_ID.fullmatch(run):
            raise RefusedError("run-unknown", f"{run!r} is no run id")
        fields = read(EndFields, value)
        at = fields.endedAt or iso(self.now_ms())
        commits = _commits(self.workspace.git, fields.commits)
        line = end_line(fields, run, at, self._pinned(fields.transcript, "transcript"), commits)

        def make(lines: Lines) -> list[Line]:
            start = lines.first("start")
            if start is None:
                raise RefusedError("run-unknown", f"the ledger has no run {run}: `runs start` begins one")
            if lines.first("end") is not None:
                raise RefusedError("run-ended", f"run {run} has ended already")
            _mind_order(start["at"], at)
            return [line]

        return self._append(run, make, f"Agent run end: {run}")

    def statement(self, run: str, envelope: Line, record: str) -> Appended:
        """Write a signed statement, if the run's record still has the digest that was signed."""
        line = statement_line(run, iso(self.now_ms()), envelope)
        try:
            canonical(line)
        except ValueError as error:  # what stands beside the signed payload may be anything
            raise RefusedError("envelope-invalid", f"the envelope cannot be written to the ledger: {error}") from None

        def make(lines: Lines) -> list[Line]:
            start, end = lines.first("start"), lines.first("end")
            if start is None or end is None or digest([start, end]) != record:
                raise RefusedError("run-statement-mismatch", f"the record of run {run} changed while it was signed")
            return [line]

        return self._append(run, make, f"Agent run statement: {run}")

    def _append(self, run: str, make: Callable[[Lines], list[Line]], message: str) -> Appended:
        after = b""

        def more(data: bytes) -> bytes:
            nonlocal after
            after = appended(data, make(parse(data, run)))
            return after

        file = self.workspace.file(run)
        written = branch.write(self.workspace.git, file, more, message)
        return Appended(run, file, parse(after, run), written)

    def _new_id(self, started: str) -> str:
        at = iso(time_ms(started) or 0).lstrip("+-").partition(".")[0]
        return f"{at.replace('-', '').replace(':', '')}Z-{self.token()}"

    def _pinned(self, pin: Pin | None, what: str) -> Line | None:
        """Return a pin as lines have it; a file is hashed, and its ref is its path unless another is given."""
        if pin is None:
            return None
        excerpt = {"excerpt": pin.excerpt} if isinstance(pin, Instruction) and pin.excerpt is not None else {}
        if pin.path is None:
            return {"sha256": pin.sha256, "bytes": None, "ref": pin.ref, **excerpt}
        try:
            data = (self.folder / pin.path).read_bytes()
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise RefusedError("write-input-invalid", f"{what}.path: {pin.path} cannot be read: {why}") from None
        return {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data), "ref": pin.ref or pin.path, **excerpt}


def _unused(made: list[Line], run: str) -> Callable[[Lines], list[Line]]:
    def make(lines: Lines) -> list[Line]:
        if lines.events:
            raise RefusedError("run-exists", f"the ledger has a run {run} already")
        return made

    return make


def _mind_order(started: str, ended: str) -> None:
    first, last = time_ms(started), time_ms(ended)
    if first is not None and last is not None and last < first:
        raise RefusedError("write-input-invalid", f"endedAt {ended} is before the start at {started}")


def _commits(git: Git, given: list[Commit] | None) -> list[Line]:
    """Return the commits of an end by their full ids; one that is given again adds its hunks."""
    found: dict[str, Line] = {}
    for commit in given or ():
        sha = git.commit_id(commit.sha)
        if sha is None:
            raise RefusedError("write-input-invalid", f"commits: {commit.sha} names no commit of this repository")
        line = found.setdefault(sha, {"sha": sha})
        if commit.hunks is not None:
            line["hunks"] = line.get("hunks", []) + [hunk.model_dump() for hunk in commit.hunks]
    return [{**line, "patchId": git.patch_id(sha)} for sha, line in found.items()]
