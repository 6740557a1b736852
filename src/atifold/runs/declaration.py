"""Read a workspace's declaration: what makes a folder a workspace, and which members own its folders."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final, NamedTuple

from atifold.kinds import is_list, is_object
from atifold.runs.refusal import RefusedError

FILES: Final = ("chant.workspace.json", "chant.workspace.jsonc")
READER: Final = "0.104.0"
"""The version of chant whose documents and rules these are."""

_PACKAGE: Final = "@intentius/chant"
_VERSION: Final = re.compile(r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(?:-([0-9A-Za-z.-]+))?")
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_KIND: Final = re.compile(r"[a-z][a-z0-9-]{0,39}")
_DIR: Final = re.compile(r"\.|(?!\.\.?(?:/|$))[^/\\]+(?:/(?!\.\.?(?:/|$))[^/\\]+)*")
_SIGNS: Final = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])', re.DOTALL)
_KNOWN: Final = frozenset(
    {
        "$schema",
        "$comment",
        "name",
        "schema",
        "minReader",
        "members",
        "pins",
        "quorum",
        "records",
        "hosts",
        "diagrams",
        "checks",
        "changes",
        "writeScope",
        "agents",
        "identity",
    }
)
_GROUP: Final = frozenset({"name", "kind", "glob", "suppress"})
_MEMBER: Final = frozenset(
    {"name", "dir", "kind", "roles", "generated", "outputs", "links", "records", "diagrams", "box", "upstream"}
    | {"travel", "because", "suppress"}
)


class Member(NamedTuple):
    """A folder of the workspace that has an owner; `.` is the workspace's own."""

    name: str
    dir: str


class Declaration(NamedTuple):
    """What the ledger needs of a declaration."""

    name: str
    members: tuple[Member, ...]


def read(folder: Path, *, root: bool = True) -> Declaration:
    """Return the declaration in a folder; raises RefusedError as the reference orders it.

    `root` says whether a chant that it pins must be the one whose rules these are.
    """
    found = [folder / name for name in FILES if (folder / name).is_file()]
    if not found:
        raise RefusedError("declaration-missing", f"{folder}: no {' or '.join(FILES)}; `atifold runs init` writes one")
    if len(found) > 1:
        raise RefusedError("declaration-ambiguous", f"{folder}: {' and '.join(FILES)} are both there: keep one")
    value = _parse(found[0])
    if not is_object(value):
        raise RefusedError("declaration-invalid", f"{found[0]}: an object was wanted")
    if root:
        _mind_pins(value, found[0])
    _mind_reader(value, found[0])
    fault = _fault(value)
    if fault:
        raise RefusedError("declaration-invalid", f"{found[0]}: {fault}")
    members = tuple(Member(entry["name"], entry["dir"]) for entry in value["members"] if entry["kind"] != "examples")
    _mind_placement(members, found[0])
    return Declaration(value["name"], members)


