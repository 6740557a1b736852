"""`atifold demo`: a bundled recording becomes spans and trajectories, and shows them."""

from __future__ import annotations

import shutil
import sys
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from atifold.cli import options
from atifold.cli.outputs import write_documents
from atifold.cli.words import Tally, plural

if TYPE_CHECKING:
    from atifold.cli.screen import Screen
    from atifold.replay import Replayed

FOLDER = "atifold-demo"


@click.command(name="demo")
@click.option(
    "-o",
    "--output",
    default=FOLDER,
    show_default=True,
    metavar="DIR",
    callback=options.folder,
    help="Folder for the recording, the spans and the documents.",
)
@click.pass_context
def command(context: click.Context, output: str) -> None:
    """Show what atifold does, on nothing but this package.

    A bundled recording of an agent's events (events.jsonl) becomes spans (spans.jsonl) and one trajectory per
    run (trajectories/), and both are shown.
    """
    from atifold.cli.screen import Screen

    tally = Tally()
    with as_file(files("atifold") / "data" / "demo.jsonl") as recording:
        ran = run(recording, Path(output), tally)
    code = tally.exit_code(ran.replayed.events)
    show(ran, Screen())
    context.exit(code)


class Ran(NamedTuple):
    """What a run of the demo gave: the replay, and the files that could be written."""

    replayed: Replayed
    recording: Path | None
    spans: Path | None
    documents: dict[str, Path | None]


def run(recording: Path, folder: Path, tally: Tally) -> Ran:
    """Replay a recording into `folder`: the spans with their content, and the documents."""
    from atifold.replay import SpanFile, replay

    spans_file = folder / "spans.jsonl"
    spans = SpanFile(spans_file)
    replayed = replay([recording], exporters=[spans], capture_content=True, files=True)
    tally.refuse(replayed.complaints)
    if spans.error is not None:
        tally.fail(spans.error)
    else:
        tally.wrote()
    documents = write_documents(replayed.folded.documents, str(folder / "trajectories"), tally)
    return Ran(replayed, _copied(recording, folder / "events.jsonl"), None if spans.error else spans_file, documents)


def _copied(recording: Path, file: Path) -> Path | None:
    """Copy the recording beside what was made of it; None where that cannot be: nobody waits for it."""
    try:
        file.write_bytes(recording.read_bytes())
    except OSError:
        return None
    return file


def show(ran: Ran, screen: Screen) -> None:
    """Print the span tree, the trajectories in short, where the files are and what to try next."""
    from rich.text import Text

    from atifold.cli.tree import span_tree
    from atifold.cli.view import trajectory_view

    replayed, documents = ran.replayed, ran.replayed.folded.documents
    became = f"{plural(replayed.events, 'event')} became {plural(len(replayed.spans), 'OpenTelemetry span')}"
    screen.print(_heading(f"A recorded agent: its {became}"))
    screen.print(span_tree(replayed.spans))
    screen.print(_heading(f"and {plural(len(documents), 'ATIF trajectory', 'ATIF trajectories')}"))
    for document in documents:
        screen.print(trajectory_view(document.trajectory))
        if file := ran.documents.get(document.name):
            screen.print(Text(f"  {file}", style="dim"), wrap=False)
        screen.print()
    where = ("The spans are in ", (str(ran.spans), "bold")) if ran.spans else ("The spans could not be written",)
    screen.print(Text.assemble(*where, ". To go on:\n"), wrap=False)
    steps = _next(program(), ran)
    width = max(len(words) for words, _ in steps)
    for words, does in steps:
        screen.print(Text(f"  {words:<{width}}  ").append(does, style="dim"), wrap=False)


def program() -> str:
    """Return what this program can be called by: its name where that is on the path, else its file."""
    called = Path(sys.argv[0])
    if called.parts[-2:] == ("atifold", "__main__.py"):
        return f"{Path(sys.executable).name} -m atifold"
    if called.stem != "atifold":
        return "atifold"
    found = shutil.which(called.name)
    return called.name if found and Path(found).samefile(called) else str(called)


def _heading(words: str) -> str:
    return f"\n[bold]{words}[/bold]\n"


def _next(atifold: str, ran: Ran) -> list[tuple[str, str]]:
    """Return commands to try, each with what it does; those on files only where the files are there."""
    steps = []
    if ran.spans:
        steps.append((f"{atifold} fold {ran.spans}", "the same documents"))
    if folder := next((file.parent for file in ran.documents.values() if file), None):
        steps.append((f"{atifold} check {folder}", "are they valid?"))
    if not steps:
        steps.append((f"{atifold} demo -o DIR", "again, into a folder that can be written"))
    return [
        *steps,
        (f"{atifold} replay {ran.recording or 'REC.jsonl'} --otlp URL", "its spans, to your backend"),
        (f"{atifold} --help", "everything else"),
    ]
