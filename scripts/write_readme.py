"""Write what README.md shows of the program itself anew: dialects, settings, and what `atifold demo` prints.

    make readme

A part stands between the comments `<!-- NAME: … -->` and `<!-- end of NAME -->`. A test compares.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from enum import Enum
from pathlib import Path

from atifold.dialects import DIALECTS
from atifold.settings import SETTINGS

README = Path(__file__).resolve().parent.parent / "README.md"
DEMO = (sys.executable, "-c", "from atifold.cli import main; main(prog_name='atifold')", "demo")
WIDTH = "100"


def settings_table() -> str:
    """Return the table of all settings; a default is written as the environment would say it."""
    rows = (f"| `{row.variable}` | `{as_text(row.default)}` | {row.doc} |" for row in SETTINGS)
    return "\n".join(("| variable | default | meaning |", "|---|---|---|", *rows))


def dialects_table() -> str:
    """Return the table of the dialects that are read, in the order of the registry."""
    rows = (
        f"| {d.about.title} | `{d.name}` | {d.about.versions} | {d.about.carries} | {d.about.lacks} |" for d in DIALECTS
    )
    head = "| dialect | in reports | versions read | what it carries | what it cannot say |"
    return "\n".join((head, "|---|---|---|---|---|", *rows))


def as_text(value: object) -> str:
    """Return a setting's value as its environment variable would hold it."""
    match value:
        case bool():
            return str(value).lower()
        case Enum():
            return str(value.value)
        case float():
            return f"{value:g}"
        case _:
            return str(value)


def demo_lines() -> list[str]:
    """Return what the demo prints, without spaces at the ends of lines."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "COLUMNS": WIDTH, "PYTHONIOENCODING": "utf-8"}
        done = subprocess.run(DEMO, cwd=folder, env=environment, capture_output=True, check=True)
    return [line.rstrip() for line in done.stdout.decode("utf-8").splitlines()]


def first_trace(lines: list[str]) -> str:
    """Return the head of the span tree and its first trace, as a block of code."""
    start = next(n for n, line in enumerate(lines) if line.startswith("span "))
    end = [n for n, line in enumerate(lines) if line.startswith("trace ")][1]
    return _block(lines[start:end])


def first_trajectory(lines: list[str]) -> str:
    """Return the first trajectory as a block of code, without the place of its file."""
    start = next(n for n, line in enumerate(lines) if " tokens in, " in line)
    end = next(n for n, line in enumerate(lines[start:], start) if line.endswith(".json"))
    return _block(lines[start:end])


def _block(lines: list[str]) -> str:
    return "\n".join(("```", *lines, "```"))


def renewed(readme: str) -> str:
    """Return the README with all of these parts as they are now; one that it does not have raises ValueError."""
    lines = demo_lines()
    parts: dict[str, Callable[[], str]] = {
        "settings": settings_table,
        "dialects": dialects_table,
        "demo spans": lambda: first_trace(lines),
        "demo trajectory": lambda: first_trajectory(lines),
    }
    for name, make in parts.items():
        readme = _replaced(readme, name, make())
    return readme


def _replaced(readme: str, name: str, text: str) -> str:
    pattern = re.compile(rf"(<!-- {name}: .*? -->\n).*?(<!-- end of {name} -->)", re.DOTALL)
    if len(pattern.findall(readme)) != 1:
        raise ValueError(f"README.md: one part <!-- {name}: … --> … <!-- end of {name} --> was wanted")
    return pattern.sub(lambda found: f"{found[1]}{text}\n{found[2]}", readme)


if __name__ == "__main__":
    README.write_text(renewed(README.read_text(encoding="utf-8")), encoding="utf-8")
