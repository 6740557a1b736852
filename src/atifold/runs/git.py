"""Ask git, by its program, and never touch the work tree."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from atifold.runs.ecmascript import trim
from atifold.runs.refusal import RefusedError

TRAILER: Final = "Chant-Run"
_ENVIRONMENT: Final = {"LC_ALL": "C", "LANGUAGE": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}
_NO_IDENTITY: Final = re.compile(
    r"tell me who you are|empty ident|unable to auto-detect|no email was given", re.IGNORECASE
)
_PLAIN: Final = ("-c", "log.showSignature=false")


class Failed(RuntimeError):  # noqa: N818 - what git did, told inside this part only
    """Hold what git said when it failed."""


class Git:
    """The git program in one folder of a repository."""

    def __init__(self, folder: Path) -> None:
        """Take the folder: the top of a work tree."""
        self.folder = folder

    def run(
        self,
        *arguments: str,
        stdin: bytes | None = None,
        env: Mapping[str, str] | None = None,
        timeout_s: float | None = None,
    ) -> bytes:
        """Return what git writes to stdout; raises Failed with its last words."""
        try:
            done = subprocess.run(  # noqa: S603 - the arguments are ours, and what users give is checked before
                ["git", *_PLAIN, *arguments],  # noqa: S607 - the git of the path is the user's
                cwd=self.folder,
                input=b"" if stdin is None else stdin,
                env={**os.environ, **_ENVIRONMENT, **(env or {})},
                capture_output=True,
                check=False,
                timeout=timeout_s,
            )
        except ValueError:  # half a surrogate pair or a zero byte, as a policy may have in its paths
            raise Failed(f"git {arguments[0]} cannot be given these arguments") from None
        except FileNotFoundError as error:
            raise Failed(f"git could not be started: {error.strerror}") from None
        except subprocess.TimeoutExpired:
            raise Failed(f"git {arguments[0]} took longer than {timeout_s:g} s") from None
        if done.returncode:
            raise Failed(done.stderr.decode("utf-8", "replace").strip() or f"git {arguments[0]} failed")
        return done.stdout

    def ask(self, *arguments: str, stdin: bytes | None = None) -> bytes | None:
        """Return what git writes, None where it fails: the answer is no."""
        try:
            return self.run(*arguments, stdin=stdin)
        except Failed:
            return None

    def word(self, *arguments: str) -> str | None:
        """Return git's answer as one word, None where it fails or is silent."""
        found = self.ask(*arguments)
        return None if found is None else trim(found.decode("utf-8", "replace")) or None

    def commit_id(self, revision: str) -> str | None:
        """Return the full id of a commit by any of its names, None where there is none."""
        if revision.startswith("-") or "\0" in revision:
            return None
        return self.word("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")

    def blob(self, revision: str, path: str) -> bytes | None:
        """Return a file as a commit holds it, None where it holds none."""
        return self.ask("cat-file", "blob", f"{revision}:{path}")

    def patch_id(self, commit: str) -> str | None:
        """Return the stable patch id of a commit, None for one that changes nothing itself."""
        shown = self.ask("show", "--format=", "--patch", "--no-color", "--no-ext-diff", commit)
        patch = "" if shown is None else shown.decode("utf-8", "replace")
        if not trim(patch):
            return None
        told = self.ask("patch-id", "--stable", stdin=patch.encode())
        words = [] if told is None else told.decode().split()
        return words[0] if words else None

    def by_trailer(self) -> dict[str, list[str]]:
        """Return the commits of HEAD's history by the run that their trailers name, the newest first."""
        found: dict[str, list[str]] = {}
        form = f"--format=%x00%H%x1f%(trailers:key={TRAILER},valueonly,separator=%x1e)"
        told = self.ask("log", "HEAD", form) if self.commit_id("HEAD") else None
        for record in (told or b"").decode("utf-8", "replace").split("\0"):
            commit, _, values = record.partition("\x1f")
            for value in map(trim, values.split("\x1e")):
                if value:
                    found.setdefault(value, []).append(trim(commit))
        return found

    def commit(self, tree: str, parents: list[str], message: str) -> str:
        """Return the id of a new commit, to which no branch leads yet; raises RefusedError without an identity."""
        named = [word for parent in parents for word in ("-p", parent)]
        try:
            return self.run("commit-tree", tree, *named, "-m", message).decode().strip()
        except Failed as error:
            if _NO_IDENTITY.search(str(error)):
                words = "git has no identity to write the ledger with: git config user.name and user.email were wanted"
                raise RefusedError("write-usage-invalid", words) from None
            raise


def top_of(folder: Path) -> Path | None:
    """Return the top of the work tree that a folder is in, None outside of one (a bare repository has none)."""
    found = Git(folder).word("rev-parse", "--show-toplevel")
    return None if found is None else Path(found)
