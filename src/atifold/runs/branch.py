"""Keep files on the ledger's branch: commits by compare-and-swap, joined with a remote's, never forced.

Trees are made in an index of their own; the work tree, its index and what is checked out stay as they are.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from atifold.runs.git import Failed, Git
from atifold.runs.locking import in_turn
from atifold.runs.refusal import RefusedError

NAME: Final = "chant/lifecycle"
_REF: Final = f"refs/heads/{NAME}"
_TRIES: Final = 50
"""How often a commit is made anew because another writer was first; each wait is longer, to a tenth of a second."""
_PUSHES: Final = 5
_REMOTE_S: Final = 60.0
_REJECTED: Final = ("non-fast-forward", "fetch first", "[rejected]", "stale info", "cannot lock ref")


class Written(NamedTuple):
    """Where a write went: the commit, and why it did not reach the remote, None where it did."""

    commit: str
    not_pushed: str | None


Make = Callable[[bytes], bytes]
"""Takes a file as it is (empty where there is none) and returns it as it shall be; may refuse by raising."""


def tip(git: Git) -> str | None:
    """Return the commit of the local branch, None where there is no branch."""
    return git.commit_id(_REF)


def write(git: Git, path: str, make: Make, message: str) -> Written:
    """Write one file to the branch, on top of what the remote has; nothing is written where `make` raises."""
    remote = _Remote.first(git)
    theirs = remote.fetch() if remote else None
    try:
        with in_turn(git):
            commit = _append(git, path, make, message, theirs)
    except Failed as error:
        raise RefusedError("write-usage-invalid", f"git could not write the ledger: {_first_line(error)}") from None
    return Written(commit, remote.push() if remote else "the repository has no remote")


def _append(git: Git, path: str, make: Make, message: str, theirs: str | None) -> str:
    last = Failed("another writer was always first")
    for number in range(_TRIES):
        ours = tip(git)
        base = _joined_or_ours(git, ours, theirs)
        content = make((git.blob(base, path) if base else None) or b"")
        tree = _tree_with(git, base, {path: content})
        commit = git.commit(tree, [base] if base else [], message)
        try:
            _swap(git, commit, ours, message)
        except Failed as error:
            last = error
            time.sleep(random.uniform(0, min(0.005 * (number + 1), 0.1)))  # noqa: S311 - so that two writers part
        else:
            return commit
    raise last


def _swap(git: Git, commit: str, before: str | None, message: str) -> None:
    """Lead the branch to a commit, if it still leads to the one before (None: is not there); else raises Failed."""
    git.run("update-ref", "-m", message, _REF, commit, before or "")


def _tree_with(git: Git, base: str | None, files: dict[str, bytes]) -> str:
    """Return a tree: that of a commit, with these files in it."""
    with tempfile.TemporaryDirectory() as folder:
        index = {"GIT_INDEX_FILE": str(Path(folder, "index"))}
        git.run("read-tree", *([base] if base else ["--empty"]), env=index)
        for path, data in files.items():
            blob = git.run("hash-object", "-w", "--stdin", "--no-filters", stdin=data).decode().strip()
            git.run("update-index", "--add", "--cacheinfo", f"100644,{blob},{path}", env=index)
        return git.run("write-tree", env=index).decode().strip()


# ---- two histories ---------------------------------------------------------------------------------


def _joined_or_ours(git: Git, ours: str | None, theirs: str | None) -> str | None:
    try:
        return joined(git, ours, theirs)
    except Failed:
        return ours  # it is said when the push is refused


def joined(git: Git, ours: str | None, theirs: str | None) -> str | None:
    """Return a commit that holds both histories: one of them, or a merge that keeps the lines of both.

    Raises Failed where a file that is no ledger of lines was changed on both sides.
    """
    if ours is None or theirs is None or ours == theirs:
        return ours or theirs
    if git.ask("merge-base", "--is-ancestor", theirs, ours) is not None:
        return ours
    if git.ask("merge-base", "--is-ancestor", ours, theirs) is not None:
        return theirs
    empty = git.run("mktree").decode().strip()
    base = git.word("merge-base", ours, theirs) or empty
    with tempfile.TemporaryDirectory() as folder:
        index = {"GIT_INDEX_FILE": str(Path(folder, "index"))}
        git.run("read-tree", "-i", "-m", "--aggressive", base, ours, theirs, env=index)
        settled = b"".join(_settled(git, path, sides) for path, sides in _unmerged(git, index).items())
        git.run("update-index", "-z", "--index-info", stdin=settled, env=index)
        tree = git.run("write-tree", env=index).decode().strip()
    return git.commit(tree, [ours, theirs], f"Agent runs: join {NAME}")


def _unmerged(git: Git, index: dict[str, str]) -> dict[bytes, dict[str, str]]:
    """Return the blobs of each path that git could not merge, by side: 1 the base, 2 ours, 3 theirs."""
    found: dict[bytes, dict[str, str]] = {}
    for entry in git.run("ls-files", "-u", "-z", env=index).split(b"\0"):
        head, _, path = entry.partition(b"\t")
        if path:
            _, blob, stage = head.decode().split()
            found.setdefault(path, {})[stage] = blob
    return found


def _settled(git: Git, path: bytes, sides: dict[str, str]) -> bytes:
    """Return the index entries that settle a path: one that a side removed stays, lines of both are kept."""
    kept = [sides[side] for side in ("3", "2") if side in sides]
    if len(kept) > 1:
        if not path.endswith(b".jsonl"):
            raise Failed(f"{path.decode('utf-8', 'replace')} was changed on both sides")
        data = lines_of_both(*(git.run("cat-file", "blob", blob) for blob in kept))
        kept = [git.run("hash-object", "-w", "--stdin", "--no-filters", stdin=data).decode().strip()]
    zeros = "0" * len(kept[0])
    removed, added = f"0 {zeros}\t".encode() + path, f"100644 {kept[0]}\t".encode() + path
    return removed + b"\0" + added + b"\0"


def lines_of_both(theirs: bytes, ours: bytes) -> bytes:
    """Return the lines of two versions of a file: theirs, then those that only ours has."""
    first = [line for line in theirs.split(b"\n") if line]
    known = set(first)
    return b"\n".join([*first, *(line for line in ours.split(b"\n") if line and line not in known)])


# ---- the remote ------------------------------------------------------------------------------------


class _Remote(NamedTuple):
    git: Git
    name: str

    @classmethod
    def first(cls, git: Git) -> _Remote | None:
        """Return the first remote that git names, None where there is none."""
        names = (git.ask("remote") or b"").decode("utf-8", "replace").split("\n")
        return cls(git, names[0]) if names[0] else None

    def fetch(self) -> str | None:
        """Return the commit of the remote's branch; None where it has none or cannot be reached."""
        kept = f"refs/remotes/{self.name}/{NAME}"
        try:
            self.git.run(
                "fetch",
                "--quiet",
                "--no-tags",
                "--no-write-fetch-head",
                self.name,
                f"+{_REF}:{kept}",
                timeout_s=_REMOTE_S,
            )
        except Failed:
            return None
        return self.git.commit_id(kept)

    def push(self) -> str | None:
        """Bring the branch to the remote; return why that could not be, None where it was done."""
        said = ""
        for _ in range(_PUSHES):
            try:
                self.git.run("push", "--quiet", self.name, f"{_REF}:{_REF}", timeout_s=_REMOTE_S)
            except Failed as error:
                said = str(error)
            else:
                return None
            if not any(word in said for word in _REJECTED):
                return f"git refused the push: {_first_line(said)}"
            try:
                self._catch_up()
            except Failed as error:
                return f"the remote holds commits that cannot be joined: {_first_line(error)}"
        return "the remote holds commits this checkout has not fetched"

    def _catch_up(self) -> None:
        """Join what the remote has meanwhile."""
        ours, theirs = tip(self.git), self.fetch()
        both = joined(self.git, ours, theirs)
        if both is not None and both != ours:
            try:
                _swap(self.git, both, ours, f"Agent runs: join {NAME}")
            except Failed:
                return  # another writer was first: the next try sees its work


def _first_line(error: Failed | str) -> str:
    lines = [line for line in str(error).splitlines() if line.strip() and not line.startswith(("hint:", "To "))]
    return (lines[0] if lines else "no reason given").strip()
