"""Write what README.md shows of the program itself anew.

    make readme

Those are dialects, settings, and what `atifold demo` prints. A part stands between the comments
`<!-- NAME: … -->` and `<!-- end of NAME -->`. A test compares.
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

ROOT = Path(__file__).resolve().parent.parent
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


def readme_parts() -> dict[str, str]:
    """Return the parts of README.md by their names."""
    lines = demo_lines()
    return {
        "dialects": dialects_table(),
        "settings": settings_table(),
        "demo spans": first_trace(lines),
        "demo trajectory": first_trajectory(lines),
    }


PAGES: dict[str, Callable[[], dict[str, str]]] = {
    "README.md": readme_parts,
}
"""What makes the parts of each page."""


def renewed(page: str, text: str) -> str:
    """Return a page with all of its parts as they are now; one that it does not have raises ValueError."""
    for name, part in PAGES[page]().items():
        text = _replaced(page, text, name, part)
    return text


def _replaced(page: str, text: str, name: str, part: str) -> str:
    pattern = re.compile(rf"(<!-- {name}: .*? -->\n).*?(<!-- end of {name} -->)", re.DOTALL)
    if len(pattern.findall(text)) != 1:
        raise ValueError(f"{page}: one part <!-- {name}: … --> … <!-- end of {name} --> was wanted")
    return pattern.sub(lambda found: f"{found[1]}{part}\n{found[2]}", text)


if __name__ == "__main__":
    for name in PAGES:
        path = ROOT / name
        path.write_text(renewed(name, path.read_text(encoding="utf-8")), encoding="utf-8")
