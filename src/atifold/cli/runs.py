"""`atifold runs`: the run ledger. Bare it reads all runs; its verbs write, sign and verify."""

from __future__ import annotations

from typing import Any

import click

from atifold.cli import runs_init, runs_read, runs_sign, runs_write
from atifold.cli.ledger import STATEMENTS, WRITES, Verbs


@click.group(
    name="runs",
    cls=Verbs,
    invoke_without_command=True,
    short_help="Keep a signed ledger of agent runs on a git branch.",
)
@runs_read.filters
@click.pass_context
def command(context: click.Context, /, **wanted: Any) -> None:
    """Keep a ledger of agent runs on a git branch: who ran, what it cost, which transcript, signed.

    Without a verb: list the runs and their totals. Documents go to stdout, words to stderr; exit codes
    here are 0 and 1 alone. The ledger is the branch chant/lifecycle; the work tree is never touched.
    """
    given = [name for name, value in wanted.items() if value]
    if context.invoked_subcommand is None:
        runs_read.show_all(**wanted)
    elif given and context.invoked_subcommand in (*WRITES, *STATEMENTS):
        msg = f"--{given[0].replace('_', '-')} stands before the verb: it is an option of the bare command there"
        raise click.UsageError(msg)


for _command in (
    runs_init.init,
    runs_write.start,
    runs_write.end,
    runs_write.record,
    runs_sign.sign,
    runs_sign.statement,
    runs_sign.verify,
    runs_read.list_runs,
    runs_read.show,
):
    command.add_command(_command)
