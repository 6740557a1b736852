"""`atifold dialects`: what is read, and what a file speaks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import click

from atifold.cli.inputs import TRACES, files
from atifold.cli.summary import counts
from atifold.cli.traces import read_traces
from atifold.cli.words import Tally, busy, line, plural, say
from atifold.jsontext import to_json_text

if TYPE_CHECKING:
    from atifold.dialects import Survey
    from atifold.dialects.survey import Spoken, Unspoken
    from atifold.otlp import Batch

_KEYS: Final = 12
"""How many keys that nobody reads are shown; all of them are in the JSON."""


@click.command(name="dialects")
@click.argument("inputs", nargs=-1, metavar="[FILE...]")
@click.option("--json", "as_json", is_flag=True, help="One JSON object, for machines.")
@click.pass_context
def command(context: click.Context, inputs: tuple[str, ...], *, as_json: bool) -> None:
    """Say what traces in files speak, and what of it is not read.

    Of each FILE the container is told; of all of them together the dialects with their spans and log
    records, versions where they can be told, keys that nobody reads, and spans that are no calls, by
    reason. Of what speaks no dialect that is read the scopes and keys are told. A FILE is any that
    `atifold fold` reads, also a folder or - for stdin. Without a FILE the dialects that are read are
    listed.
    """
    if not inputs:
        _put(_all()) if as_json else _show_all()
        return
    tally = Tally()
    paths, complaints = files(inputs, TRACES)
    containers: dict[str, str] = {}
    batch, unread = read_traces(paths, containers)
    tally.refuse([*complaints, *unread])
    read = len(batch.spans) + len(batch.logs)
    if read:
        _tell(batch, containers, as_json=as_json)
    context.exit(tally.exit_code(read))


def _tell(batch: Batch, containers: Mapping[str, str], *, as_json: bool) -> None:
    from atifold import dialects

    with busy(f"looking at {len(batch.spans):,} spans"):
        found = dialects.survey(batch.spans, batch.logs)
    if as_json:
        _put(_as_json(found, containers))
    else:
        _show(found, containers)


# ---- for people ----------------------------------------------------------------------------------


def _show(found: Survey, containers: Mapping[str, str]) -> None:
    for path, container in containers.items():
        _print(f"{path}: {container}")
    _print(f"{plural(found.spans, 'span')}, {plural(found.log_records, 'log record')}")
    for name, spoken in found.dialects.items():
        _show_dialect(name, spoken)
    if not found.dialects:
        _print("no dialect that is read is spoken here")
    _show_unspoken("no dialect", plural(found.unspoken.number, "span"), "keys", found.unspoken)
    _show_unspoken("loose", plural(found.loose.number, "log record") + " of no span that is here", "names", found.loose)
    _list("keys that nobody reads", found.reading.unknown_keys)
    _list("spans that are no calls", found.reading.ignored)


def _show_dialect(name: str, spoken: Spoken) -> None:
    beside = f", {spoken.beside:,} more beside another dialect" if spoken.beside else ""
    logs = f", {plural(spoken.log_records, 'log record')}" if spoken.log_records else ""
    calls = f" ({plural(spoken.calls, 'call')})" if spoken.spans else ""
    _print(f"{name}: {plural(spoken.spans, 'span')}{calls}{beside}{logs}")
    _list("  versions", spoken.versions)
    _list("  scopes", spoken.scopes)


def _show_unspoken(title: str, number: str, what: str, unspoken: Unspoken) -> None:
    if unspoken.number:
        _print(f"{title}: {number}")
        _list("  scopes", unspoken.scopes)
        _list(f"  {what}", unspoken.keys)


def _list(title: str, numbers: Mapping[str, int]) -> None:
    if numbers:
        _print(f"{title}: {counts(numbers, _KEYS)}")


def _show_all() -> None:
    from atifold.dialects import DIALECTS

    for dialect in DIALECTS:
        about = dialect.about
        _print(f"{dialect.name}: {about.title}, {about.versions}")
        _print(f"  carries {about.carries}")
        _print(f"  lacks {about.lacks}")
    say(f"{plural(len(DIALECTS), 'dialect')} read; `atifold dialects FILE` says what a file speaks")


def _print(text: str) -> None:
    indent = " " * (len(text) - len(text.lstrip(" ")))
    click.echo(indent + line(text))


# ---- for machines --------------------------------------------------------------------------------


def _as_json(found: Survey, containers: Mapping[str, str]) -> dict[str, Any]:
    """Return a survey as JSON values; counted names come with the most frequent first."""
    return {
        "containers": dict(containers),
        "spans": found.spans,
        "log_records": found.log_records,
        "dialects": {name: _dialect(spoken) for name, spoken in found.dialects.items()},
        "no_dialect": _unspoken("spans", "keys", found.unspoken),
        "loose_log_records": _unspoken("log_records", "names", found.loose),
        "unknown_keys": _ranked(found.reading.unknown_keys),
        "ignored": _ranked(found.reading.ignored),
    }


def _dialect(spoken: Spoken) -> dict[str, Any]:
    return {
        "spans": spoken.spans,
        "calls": spoken.calls,
        "beside": spoken.beside,
        "log_records": spoken.log_records,
        "versions": _ranked(spoken.versions),
        "scopes": _ranked(spoken.scopes),
    }


def _unspoken(number: str, keys: str, unspoken: Unspoken) -> dict[str, Any]:
    return {number: unspoken.number, "scopes": _ranked(unspoken.scopes), keys: _ranked(unspoken.keys)}


def _ranked(numbers: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(numbers.items(), key=lambda item: (-item[1], item[0])))


def _all() -> dict[str, Any]:
    from atifold.dialects import DIALECTS

    fields = ("title", "versions", "carries", "lacks")
    return {dialect.name: {name: getattr(dialect.about, name) for name in fields} for dialect in DIALECTS}


def _put(value: dict[str, Any]) -> None:
    click.echo(to_json_text(value))
