"""Fold the lines of a run to what documents show of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from atifold.kinds import is_list, is_object
from atifold.runs.canonical import digest
from atifold.runs.ecmascript import MOST_EXACT
from atifold.runs.git import Git
from atifold.runs.lines import Line, Lines

Run = dict[str, Any]
"""A run as the documents have it: every key is there, what is unknown is null."""

_SHA256: Final = re.compile("[0-9a-f]{64}")
_COMMIT: Final = re.compile("[0-9a-f]{40,64}")
_COUNTS: Final = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
_USAGE: Final = ("cacheReadTokens", "cacheWriteTokens", "inputTokens", "outputTokens", "turns")


def fold(run: str, file: str, lines: Lines) -> Run | None:
    """Return a run by its lines, None where none of them is a start.

    Anybody can write a line: what is not of the shape that documents have counts as unknown here, while
    digests are those of the lines as they stand.
    """
    start, end = lines.first("start"), lines.first("end")
    if start is None:
        return None
    known: Mapping[str, Any] = end or {}
    records = [_record(item) for item in _items(start, "records") if _is_record(item)]
    return {
        "id": run,
        "state": "running" if end is None else "ended",
        "startedAt": start["at"],
        "endedAt": known.get("at"),
        "outcome": _text(known.get("outcome")),
        "by": _text(start.get("by")),
        "agent": _text(start.get("agent")),
        "harness": _harness(start.get("harness")),
        "model": _text(start.get("model")),
        "provider": _text(start.get("provider")),
        "unit": _unit(start.get("unit")),
        "lease": _text(start.get("lease")),
        "records": records,
        "instruction": _pin(start.get("instruction")),
        "usage": _usage(known.get("usage")),
        "models": [_model(item) for item in _items(known, "models") if is_object(item) and _text(item.get("model"))],
        "cost": _cost(known.get("cost")),
        "transcript": _pin(known.get("transcript")),
        "commits": [_commit(item) for item in _items(known, "commits") if _is_commit(item)],
        "decisions": sorted({f"decision/{record['id']}" for record in records if record["kind"] == "decision"}),
        "ledger": file,
        "record": None if end is None else {"sha256": digest([start, end])},
        "statements": [{"at": line["at"], "envelope": line["envelope"]} for line in lines.statements],
    }


def shown(run: Run) -> Run:
    """Return a run as documents show it: of a stored envelope that is none, as much as has the shape of one."""
    statements = [{"at": item["at"], "envelope": _envelope(item["envelope"])} for item in run["statements"]]
    return {**run, "statements": statements}


def join_trailers(runs: Iterable[Run], git: Git) -> None:
    """Add to runs the commits of HEAD's history whose trailer names them, after those that their ends list."""
    named = git.by_trailer()
    for run in runs:
        listed = {commit["sha"]: commit for commit in run["commits"]}
        for sha in named.get(run["id"], ()):
            if sha not in listed:
                listed[sha] = {"sha": sha, "patchId": git.patch_id(sha), "joinedBy": [], "hunks": None}
                run["commits"].append(listed[sha])
            if "trailer" not in listed[sha]["joinedBy"]:
                listed[sha]["joinedBy"].append("trailer")


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _items(line: Mapping[str, Any], key: str) -> list[Any]:
    items = line.get(key)
    return list(items) if is_list(items) else []


def _count(value: object) -> int | None:
    fits = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_EXACT
    return value if fits and isinstance(value, int) else None


def _harness(value: object) -> Line:
    told = value if is_object(value) else {}
    return {"name": _text(told.get("name")) or "", "version": _text(told.get("version"))}


def _unit(value: object) -> Line | None:
    if not is_object(value) or _text(value.get("id")) is None:
        return None
    return {"id": value["id"], "kind": _text(value.get("kind"))}


def _is_record(value: object) -> bool:
    return is_object(value) and all(_text(value.get(key)) is not None for key in ("kind", "id"))


def _record(value: Line) -> Line:
    return {"kind": value["kind"], "id": value["id"]}


def _pin(value: object) -> Line | None:
    if not is_object(value) or not _SHA256.fullmatch(_text(value.get("sha256")) or ""):
        return None
    pin = {"bytes": _count(value.get("bytes")), "ref": _text(value.get("ref")), "sha256": value["sha256"]}
    excerpt = _text(value.get("excerpt"))
    return pin if excerpt is None else {**pin, "excerpt": excerpt}


def _usage(value: object) -> Line | None:
    return {key: _count(value.get(key)) for key in _USAGE} if is_object(value) else None


def _cost(value: object) -> Line | None:
    if not is_object(value):
        return None
    amount, currency, source = value.get("amount"), _text(value.get("currency")), _text(value.get("source"))
    is_sum = isinstance(amount, (int, float)) and not isinstance(amount, bool) and amount >= 0
    if not is_sum or not re.fullmatch("[A-Z]{3}", currency or "") or source is None:
        return None
    return {"amount": amount, "currency": currency, "source": source}


def _model(value: Line) -> Line:
    counts = {key: _count(value.get(key)) for key in _COUNTS}
    return {
        "model": value["model"],
        "provider": _text(value.get("provider")),
        **counts,
        "cost": _cost(value.get("cost")),
    }


def _is_commit(value: object) -> bool:
    return is_object(value) and _COMMIT.fullmatch(_text(value.get("sha")) or "") is not None


def _commit(value: Line) -> Line:
    hunks = [hunk for hunk in map(_hunk, _items(value, "hunks")) if hunk is not None]
    return {
        "sha": value["sha"],
        "patchId": _text(value.get("patchId")),
        "joinedBy": ["record"],
        "hunks": hunks or None,
    }


def _hunk(value: object) -> Line | None:
    if not is_object(value) or _text(value.get("path")) is None:
        return None
    start, end = _count(value.get("start")), _count(value.get("end"))
    return {"path": value["path"], "start": start, "end": end} if start and end else None


def _envelope(value: Line) -> Line:
    """Return an envelope as it stands, or as much of it as has the shape of one."""
    texts = {key: _text(value.get(key)) or "" for key in ("payload", "payloadType")}
    keys = ("keyid", "sig")
    kept = [
        item
        for item in _items(value, "signatures")
        if is_object(item) and all(_text(item.get(k)) is not None for k in keys)
    ]
    whole = all(_text(value.get(key)) is not None for key in texts) and kept == value.get("signatures")
    return value if whole else {**texts, "signatures": kept}
