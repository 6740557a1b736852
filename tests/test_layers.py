"""The layers of the package, as far as the import linter cannot see them."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src" / "atifold"
CORE = (
    "errors",
    "filename",
    "jsontext",
    "jsonfiles",
    "kinds",
    "packed",
    "process",
    "times",
    "settings",
    "semconv",
    "spans",
    "calls",
    "nesting",
    "events",
    "atif",
    "bus",
    "recording",
    "otlp",
    "dialects",
    "fold",
)
MESSAGES = ("otlp/lenient.py", "otlp/protobuf.py")
HEAVY = ("pydantic", "opentelemetry.sdk", "orjson", "rich", "click")


def modules(part: str) -> Iterator[Path]:
    """Yield the source files of one part of the package, be it a module or a folder."""
    module = SOURCE / f"{part}.py"
    yield from [module] if module.is_file() else sorted((SOURCE / part).rglob("*.py"))


def imported(path: Path) -> Iterator[str]:
    """Yield the names that a file imports anywhere, inside functions too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def loaded_by(statement: str) -> set[str]:
    """Return the names of all modules that a fresh Python has loaded after a statement."""
    done = subprocess.run(
        [sys.executable, "-c", f"{statement}\nimport sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


@pytest.mark.parametrize("part", CORE)
def test_no_module_of_the_core_imports_the_sdk(part: str) -> None:
    """The core runs without an OpenTelemetry SDK: no import of it, not even a late one."""
    files = list(modules(part))
    assert files
    names = {name for path in files for name in imported(path)}
    assert not {n for n in names if n.startswith(("opentelemetry.sdk", "opentelemetry.exporter"))}


def test_only_what_reads_protobuf_imports_its_messages() -> None:
    """Of the packages of OpenTelemetry the core imports the messages of OTLP alone, and those in two modules."""
    importing = {
        path.relative_to(SOURCE).as_posix(): names
        for part in CORE
        for path in modules(part)
        if (names := {name for name in imported(path) if name.startswith("opentelemetry")})
    }
    assert tuple(sorted(importing)) == MESSAGES
    assert all(name.startswith("opentelemetry.proto.") for names in importing.values() for name in names)


def test_the_messages_are_loaded_when_protobuf_is_met() -> None:
    """Whoever reads JSON alone pays for no protobuf, and nothing unpacks zstd until something is packed so."""
    parse = "from atifold import otlp; otlp.parse({data!r}, 'x')"
    assert "google.protobuf" not in loaded_by(parse.format(data=b'{"resourceSpans": []}'))
    assert "zstandard" not in loaded_by(parse.format(data=b'{"resourceSpans": []}'))
    assert "google.protobuf" in loaded_by(parse.format(data=b"\x0a\x00"))


@pytest.mark.parametrize("part", CORE)
def test_loading_the_core_does_not_load_the_sdk(part: str) -> None:
    """What a core module loads by way of others holds no SDK either."""
    assert "opentelemetry.sdk" not in loaded_by(f"import atifold.{part}")


def test_importing_the_package_loads_nothing_heavy() -> None:
    """`import atifold` costs its own few modules; the rest is loaded on first use."""
    assert not loaded_by("import atifold").intersection(HEAVY)


def test_every_module_postpones_its_annotations() -> None:
    """`from __future__ import annotations` stands in every module that defines something."""
    for path in SOURCE.rglob("*.py"):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        if any(isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) for node in body):
            assert "__future__" in set(imported(path)), path
