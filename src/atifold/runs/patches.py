"""Join commits to runs by their patch: a commit that was rebased or picked keeps it, but not its id."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from atifold.runs.ecmascript import iso, time_ms
from atifold.runs.git import Git
from atifold.runs.view import Run

_DAY_MS: Final = 86_400_000


def join_patches(runs: Iterable[Run], git: Git) -> None:
    """Add to runs the commits of HEAD's history that are one of their recorded ones anew.

    Looked at are commits since the earliest start of a run that recorded a patch which HEAD's history
    does not have, less one day; no merges, and none that a run has otherwise.
    """
    everyone = list(runs)
    history = set((git.word("rev-list", "HEAD") or "").split())
    lost = [
        (run, commit)
        for run in everyone
        for commit in run["commits"]
        if commit["patchId"] and commit["sha"] not in history
    ]
    starts = [started for run, _ in lost if (started := time_ms(run["startedAt"])) is not None]
    if not starts:
        return
    joined = {commit["sha"] for run in everyone for commit in run["commits"]}
    # git takes a date before 1970 for none at all
    since = f"--since={iso(max(0, min(starts) - _DAY_MS))}"
    recent = (git.word("rev-list", "--no-merges", since, "HEAD") or "").split()
    by_patch: dict[str, list[str]] = {}
    for sha in recent:
        patch = None if sha in joined else git.patch_id(sha)
        if patch is not None:
            by_patch.setdefault(patch, []).append(sha)
    for run, commit in lost:
        for sha in by_patch.get(commit["patchId"], ()):
            if all(known["sha"] != sha for known in run["commits"]):
                again = {"sha": sha, "patchId": commit["patchId"], "joinedBy": ["patch-id"], "hunks": None}
                run["commits"].append({**again, "recordedAs": commit["sha"]})
