"""`atifold runs start`, `end` and `record`: write a run's start, its end, or both."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from atifold.cli.ledger import answer, put, text_of, writer
from atifold.errors import InputError
from atifold.kinds import is_object

if TYPE_CHECKING:
    from atifold.runs.writing import Appended, Writer

_SESSION = "CHANT_AGENT"
_FROM = click.option("--from", "source", metavar="FILE|-", help="The fields as a JSON object; - is stdin.")


@click.command(name="start")
@_FROM
def start(source: str | None) -> None:
    """Write that a run has started, from --from."""
    if source is None:
        raise click.UsageError("--from was wanted: the fields of the start")
    _write("start", lambda: _session(_fields(source)), lambda to, fields: to.start(fields))


@click.command(name="end")
@click.argument("run")
@_FROM
def end(run: str, source: str | None) -> None:
    """Write that RUN has ended, with what --from says of it."""
    _write("end", lambda: {} if source is None else _fields(source), lambda to, fields: to.end(run, fields))


@click.command(name="record")
@_FROM
@click.option(
    "--trajectory", metavar="FILE", help="An ATIF document instead of --from: it is mapped, and pinned by hash."
)
@click.option("--id", "run_id", metavar="ID", help="The run's id.  [default: the trajectory's]")
@click.option("--outcome", metavar="WORD", help="done, not_done, failed, cancelled.  [default: as the trajectory says]")
@click.option("--commit", "commits", multiple=True, metavar="SHA", help="A commit that the run made; again for more.")
@click.option("--unit", metavar="ID", help="The work item that the run was for.")
@click.option("--harness", metavar="NAME", help="What ran the agent.  [default: the trajectory's agent]")
@click.option("--by", metavar="WHO", help="Whom the run worked for.")
@click.option("--provider", metavar="NAME", help="Who served the model.")
@click.option("--cost-source", metavar="TEXT", help="What priced the run.  [default: harness:NAME]")
def record(source: str | None, trajectory: str | None, **said: Any) -> None:
    """Write a run that is over, from a trajectory or from --from."""
    if (source is None) == (trajectory is None):
        raise click.UsageError("either --from or --trajectory was wanted")
    given = [name for name, value in said.items() if value]
    if source is not None and given:
        raise click.UsageError(f"--{_option(given[0])} goes with --trajectory; --from holds all fields")
    made = (lambda: _mapped(str(trajectory), **said)) if source is None else (lambda: _fields(str(source)))
    _write("record", lambda: _session(made()), lambda to, fields: to.record(fields))


def _option(name: str) -> str:
    return {"run_id": "id", "commits": "commit"}.get(name, name.replace("_", "-"))


def _write(verb: Any, read: Callable[[], Any], write: Callable[[Writer, Any], Appended]) -> None:
    from atifold.runs import documents

    def make() -> dict[str, Any]:
        fields = read()
        return documents.written(verb, write(writer(), fields))

    put(answer(verb, make))


def _fields(source: str) -> Any:
    from atifold.runs.ecmascript import parse_json, trim
    from atifold.runs.refusal import RefusedError

    text = text_of(source, "--from", "write-input-invalid")
    try:
        fields = parse_json(text) if trim(text) else {}
    except ValueError as error:
        raise RefusedError("write-input-invalid", f"--from {source} is no JSON: {error}") from None
    if not is_object(fields):
        raise RefusedError("write-input-invalid", f"--from {source}: an object was wanted")
    return fields


def _session(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields with the agent session of the environment, where they name none."""
    session = os.environ.get(_SESSION)
    return {**fields, "agent": session} if session and "agent" not in fields else fields


def _mapped(
    path: str, *, run_id: str | None, commits: tuple[str, ...], unit: str | None, **said: str | None
) -> dict[str, Any]:
    from atifold.atif.reading import load
    from atifold.runs.refusal import RefusedError
    from atifold.runs.trajectory import Said, fields_of

    try:
        document = load(Path(path))
    except InputError as error:
        raise RefusedError("write-input-invalid", f"--trajectory {error}") from None
    if not isinstance(document.get("steps"), list):
        raise RefusedError("write-input-invalid", f"--trajectory {path}: found no steps, wanted one ATIF document")
    more = {"id": run_id, "commits": list(commits) or None, "unit": unit}
    fields = {**fields_of(document, Said(**said)), "transcript": {"path": path}}
    return {**fields, **{name: value for name, value in more.items() if value is not None}}
