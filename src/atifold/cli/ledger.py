"""Run a verb of the ledger: print its document or its failure, and end with 0 or 1, as the ledger's contract has it."""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click

from atifold.cli.inputs import stdin
from atifold.cli.words import line, say

if TYPE_CHECKING:
    from atifold.runs.refusal import Code
    from atifold.runs.workspace import Workspace
    from atifold.runs.writing import Writer

WRITES: Final = ("start", "end", "record", "sign")
STATEMENTS: Final = ("statement", "verify")
REFUSED: Final = 1
_LONE: Final = re.compile("[\ud800-\udfff]")
_KEY: Final = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?:.*?-----END [A-Z ]*PRIVATE KEY-----|.*)", re.DOTALL)


def put(document: dict[str, Any]) -> None:
    """Write a document to stdout: two spaces of indent, in UTF-8."""
    text = _LONE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(document, indent=2, ensure_ascii=False))
    sys.stdout.buffer.write(f"{text}\n".encode())


def answer(verb: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return the document that a verb makes; one that is refused is printed as its failure and ends the program."""
    from atifold.runs.refusal import RefusedError

    try:
        return make()
    except RefusedError as error:
        refuse(verb, error.code, error.message)


def refuse(verb: str, code: Code, message: str) -> NoReturn:
    """Print the failure of a verb, with a line for people, and end the program; no verb is the read."""
    from atifold.runs import documents
    from atifold.runs.refusal import RefusedError

    schema = documents.STATEMENT if verb in STATEMENTS else documents.WRITE if verb else documents.READ
    words = without_keys(message)
    put(documents.failure(schema, RefusedError(code, words), verb if verb in (*WRITES, *STATEMENTS) else None))
    say(f"atifold: {code}: {line(words)}")
    raise click.exceptions.Exit(REFUSED)


def without_keys(message: str) -> str:
    """Return a message without the private keys in it: whoever gives one where a name was wanted gets it told back."""
    return _KEY.sub("[a private key]", message)


def here() -> Workspace:
    """Return the workspace that the program was started in."""
    from atifold.runs.workspace import locate

    return locate(Path.cwd())


def writer() -> Writer:
    """Return what writes to the ledger of the workspace that the program was started in."""
    from atifold.runs.writing import Writer

    return Writer(here(), Path.cwd())


def text_of(place: str, option: str, code: Code) -> str:
    """Return what a file, or stdin for `-`, holds; broken characters become U+FFFD. Raises RefusedError."""
    return bytes_of(place, option, code).decode("utf-8", "replace")


def bytes_of(place: str, option: str, code: Code) -> bytes:
    """Return the bytes of a file, or of stdin for `-`; raises RefusedError.

    What `--key` names is not repeated: it may be the key itself.
    """
    from atifold.runs.refusal import RefusedError

    try:
        return stdin().read() if place == "-" else Path(place).read_bytes()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        named = option if option == "--key" else f"{option} {place}"
        raise RefusedError(code, f"{named} cannot be read: {why}; a file's name was wanted") from None


def key_of(place: str) -> bytes:
    """Return the PEM of a private key, and say where others can read it too; raises RefusedError."""
    pem = bytes_of(place, "--key", "runner-key-invalid") if place != "-" else stdin().read()
    mode = Path(place).stat().st_mode if place != "-" else 0
    if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        say(f"atifold: {line(place)}: others can read this key (mode {stat.S_IMODE(mode):04o}); chmod 600 is wanted")
    return pem


class Verbs(click.Group):
    """The verbs of the ledger: wrong usage is a document where the verb has one, and ends with 1."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> click.Context:
        """Read the options of the bare command."""
        try:
            return super().make_context(info_name, args, parent, **extra)
        except click.UsageError as error:
            say(f"atifold: {line(without_keys(error.format_message()))}")
            raise click.exceptions.Exit(REFUSED) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run a verb, or the bare command."""
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            verb = ctx.invoked_subcommand
            if verb in (*WRITES, *STATEMENTS):
                refuse(verb, "write-usage-invalid", f"runs {verb}: {error.format_message()}")
            say(f"atifold: {line(without_keys(error.format_message()))}")
            raise click.exceptions.Exit(REFUSED) from None
