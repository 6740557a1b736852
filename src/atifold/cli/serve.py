"""`atifold serve`: an OTLP backend that writes trajectories."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from atifold.cli import options
from atifold.cli.outputs import in_version
from atifold.cli.words import DONE, INTERRUPTED, NOTHING_DONE, SOME_REFUSED, line, plural, say
from atifold.errors import AtifoldError, OutputError
from atifold.settings import SERVE_PREFIX, Settings

if TYPE_CHECKING:
    from atifold.serve import Receiver, Tls
    from atifold.serve.running import Listening

_NEEDED = ("aiohttp", "grpc")
_INSTALL = "pip install 'atifold[serve]'"
_TOKEN = f"{SERVE_PREFIX}TOKEN"
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_SECONDS = click.FloatRange(min=0)
_BYTES = click.IntRange(min=1)
_PORT = click.IntRange(0, 65_535)
_USUAL = Settings()
"""What the settings are where nobody says otherwise."""


def _folder(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    return options.filled("a folder")(context, option, value)


@click.command(
    name="serve",
    short_help="Be an OTLP backend that writes trajectories.",
    context_settings={"auto_envvar_prefix": SERVE_PREFIX.rstrip("_")},
)
@click.option(
    "-o",
    "--output",
    "directory",
    metavar="DIR",
    envvar="ATIFOLD_DIR",
    callback=_folder,
    help="Folder that documents go to, a file each.  [default: trajectories]",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=_PORT, default=4318, show_default=True, help="Port of HTTP; 0 is any free one.")
@click.option("--grpc-port", type=_PORT, default=4317, show_default=True, help="Port of gRPC; 0 is any free one.")
@click.option("--no-grpc", is_flag=True, help="Listen for HTTP alone.")
@options.group
@options.version
@click.option(
    "--grace",
    "grace_s",
    type=_SECONDS,
    metavar="S",
    help=f"Seconds that a finished trace waits for late spans.  [default: {_USUAL.grace_s:g}]",
)
@click.option(
    "--idle",
    "idle_s",
    type=_SECONDS,
    metavar="S",
    help=f"Seconds after which an open trace is written.  [default: {_USUAL.idle_s:g}]",
)
@click.option(
    "--retain",
    "retain_s",
    type=_SECONDS,
    metavar="S",
    help=f"Seconds that a late span can rewrite a document.  [default: {_USUAL.retain_s:g}]",
)
@click.option(
    "--max-bytes",
    type=_BYTES,
    metavar="N",
    help=f"Bytes of spans and log records that are held.  [default: {_USUAL.max_bytes}]",
)
@click.option(
    "--max-body", type=_BYTES, default=16_000_000, show_default=True, metavar="N", help="Bytes of one request."
)
@click.option(
    "--max-connections", type=_BYTES, default=256, show_default=True, metavar="N", help="Connections at once."
)
@click.option("--token-file", type=_FILE, help=f"File with the bearer token that requests need; or {_TOKEN}.")
@click.option("--tls-cert", type=_FILE, help="Certificate of the server, PEM.")
@click.option("--tls-key", type=_FILE, help="Its key, PEM.")
def command(
    *,
    directory: str | None,
    host: str,
    port: int,
    grpc_port: int,
    no_grpc: bool,
    version: str,
    group: Literal["trace", "conversation"],
    max_body: int,
    max_connections: int,
    token_file: Path | None,
    tls_cert: Path | None,
    tls_key: Path | None,
    **bounds: Any,
) -> int:
    """Take traces and log records as an OTLP backend does, and write trajectories as they finish.

    Point a program's exporters here: OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318, or 4317 for those that
    speak gRPC, as opentelemetry-instrument does unless OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf. HTTP takes
    protobuf and JSON at /v1/traces and /v1/logs, and has /healthz and /metrics. A document is written once its
    trace has finished, and again when spans come late. SIGTERM finishes what is in work, writes everything and
    ends with 0; Ctrl-C does the same and ends with 130.
    """
    _mind_libraries()
    _mind_unknown(command)
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # its core writes to stderr what we say in our words
    from atifold.serve import Limits, Place, Receiver, carrying
    from atifold.serve.running import serve
    from atifold.sinks import DirectorySink

    settings = Settings.from_env(dir=directory, group=group, **bounds)
    token = _token(token_file)
    place = Place(host, port, None if no_grpc else grpc_port, _tls(tls_cert, tls_key))
    limits = Limits(max_body, max_connections, requests_bytes=max(settings.max_bytes // 4, max_body))
    folder = _ready(settings.dir)
    finish = partial(in_version, version=version)
    with _troubles_said():
        carry = folder / carrying.FILE
        receiver = Receiver(settings, DirectorySink(folder), limits, token=token, finish=finish, carry=carry)
        if token is None and not _is_loopback(host):
            say(f"atifold: whoever reaches {host} can have documents written here; --token-file asks for a token")
        number = serve(receiver, place, partial(_say_where, folder=settings.dir))
        receiver.close()
    return _end(receiver, settings.dir, number)


def _mind_unknown(command: click.Command) -> None:
    """Say which variables look like options of this command and are none."""
    known = {f"{SERVE_PREFIX}{option.name}".upper() for option in command.params} | {_TOKEN}
    for name in sorted(name for name in os.environ if name.startswith(SERVE_PREFIX) and name not in known):
        say(f"atifold: {name}: serve reads no such variable")


def _mind_libraries() -> None:
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise AtifoldError(f"serve needs {' and '.join(missing)}: {_INSTALL}")


def _token(file: Path | None) -> str | None:
    """Return the token that requests have to bear, None where none is asked for."""
    found = os.environ.get(_TOKEN, "") if file is None else file.read_text(encoding="utf-8")
    if file is not None and not found.strip():
        raise click.BadParameter(f"{file}: found no token", param_hint="--token-file")
    return found.strip() or None


def _tls(certificate: Path | None, key: Path | None) -> Tls | None:
    from atifold.serve import Tls

    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        raise click.UsageError("--tls-cert and --tls-key go together")
    return Tls(certificate, key)


def _ready(folder: Path) -> Path:
    """Return the folder for documents, whole; raises OutputError where they cannot be written to it."""
    from atifold.sinks.files import sweep
    from atifold.sinks.folder import hindrance

    hindered = hindrance(folder.absolute())
    if hindered is not None:
        raise OutputError(folder, hindered)
    sweep(folder)
    return folder.absolute()


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class _Lines(logging.Handler):
    """Say what the assembler says of troubles, a line each."""

    def emit(self, record: logging.LogRecord) -> None:
        say(f"atifold: {line(record.getMessage())}")


@contextmanager
def _troubles_said() -> Generator[None]:
    log, handler = logging.getLogger("atifold"), _Lines(logging.WARNING)
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)


def _say_where(listening: Listening, folder: Path) -> None:
    beside = f" and {listening.grpc} (gRPC)" if listening.grpc else ""
    say(f"listening on {listening.http} (HTTP){beside}; trajectories go to {folder}")


def _end(receiver: Receiver, folder: Path, number: int) -> int:
    """Say what was done, and return the exit code."""
    from atifold.serve import figures

    counts = receiver.counts
    taken = f"{plural(receiver.figures.of(figures.SPANS), 'span')}"
    records = receiver.figures.of(figures.RECORDS)
    taken += f", {plural(records, 'log record')}" if records else ""
    written = counts.get("documents_written", 0)
    say(f"{taken} -> {plural(written, 'document')} written to {folder}")
    if counts.get("documents_lost"):
        return SOME_REFUSED if written else NOTHING_DONE
    return INTERRUPTED if number == signal.SIGINT else DONE
