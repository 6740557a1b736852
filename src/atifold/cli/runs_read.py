"""`atifold runs`, `runs list` and `runs show`: the runs of the ledger and what they sum up to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from atifold.cli.ledger import REFUSED, here, put, refuse, without_keys
from atifold.cli.words import line, plural, say

_F = TypeVar("_F", bound=Callable[..., Any])
_BASE = click.option(
    "--base", metavar="REV", help="Revision of the trust policy.  [default: origin/HEAD, main, master]"
)
_JSON = click.option("--json", "as_json", is_flag=True, help="The whole document, for machines.")


def filters(command: _F) -> _F:
    """Add the options of a read: which runs, by which policy, for whom."""
    options = (
        click.option("--unit", metavar="ID", help="Runs of this work item alone."),
        click.option("--decision", metavar="ID", help="Runs that carried out this decision."),
        click.option("--by", metavar="WHO", help="Runs that worked for this principal."),
        click.option("--since", metavar="REV", help="Runs with a commit after REV, or that started after it."),
        _BASE,
        click.option("--follow-squash", is_flag=True, help="Accepted for scripts: squashed commits are not followed."),
        _JSON,
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.command(name="list", short_help="List runs, the newest first, and their totals.")
@filters
def list_runs(**wanted: Any) -> None:
    """List runs, the newest first, and their totals: the same as without a verb."""
    show_all(**wanted)


@click.command(name="show")
@click.argument("run")
@_BASE
@_JSON
def show(run: str, base: str | None, *, as_json: bool) -> None:
    """Show RUN: all that the ledger holds of it."""
    document = _read({"base": base}, as_json=as_json)
    chosen = [each for each in document["runs"] if each["id"] == run]
    if not chosen:
        say(f"atifold: run-unknown: the ledger has no run {line(without_keys(run))}")
        raise click.exceptions.Exit(REFUSED)
    if as_json:
        from atifold.runs.reading import totals

        grouped = {name: list[Any]() for name in ("byUnit", "byDecision", "byPrincipal")}
        put({**document, "runs": chosen, "totals": {"all": totals(chosen), **grouped}})
        return
    for name, value in _facts(chosen[0]):
        click.echo(f"{name:<12}{line(value)}")


def show_all(*, as_json: bool, follow_squash: bool, **wanted: Any) -> None:  # noqa: ARG001 - see its help
    """Print all runs that are wanted."""
    document = _read(wanted, as_json=as_json)
    if as_json:
        put(document)
        return
    for run in document["runs"]:
        click.echo(_row(run))
    sums = document["totals"]["all"]
    tokens = f"{sums['tokens']['input']:,} tokens in, {sums['tokens']['output']:,} out"
    click.echo(f"{plural(sums['runs'], 'run')}, {sums['running']} running: {tokens}, {_money(sums)}")
    for reason in document["reasons"]:
        say(f"atifold: {reason['code']}: {line(reason['message'])}")


def _read(wanted: dict[str, Any], *, as_json: bool) -> dict[str, Any]:
    from atifold.runs import documents
    from atifold.runs.reading import Filter
    from atifold.runs.refusal import RefusedError

    base = wanted.pop("base")
    try:
        return documents.runs(here(), Filter(**wanted), base)
    except RefusedError as error:
        if as_json:
            refuse("", error.code, error.message)
        say(f"atifold: {error.code}: {line(without_keys(error.message))}")
        raise click.exceptions.Exit(REFUSED) from None


def _row(run: dict[str, Any]) -> str:
    usage = run["usage"] or {}
    tokens = f"{_known(usage.get('inputTokens'))} in, {_known(usage.get('outputTokens'))} out"
    words = (
        run["id"],
        f"{run['state']} {run['outcome'] or ''}".strip(),
        run["startedAt"],
        "/".join(word for word in (run["harness"]["name"], run["model"]) if word),
        f"for {run['by']}" if run["by"] else "",
        f"on {run['unit']['id']}" if run["unit"] else "",
        tokens,
        _price(run["cost"]),
        plural(len(run["commits"]), "commit"),
        run["attestation"]["status"],
    )
    return "  ".join(line(word) for word in words if word)


def _known(count: int | None) -> str:
    return "?" if count is None else f"{count:,}"


def _price(cost: dict[str, Any] | None) -> str:
    return "no cost told" if cost is None else f"{cost['amount']} {cost['currency']} ({cost['source']})"


def _money(sums: dict[str, Any]) -> str:
    told = " + ".join(f"{cost['amount']} {cost['currency']}" for cost in sums["cost"]) or "no cost told"
    return f"{told}, {len(sums['unpriced'])} unpriced" if sums["unpriced"] else told


def _facts(run: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what people are shown of a run, each with its name; what is unknown is left out."""
    usage, pin, unit = run["usage"] or {}, run["transcript"], run["unit"]
    told = {
        "run": run["id"],
        "state": f"{run['state']} {run['outcome'] or ''}",
        "time": " to ".join(time for time in (run["startedAt"], run["endedAt"]) if time),
        "harness": " ".join(word for word in run["harness"].values() if word),
        "model": " ".join(word for word in (run["model"], run["provider"]) if word),
        "by": run["by"],
        "agent": run["agent"],
        "unit": unit and unit["id"],
        "usage": ", ".join(f"{name} {count:,}" for name, count in usage.items() if count is not None),
        "cost": _price(run["cost"]),
        "transcript": pin and f"{pin['ref'] or ''} sha256:{pin['sha256']}",
        "commits": ", ".join(f"{commit['sha'][:12]} ({'+'.join(commit['joinedBy'])})" for commit in run["commits"]),
        "ledger": run["ledger"],
        "record": run["record"] and run["record"]["sha256"],
        "signed": f"{run['attestation']['status']}: {run['attestation']['reason']}",
    }
    return [(name, value) for name, value in told.items() if value]
