"""`atifold runs sign`, `statement` and `verify`: vouch for runs, and see what the words are worth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from atifold.cli.ledger import REFUSED, answer, here, key_of, put, text_of, writer
from atifold.cli.words import line, plural, say

_BASE = click.option(
    "--base", metavar="REV", help="Revision of the trust policy.  [default: origin/HEAD, main, master]"
)


@click.command(name="sign")
@click.argument("run")
@click.option("--key", metavar="PEM", help="Ed25519 key of a runner that the trust policy lists (PKCS#8 PEM).")
@click.option("--envelope", metavar="FILE|-", help="A DSSE envelope that was signed elsewhere; - is stdin.")
@_BASE
def sign(run: str, key: str | None, envelope: str | None, base: str | None) -> None:
    """Store a signed statement of RUN, once it verifies."""
    if (key is None) == (envelope is None):
        raise click.UsageError("either --key or --envelope was wanted")
    from atifold.runs import documents, signing

    def make() -> dict[str, Any]:
        if key is not None:
            signature = signing.with_key(key_of(key))
        else:
            signature = signing.with_envelope(text_of(str(envelope), "--envelope", "envelope-unreadable"))
        return documents.signed(signing.sign(writer(), run, signature, base))

    put(answer("sign", make))


@click.command(name="statement")
@click.argument("run")
@click.option("--signer", metavar="NAME", help="Who will sign it, as the trust policy names them.")
def statement(run: str, signer: str | None) -> None:
    """Print what a signer that holds its key elsewhere signs."""
    if not signer:
        raise click.UsageError("--signer was wanted: the principal that the trust policy lists")
    from atifold.runs import documents

    put(answer("statement", lambda: documents.statement(here(), run, signer)))


@click.command(name="verify", short_help="Judge statements by the trust policy.")
@click.argument("run", required=False)
@click.option("--require", type=click.Choice(["signed"]), help="Fail where a run that has ended is not signed.")
@_BASE
@click.option("--json", "as_json", is_flag=True, help="The whole document, for machines.")
@click.pass_context
def verify(context: click.Context, run: str | None, require: str | None, base: str | None, *, as_json: bool) -> None:
    """Judge the statements of RUN, or of all runs, by the trust policy at base.

    Where a transcript is at hand it is hashed again: one that has changed fails (a check of atifold's own).
    """
    from atifold.runs import documents

    document = answer(
        "verify",
        lambda: documents.verified(here(), run, require=require is not None, base=base, folder=Path.cwd()),
    )
    if as_json:
        put(document)
    else:
        _tell(document)
    for finding in document.get("atifold", {}).get("findings", ()):
        say(f"atifold: {line(finding['message'])}")
    context.exit(0 if document["ok"] else REFUSED)


def _tell(document: dict[str, Any]) -> None:
    """Print the verdicts for people."""
    trust = document["trust"]
    base = f"{trust['baseFrom']} {trust['base'][:8]}" if trust["base"] else "no base"
    click.echo(f"trust at {base}: {plural(len(trust['runners']), 'runner')}")
    for problem in trust["problems"]:
        click.echo(f"  {line(problem)}")
    for run in document["runs"]:
        told = run["attestation"]
        state = "running" if run["state"] == "running" and told["status"] == "unsigned" else told["status"]
        click.echo(f"{run['id']}  {state}: {line(told['reason'])}")
    sums = document["summary"]
    counted = ", ".join(f"{sums[name]} {name}" for name in ("signed", "unsigned", "failed", "running"))
    click.echo(f"{plural(sums['runs'], 'run')}: {counted}")
