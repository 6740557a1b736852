"""`atifold demo`: a bundled recording becomes spans and trajectories, and shows them."""

from __future__ import annotations

import shutil
import sys
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

import click

from atifold.cli.outputs import write_documents
from atifold.cli.words import Tally

if TYPE_CHECKING:
    from rich.console import Console

    from atifold.replay import Replayed

FOLDER = "atifold-demo"


@click.command(name="demo")
@click.option(
    "-o", "--output", default=FOLDER, show_default=True, metavar="DIR", help="Folder for spans and documents."
)
@click.pass_context
def command(context: click.Context, output: str) -> None:
    """Show what atifold does, on nothing but this package.

    A bundled recording of an agent's events becomes spans (spans.jsonl) and one trajectory per run
    (trajectories/), and both are shown.
    """
    from rich.console import Console

    tally = Tally()
    with as_file(files("atifold") / "data" / "demo.jsonl") as recording:
        replayed = run(recording, Path(output), tally)
    code = tally.exit_code(replayed.events)
    show(replayed, Path(output), Console(highlight=False))
    context.exit(code)


def run(recording: Path, folder: Path, tally: Tally) -> Replayed:
    """Replay a recording into `folder`: the spans with their content, and the documents."""
    from atifold.cli.span_output import SpanOutput
    from atifold.replay import replay

    spans = SpanOutput(folder / "spans.jsonl")
    replayed = replay([recording], exporters=[spans], capture_content=True)
    tally.refuse(replayed.complaints)
    if spans.error is not None:
        tally.fail(spans.error)
    else:
        tally.wrote()
    write_documents(replayed.folded.documents, str(folder / "trajectories"), tally)
    return replayed


def show(replayed: Replayed, folder: Path, console: Console) -> None:
    """Print the span tree, the trajectories in short, where the files are and what to try next."""
    from rich.text import Text

    from atifold.cli.tree import span_tree
    from atifold.cli.view import trajectory_view
    from atifold.cli.words import plural

    documents = replayed.folded.documents
    console.print(_heading(f"{replayed.events:,} events became {len(replayed.spans):,} OpenTelemetry spans"))
    console.print(span_tree(replayed.spans))
    console.print(_heading(f"and {plural(len(documents), 'ATIF trajectory', 'ATIF trajectories')}"))
    for document in documents:
        console.print(trajectory_view(document.trajectory))
        console.print(Text(f"  {folder / 'trajectories' / (document.name + '.json')}", style="dim"), soft_wrap=True)
        console.print()
    console.print(
        Text.assemble("The spans are in ", (str(folder / "spans.jsonl"), "bold"), ". To go on:\n"), soft_wrap=True
    )
    steps = _next(program(), folder)
    width = max(len(words) for words, _ in steps)
    for words, does in steps:
        console.print(Text(f"  {words:<{width}}  ").append(does, style="dim"), soft_wrap=True)


def program() -> str:
    """Return what this program can be called by: its name where that is on the path, else its file."""
    called = sys.argv[0]
    found = shutil.which(Path(called).name)
    if Path(called).stem != "atifold":
        return "atifold"
    return Path(called).name if found and Path(found).samefile(called) else called


def _heading(words: str) -> str:
    return f"\n[bold]{words}[/bold]\n"


def _next(atifold: str, folder: Path) -> tuple[tuple[str, str], ...]:
    """Return commands to try, each with what it does."""
    return (
        (f"{atifold} fold {folder / 'spans.jsonl'}", "the same documents, from the spans"),
        (f"{atifold} check {folder / 'trajectories'}", "are they valid?"),
        (f"{atifold} replay REC.jsonl --otlp URL", "spans of a recording, to your backend"),
        (f"{atifold} --help", "everything else"),
    )
