"""Run atifold from the command line.

One module per command. A command imports the parts it runs when it runs, so that `atifold --help`
answers at once.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any

import click

from atifold import __version__
from atifold.cli import check, demo, dialects, fold, replay, runs, serve
from atifold.cli.words import INTERRUPTED, NOTHING_DONE, READER_GONE, one_line, say
from atifold.errors import AtifoldError, OutputError

__all__ = ["main"]

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
"""What a write to a stdout that is a file says where the disk is full or gone."""


class Program(click.Group):
    """A group of commands that ends in one line, never in a traceback, when it is stopped from outside."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run a command; in standalone mode (the program) leave by SystemExit with the contract's code."""
        if not extra.pop("standalone_mode", True):
            return super().main(*args, **{**extra, "standalone_mode": False})
        sys.exit(self._code(*args, **extra))

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the commands in the order in which a newcomer meets them."""
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command and see its output through."""
        try:
            try:
                return super().invoke(ctx)
            finally:
                if sys.stdout is not None:  # None: the program was started with stdout closed
                    sys.stdout.flush()
        except BrokenPipeError:
            _leave_stdout()
            raise _ReaderGoneError from None
        except OSError as error:
            if error.filename is not None or error.errno not in _NO_ROOM:
                raise
            _leave_stdout()
            ended = error.__context__
            if isinstance(ended, click.exceptions.Exit) and ended.exit_code:  # the command has said so itself
                raise ended from None
            raise OutputError("stdout", error.strerror or str(error)) from None

    def _code(self, *args: Any, **extra: Any) -> int:
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout = _whole(sys.stdout)
            sys.stdout.reconfigure(errors="backslashreplace")  # a file name may hold what the encoding has not
        try:
            code = super().main(*args, **{**extra, "standalone_mode": False})
        except click.ClickException as error:
            error.show()
            return error.exit_code
        except (click.exceptions.Abort, KeyboardInterrupt):
            say("atifold: interrupted")
            return INTERRUPTED
        except AtifoldError as error:
            say(f"atifold: {one_line(error)}")
            return NOTHING_DONE
        return code if isinstance(code, int) else 0


class _ReaderGoneError(click.ClickException):
    """Stop, and say nothing: whoever read our stdout has what they wanted."""

    exit_code = READER_GONE

    def __init__(self) -> None:
        super().__init__("stdout was closed")

    def show(self, file: Any = None) -> None:
        """Be silent."""


def _whole(stdout: io.TextIOWrapper) -> io.TextIOWrapper:
    """Return a stdout that writes all or fails: under PYTHONUNBUFFERED Python's own drops what a full disk leaves."""
    if not isinstance(stdout.buffer, io.RawIOBase):
        return stdout
    buffer = open(stdout.fileno(), "wb", closefd=False)  # noqa: SIM115 - stdout stays open to the end
    return io.TextIOWrapper(buffer, encoding=stdout.encoding, line_buffering=True)


def _leave_stdout() -> None:
    """Make Python's own flush at exit harmless: the reader of stdout is gone."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(prog)s %(version)s")
def main() -> None:
    """Turn agent events into OpenTelemetry spans, and finished traces into ATIF trajectories.

    Documents go to stdout or where -o says, words to stderr. Exit codes: 0 all done, 1 some inputs
    refused or documents invalid (the others are done), 2 wrong usage, 3 nothing could be read or
    written.
    """


for _module in (demo, replay, fold, check, dialects, serve, runs):
    main.add_command(_module.command)
