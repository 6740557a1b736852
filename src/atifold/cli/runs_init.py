"""`atifold runs init`: the two files that a ledger needs, for a person to look at and to commit."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from atifold.cli.ledger import key_of, refuse
from atifold.cli.words import one_line, say


@click.command(name="init", short_help="Declare this folder a workspace, and list a runner's key.")
@click.option("--runner", metavar="NAME", help="Who signs runs: a service or a CI job, never a person.")
@click.option("--key", metavar="PEM", help="Its Ed25519 key; only the public half is written.")
def init(runner: str | None, key: str | None) -> None:
    """Write a declaration of this folder as a workspace, and a trust policy that lists a runner's key.

    Files that are there stay as they are. Both count once they are committed: the policy is read from the
    main branch.
    """
    from atifold.runs.declaration import FILES
    from atifold.runs.git import top_of
    from atifold.runs.refusal import RefusedError

    if (runner is None) != (key is None):
        refuse("init", "write-usage-invalid", "--runner and --key go together")
    folder = Path.cwd()
    top = top_of(folder)
    if top is None:
        refuse("init", "not-a-git-repository", f"{folder}: the ledger is a git branch; `git init` first")
    try:
        policy = None if runner is None or key is None else _policy(runner, key_of(key))
    except RefusedError as error:
        refuse("init", error.code, error.message)
    if not any((folder / name).is_file() for name in FILES):
        _write(folder / FILES[0], {"name": _name(folder), "schema": 1, "members": []})
    else:
        say(f"kept the declaration in {folder}")
    if policy is not None:
        _trust(top, policy)


def _policy(runner: str, pem: bytes) -> dict[str, Any]:
    from atifold.runs.dsse import load_key
    from atifold.runs.ecmascript import trim
    from atifold.runs.refusal import RefusedError

    if not trim(runner):
        raise RefusedError("write-usage-invalid", "--runner: a name was wanted")
    return {"schema": 1, "runners": [{"principal": trim(runner), "class": "runner", "key": load_key(pem).public}]}


def _trust(top: Path, policy: dict[str, Any]) -> None:
    from atifold.runs.trust import FILE

    path = top / FILE
    if not path.exists():
        _write(path, policy)
    elif policy["runners"][0]["key"] in path.read_text(encoding="utf-8", errors="replace"):
        say(f"kept {path}, which lists the key")
    else:
        say(f"kept {path}, which does not list {policy['runners'][0]['key']}: add it there")


def _write(path: Path, value: dict[str, Any]) -> None:
    import orjson

    from atifold.errors import OutputError
    from atifold.sinks import write_file

    try:
        write_file(path, orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    except OutputError as error:
        refuse("init", "write-usage-invalid", one_line(error))
    say(f"wrote {path}; commit it")


def _name(folder: Path) -> str:
    """Return the folder's name as a workspace may be called."""
    plain = re.sub("[^a-z0-9-]+", "-", folder.resolve().name.lower()).strip("-")[:40]
    return plain or "workspace"
