"""Read the ledger of a workspace: all runs with their commits, totals, and what their statements are worth."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from atifold.runs import branch, trust
from atifold.runs.ecmascript import time_ms
from atifold.runs.fields import RUN_ID
from atifold.runs.git import Git
from atifold.runs.lines import parse
from atifold.runs.patches import join_patches
from atifold.runs.refusal import RefusedError
from atifold.runs.statement import attest
from atifold.runs.view import Run, fold, join_trailers, shown
from atifold.runs.workspace import Workspace

_TOKENS: Final = (
    ("input", "inputTokens"),
    ("output", "outputTokens"),
    ("cacheRead", "cacheReadTokens"),
    ("cacheWrite", "cacheWriteTokens"),
)


class Ledger(NamedTuple):
    """The runs of a workspace by id, the branch's commit (None: no branch), and how many lines are none."""

    tip: str | None
    runs: dict[str, Run]
    malformed: int


def ledger_of(workspace: Workspace) -> Ledger:
    """Return what the local branch holds; nothing is fetched."""
    tip = branch.tip(workspace.git)
    runs: dict[str, Run] = {}
    malformed = 0
    for run, data in _files(workspace.git, f"{tip}:{workspace.ledger}") if tip else ():
        lines = parse(data, run)
        found = fold(run, workspace.file(run), lines)
        malformed += lines.malformed + (len(lines.events) if found is None else 0)
        if found is not None:
            runs[run] = found
    return Ledger(tip, runs, malformed)


def _files(git: Git, tree: str) -> Iterable[tuple[str, bytes]]:
    """Yield the id and the content of each run's file in a tree."""
    found: list[tuple[str, str]] = []
    for entry in (git.ask("ls-tree", "-z", tree) or b"").split(b"\0"):
        head, _, name = entry.decode("utf-8", "replace").partition("\t")
        run = name.removesuffix(".jsonl")
        if run != name and " blob " in head and RUN_ID.fullmatch(run):
            found.append((run, head.split()[2]))
    told = (
        git.ask("cat-file", "--batch", stdin="".join(f"{blob}\n" for _, blob in found).encode()) or b""
        if found
        else b""
    )
    at = 0
    for run, _ in found:
        end = told.index(b"\n", at)
        size = int(told[at:end].split()[2])
        yield run, told[end + 1 : end + 1 + size]
        at = end + size + 2


def run_of(workspace: Workspace, run: str) -> Run:
    """Return one run with the commits that its trailer joins; raises RefusedError where the ledger has none."""
    found = ledger_of(workspace).runs.get(run)
    if found is None:
        raise RefusedError("run-unknown", f"the ledger has no run {run}")
    join_trailers([found], workspace.git)
    return found


def newest_first(runs: Iterable[Run]) -> list[Run]:
    """Return runs by their start as text, then by id, both downwards."""
    return sorted(runs, key=lambda run: (_units(run["startedAt"]), _units(run["id"])), reverse=True)


def _units(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")


class Filter(NamedTuple):
    """Which runs are read: of a work item, of a decision, for a principal, since a revision."""

    unit: str | None = None
    decision: str | None = None
    by: str | None = None
    since: str | None = None


def read(workspace: Workspace, wanted: Filter, base: str | None = None) -> dict[str, Any]:
    """Return what the read document holds below its head; raises RefusedError for an unknown `since`."""
    ledger = ledger_of(workspace)
    join_trailers(ledger.runs.values(), workspace.git)
    join_patches(ledger.runs.values(), workspace.git)
    policy = trust.at_base(workspace.git, base)
    keep = _kept(workspace.git, wanted)
    runs = [run for run in newest_first(ledger.runs.values()) if keep(run)]
    attested = [{**shown(run), "attestation": attest(run, policy.runners)} for run in runs]
    return {
        "workspace": {"name": workspace.declaration.name, "root": workspace.root},
        "ledger": {"branch": branch.NAME, "dir": workspace.ledger, "commit": ledger.tip},
        "filter": wanted._asdict(),
        "trust": policy.document(),
        "runs": attested,
        "totals": {
            "all": totals(runs),
            "byUnit": _grouped("unit", runs, lambda run: [run["unit"]["id"] if run["unit"] else None]),
            "byDecision": _grouped("decision", runs, lambda run: run["decisions"]),
            "byPrincipal": _grouped("principal", runs, lambda run: [run["by"]]),
        },
        "malformed": ledger.malformed,
        "reasons": _reasons(ledger, workspace.ledger),
    }


def _kept(git: Git, wanted: Filter) -> Callable[[Run], bool]:
    since = None if wanted.since is None else git.commit_id(wanted.since)
    if wanted.since is not None and since is None:
        raise RefusedError("revision-unknown", f"--since {wanted.since} names no commit of this repository")
    newer = set((git.word("rev-list", f"{since}..HEAD") or "").split()) if since else set[str]()
    since_ms = int(git.word("show", "-s", "--format=%ct", since) or 0) * 1000 if since else 0

    def keep(run: Run) -> bool:
        started = time_ms(run["startedAt"])
        return (
            (wanted.unit is None or (bool(run["unit"]) and run["unit"]["id"] == wanted.unit))
            and (wanted.decision is None or any(wanted.decision in (d, d.partition("/")[2]) for d in run["decisions"]))
            and (wanted.by is None or run["by"] == wanted.by)
            and (
                since is None
                or any(commit["sha"] in newer for commit in run["commits"])
                or (started is not None and started > since_ms)
            )
        )

    return keep


def _reasons(ledger: Ledger, folder: str) -> list[dict[str, str]]:
    found = []
    if ledger.tip is None:
        words = f"there is no branch {branch.NAME} here, so there are no runs; `git fetch` brings a remote's"
        found.append({"code": "runs-no-ledger", "message": words})
    if ledger.malformed:
        words = f"lines of {folder} that are no events of a run, left out: {ledger.malformed}"
        found.append({"code": "runs-ledger-malformed", "message": words})
    return found


def totals(runs: Sequence[Run]) -> dict[str, Any]:
    """Return the tokens and costs of runs summed up; what a run does not tell is named, never counted as zero."""
    tokens = dict.fromkeys((name for name, _ in _TOKENS), 0)
    cost: dict[str, float] = {}
    for run in runs:
        for name, field in _TOKENS:
            tokens[name] += (run["usage"] or {}).get(field) or 0
        if run["cost"]:
            currency = run["cost"]["currency"]
            cost[currency] = _rounded(cost.get(currency, 0) + run["cost"]["amount"])
    return {
        "runs": len(runs),
        "running": sum(run["state"] == "running" for run in runs),
        "tokens": tokens,
        "cost": [{"currency": currency, "amount": cost[currency]} for currency in sorted(cost)],
        "unpriced": [run["id"] for run in runs if not run["cost"]],
        "unreported": [run["id"] for run in runs if not run["usage"]],
    }


def _rounded(amount: float) -> float:
    """Return an amount to the millionth, halves upwards, as ECMAScript's Math.round does it."""
    scaled = amount * 1e6
    if not math.isfinite(scaled):
        return amount
    whole = math.floor(scaled)
    return (whole + (scaled - whole >= 0.5)) / 1e6  # noqa: PLR2004 - a half


def _grouped(name: str, runs: Sequence[Run], keys: Callable[[Run], Iterable[Any]]) -> list[Mapping[str, Any]]:
    """Return the totals of runs by each key that they have, in the order in which the keys come."""
    groups: dict[Any, list[Run]] = {}
    for run in runs:
        for key in keys(run):
            groups.setdefault(key, []).append(run)
    return [{name: key, **totals(group)} for key, group in groups.items()]
