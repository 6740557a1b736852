"""Find the workspace that a folder is in, its repository, and where its ledger lies on the branch."""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

from atifold.runs import declaration
from atifold.runs.declaration import Declaration
from atifold.runs.git import Git, top_of
from atifold.runs.refusal import RefusedError

FOLDER: Final = "_agent-runs"


class Workspace(NamedTuple):
    """A workspace: its declaration, its folder, its repository, and the folder of its ledger on the branch."""

    declaration: Declaration
    folder: Path
    git: Git
    ledger: str

    @property
    def root(self) -> str:
        """Return the workspace's folder as seen from the repository's; `.` where they are one."""
        return self.folder.relative_to(self.git.folder).as_posix()

    def file(self, run: str) -> str:
        """Return the ledger file of a run, on the branch."""
        return f"{self.ledger}/{run}.jsonl"


def locate(folder: Path) -> Workspace:
    """Return the workspace whose declaration is nearest above a folder; raises RefusedError."""
    place = folder.resolve()
    found = _above(place)
    if found is None:
        words = f"{place}: no {declaration.FILES[0]} from here to the repository's top; `atifold runs init` writes one"
        raise RefusedError("declaration-missing", words)
    declared = declaration.read(found)
    top = top_of(place)
    if top is None:
        raise RefusedError(
            "not-a-git-repository", f"{place}: the ledger is a git branch, and here is no work tree of git"
        )
    return Workspace(declared, found, Git(top.resolve()), f"{_prefix(found)}{FOLDER}")


def _above(folder: Path) -> Path | None:
    """Return the nearest folder upward that holds a declaration; the top of a repository ends the search."""
    for place in (folder, *folder.parents):
        if any((place / name).is_file() for name in declaration.FILES):
            return place
        if (place / ".git").exists():
            return None
    return None


def _prefix(folder: Path) -> str:
    """Return `_members/NAME/` for each workspace around this one whose member owns it, the outermost first."""
    if (folder / ".git").exists() or folder.parent == folder:
        return ""
    outer = _above(folder.parent)
    if outer is None:
        return ""
    member = declaration.owner(declaration.read(outer, root=False), folder.relative_to(outer).as_posix())
    return _prefix(outer) + (f"_members/{member.name}/" if member else "")