def _parse(path: Path) -> Any:
    try:
        text = path.read_bytes().decode("utf-8", "replace").removeprefix("\ufeff")
        if path.suffix == ".jsonc":
            text = _SIGNS.sub(lambda found: found[0] if found[0].startswith('"') else " ", text)
            text = _SIGNS.sub(lambda found: "" if found[0] == "," else found[0], text)
        return json.loads(text, object_pairs_hook=_once, parse_constant=_refuse)
    except (ValueError, RecursionError, OSError) as error:
        raise RefusedError("declaration-unparseable", f"{path}: {error}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _mind_pins(value: dict[str, Any], path: Path) -> None:
    pins = value.get("pins")
    ours = (pin for pin in (pins if is_list(pins) else ()) if is_object(pin) and pin.get("package") == _PACKAGE)
    version = next((pin["version"] for pin in ours if isinstance(pin.get("version"), str)), READER)
    if version != READER:
        words = f"{path}: it pins {_PACKAGE} {version}, and the rules here are those of {READER}"
        raise RefusedError("root-chant-required", words)


def _mind_reader(value: dict[str, Any], path: Path) -> None:
    wanted = value.get("minReader")
    if isinstance(wanted, str) and _VERSION.fullmatch(wanted) and _order(READER) < _order(wanted):
        words = f"{path}: it wants a reader of {wanted} or newer, and the rules here are those of {READER}"
        raise RefusedError("reader-too-old", words)


def _order(version: str) -> tuple[int, int, int, bool, str]:
    found = _VERSION.fullmatch(version)
    if found is None:
        raise ValueError(version)
    return int(found[1]), int(found[2]), int(found[3]), found[4] is None, found[4] or ""


def _fault(value: dict[str, Any]) -> str | None:
    """Return what is wrong with a declaration's shape, None where nothing is."""
    unknown = _unknown(value, _KNOWN)
    if unknown:
        return unknown
    if not _is(_NAME, value.get("name")):
        return "name: lower-case letters, digits and hyphens were wanted, 40 at most"
    if value.get("schema") != 1 or isinstance(value.get("schema"), bool):
        return "schema: 1 was wanted"
    if "minReader" in value and not _is(_VERSION, value["minReader"]):
        return "minReader: a version such as 1.2.3 was wanted"
    members = value.get("members")
    if not isinstance(members, list):
        return "members: a list was wanted"
    faults = (f"members[{index}]: {fault}" for index, entry in enumerate(members) if (fault := _entry_fault(entry)))
    names = [entry.get("name") for entry in members if is_object(entry)]
    twice = next((name for index, name in enumerate(names) if name in names[:index]), None)
    return next(faults, None) or (None if twice is None else f"members: the name {twice!r} stands twice")


def _entry_fault(entry: Any) -> str | None:
    """Return what is wrong with a member or a group of examples, None where nothing is."""
    if not is_object(entry):
        return "an object was wanted"
    is_group = entry.get("kind") == "examples"
    unknown = _unknown(entry, _GROUP if is_group else _MEMBER)
    checks = (
        (_is(_KIND, entry.get("kind")), "kind: lower-case letters, digits and hyphens were wanted"),
        (_is(_NAME, entry.get("name")), "name: lower-case letters, digits and hyphens were wanted, 40 at most"),
        (not is_group or bool(entry.get("glob")), "glob: a pattern was wanted"),
        (is_group or _is(_DIR, entry.get("dir")), "dir: a folder inside the workspace was wanted"),
        (entry.get("kind") != "other" or bool(entry.get("because")), "because: a reason was wanted"),
    )
    return unknown or next((words for fits, words in checks if not fits), None)


def _unknown(value: dict[str, Any], known: frozenset[str]) -> str | None:
    """Return which field nobody knows, None where there is none; names that begin with x- are anybody's."""
    found = sorted(key for key in value if key not in known and not key.startswith("x-"))
    return f"unknown field {found[0]!r}" if found else None


def _is(pattern: re.Pattern[str], value: object) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def _mind_placement(members: tuple[Member, ...], path: Path) -> None:
    for index, member in enumerate(members):
        for other in members[:index] + members[index + 1 :]:
            if member.dir == other.dir:
                words = f"{path}: {member.name} and {other.name} have one folder, {member.dir}"
                raise RefusedError("placement-invalid", words)
            if other.dir != "." and inside(member.dir, other.dir):
                words = f"{path}: {member.name} ({member.dir}) lies inside {other.name} ({other.dir})"
                raise RefusedError("placement-invalid", words)


def inside(path: str, folder: str) -> bool:
    """Tell whether a path is a folder or below it, both seen from the workspace; `.` is all of it."""
    return folder in (".", path) or path.startswith(f"{folder}/")


def owner(declaration: Declaration, path: str) -> Member | None:
    """Return the member with the deepest folder that holds a path, None where it is nobody's or the root's."""
    held = [member for member in declaration.members if member.dir != "." and inside(path, member.dir)]
    return max(held, key=lambda member: len(member.dir), default=None)
