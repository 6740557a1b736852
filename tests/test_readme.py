"""README.md and the pages of docs/ say what is so: commands, outputs, code, settings, files."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind

from atifold.bus import EventBus
from atifold.cli import main
from atifold.events import DOMAINS, EVENTS
from atifold.settings import SETTINGS
from atifold.testing import Harness

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCS = {path.name: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md"))}
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
PROGRAM = (sys.executable, "-c", "from atifold.cli import main; main(prog_name='atifold')")


def _code(language: str, heading: str, page: str = README, number: int = 0) -> str:
    """Return a block of code in a language below a heading, the first one by default."""
    below = page.split(f"# {heading}\n", 1)[1]
    return re.findall(rf"^```{language}\n(.*?)^```", below, re.DOTALL | re.MULTILINE)[number]


@pytest.fixture
def writer() -> ModuleType:
    """Return the script that writes parts of the README."""
    found = importlib.util.spec_from_file_location("write_readme", ROOT / "scripts" / "write_readme.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_tables_and_outputs_are_as_they_are_now(writer: ModuleType) -> None:
    """The settings, and what the demo prints; `make readme` writes them anew."""
    for name in writer.PAGES:
        text = (ROOT / name).read_text(encoding="utf-8")
        assert writer.renewed(name, text) == text


def test_a_default_in_the_table_is_what_the_environment_would_say(writer: ModuleType) -> None:
    """Each text is read back as the default itself."""
    table = README.split("<!-- settings: ", 1)[1].split("<!-- end of settings", 1)[0]
    rows = re.findall(r"^\| `(\w+)` \| `(.*?)` \| .+ \|$", table, re.MULTILINE)
    assert [(variable, row.parse(text)) for (variable, text), row in zip(rows, SETTINGS, strict=True)] == [
        (row.variable, row.default) for row in SETTINGS
    ]


def test_a_readme_without_the_parts_is_refused(writer: ModuleType) -> None:
    """It says which part it wanted."""
    with pytest.raises(ValueError, match=r"README\.md: one part <!-- dialects: "):
        writer.renewed("README.md", "# atifold\n")


def test_every_make_command_exists() -> None:
    """In code and in prose; those that a newcomer sees first are two."""
    first = README.split("\n## ", 1)[0]
    assert re.findall(r"^make (\w+)", first, re.MULTILINE) == ["demo", "test"]
    phony = re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)
    assert phony is not None
    wanted = {word for words in re.findall(r"\bmake ((?:[a-z-]+ ?)+)[`#]", README) for word in words.split()}
    assert {"demo", "lint", "types", "layers"} <= wanted
    for target in {*wanted, "test"}:
        assert target in phony[1].split()
        assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE)


def test_the_table_of_commands_is_the_program_s() -> None:
    """All of them, and each option that a row names."""
    rows = re.findall(r"^\| `atifold (\w+)(.*?)` \| (.*) \|$", README, re.MULTILINE)
    assert sorted(name for name, _, _ in rows) == sorted(main.commands)
    for name, usage, does in rows:
        known = {option for parameter in main.commands[name].params for option in parameter.opts}
        assert set(re.findall(r"(?<![\w-])--?[a-z]+(?:-[a-z]+)*", f"{usage} {does}")) <= known


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["check", "good.json"], 0), (["check", "good.json", "bad.json"], 1), (["check"], 2), (["check", "none.json"], 3)],
)
def test_exit_codes_are_those_that_it_names(
    arguments: list[str], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The README's sentence is the help's, and it is true."""
    monkeypatch.chdir(tmp_path)
    good = '{"schema_version": "ATIF-v1.7", "agent": {"name": "a", "version": "1"}, "steps": [%s]}'
    step = '{"step_id": 1, "source": "user", "message": "Hello"}'
    Path("good.json").write_text(good % step, encoding="utf-8")
    Path("bad.json").write_text(good % "", encoding="utf-8")
    named = re.search(r"Exit codes: .*?\.", " ".join(README.split()))
    assert named is not None
    assert named[0] in " ".join(CliRunner().invoke(main, ["--help"]).output.split())
    assert f" {code} " in named[0]
    assert CliRunner().invoke(main, arguments).exit_code == code


def test_the_program_shown_is_the_example() -> None:
    """Line by line, but for indentation and comments."""
    lines = [line.split("  # ")[0].strip() for line in _code("python", "1. In a program").splitlines()]
    example = [line.strip() for line in (ROOT / "examples" / "attach.py").read_text(encoding="utf-8").splitlines()]
    assert lines[0] in example
    shown, whole = "\n".join(line for line in lines[1:] if line), "\n".join(line for line in example if line)
    assert shown in whole


def test_what_else_a_block_can_say_is_in_the_trajectory() -> None:
    """The second program as it stands: price, cache, failure, subagent, answer."""
    with Harness() as harness:
        exec(_code("python", "1. In a program", number=1), {"bus": harness.bus})  # noqa: S102
    (document,) = harness.trajectories()
    steps = document["steps"]
    metrics = next(step["metrics"] for step in steps if step["source"] == "agent")
    assert (metrics["cost_usd"], metrics["cached_tokens"]) == (0.00019, 32)
    assert [span.name for span in harness.spans if not span.status.is_ok] == ["execute_tool opening_hours"]
    assert [part["agent"]["name"] for part in document["subagent_trajectories"]] == ["archivist"]
    assert "gen_ai.client.inference.time_to_first_chunk" in _json(harness)
    assert "It is closed on Mondays." in str(document)


def _json(harness: Harness) -> str:
    data = harness.metrics()
    assert data is not None
    return data.to_json()


def test_every_link_leads_to_a_file() -> None:
    """From the folder of the page; each page of docs/ is linked from README."""
    pages = {ROOT / "README.md": README, **{ROOT / "docs" / name: text for name, text in DOCS.items()}}
    for path, text in pages.items():
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", text):
            assert (path.parent / target).is_file(), (path, target)
    assert {f"docs/{name}" for name in DOCS} <= set(re.findall(r"\]\(([^)]+)\)", README))


def test_whoever_instruments_without_code_names_the_protocol_of_the_port() -> None:
    """`opentelemetry-instrument` speaks gRPC unless it is told otherwise: 4318 takes none."""
    for text in (README, (ROOT / "examples" / "environment" / "README.md").read_text(encoding="utf-8")):
        for block in re.findall(r"^```\w*\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
            if ":4318" in block:
                assert "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf" in block


def test_the_processor_shown_can_be_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The two lines run as they stand."""
    monkeypatch.chdir(tmp_path)
    provider = TracerProvider(shutdown_on_exit=False)
    exec(_code("python", "2. As a span processor, for whatever instrumentation you have"), {"provider": provider})  # noqa: S102
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a"}
    tracer = provider.get_tracer("t")
    with tracer.start_as_current_span("invoke_agent a", attributes=agent):
        chat = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
        tracer.start_span("chat m", attributes=chat).end()
    provider.shutdown()
    assert len(list((tmp_path / "trajectories").iterdir())) == 1


def test_the_check_shown_passes_and_fails() -> None:
    """The lines run as they stand, with an agent that conforms and one that speaks of older times."""
    code = _code("python", "Test your own emission")

    def right(bus: EventBus) -> None:
        with bus.run("a", "Hello") as run, run.llm("gpt-4o", provider="openai") as call:
            call.respond("Hi.")

    exec(code, {"my_agent": right})  # noqa: S102
    wrong = code.replace("my_agent(harness.bus)", "my_agent(harness.tracer_provider)")

    def older(provider: TracerProvider) -> None:
        names = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o", "gen_ai.provider.name": "openai"}
        tracer = provider.get_tracer("t")
        tracer.start_span("chat gpt-4o", kind=SpanKind.CLIENT, attributes={**names, "gen_ai.system": "openai"}).end()

    with pytest.raises(AssertionError) as raised:
        exec(wrong, {"my_agent": older})  # noqa: S102
    said = README.split("said at once, one line each:\n\n```\n", 1)[1].split("```", 1)[0]
    assert re.sub(r"\[[0-9a-f]{16}\]", "[id]", str(raised.value)) == re.sub(r"\[[0-9a-f]{16}\]", "[id]", said.strip())


def test_the_replay_shown_says_these_words(tmp_path: Path) -> None:
    """The command as it stands, on what the demo left."""
    subprocess.run([*PROGRAM, "demo"], cwd=tmp_path, capture_output=True, check=True, timeout=60)
    command, words = _code("", "Afterwards, from files").split("\n", 1)
    arguments = command.removeprefix("$ atifold ").split()
    done = subprocess.run([*PROGRAM, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    assert (done.stdout, done.stderr) == ("", words)


def test_the_catalogue_is_as_large_as_it_says() -> None:
    """Events and domains."""
    counted = re.search(r"(\d+) events in (\d+) domains", README)
    assert counted is not None
    assert (int(counted[1]), int(counted[2])) == (len(EVENTS), len(DOMAINS))


def test_every_file_that_it_names_is_there() -> None:
    """From the root, or from the package."""
    named = set(re.findall(r"(?<![\w/.=])\.?[a-z_]+/[a-z_]+(?:\.py)?(?=[`\s)])", README))
    assert {"examples/attach.py", "emit/places.py", ".ci/run"} <= named
    for path in named:
        assert (ROOT / path).is_file() or (ROOT / "src" / "atifold" / path).is_file(), path


def test_the_long_prompts_shown_arrive() -> None:
    """The two lines run as they stand."""
    provider, exporter = TracerProvider(shutdown_on_exit=False), InMemorySpanExporter()
    names = {"provider": provider, "BatchSpanProcessor": BatchSpanProcessor, "OTLPSpanExporter": lambda: exporter}
    exec(_code("python", "Long prompts", DOCS["signals.md"]), names)  # noqa: S102
    provider.get_tracer("t").start_span("chat \ud800").end()
    provider.shutdown()
    assert [span.name for span in exporter.get_finished_spans()] == ["chat \ufffd"]


def test_the_ledger_shown_is_kept(tmp_path: Path) -> None:
    """The commands run as they stand, in an empty folder beside the demo: the last one vouches for the run."""
    folder, program = tmp_path / "fresh", tmp_path / "bin" / "atifold"
    for place in (folder, program.parent):
        place.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m atifold "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    assert CliRunner().invoke(main, ["demo", "-o", str(tmp_path / "atifold-demo")]).exit_code == 0
    commands = _code("sh", "The run ledger")
    assert len(re.findall(r"^atifold ", commands, re.MULTILINE)) == 5
    who = {f"GIT_{role}_{what}": "Ada" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    default = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "init.defaultBranch", "GIT_CONFIG_VALUE_0": "main"}
    env = {**os.environ, **who, **default, "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["sh", "-ec", commands], cwd=folder, env=env, capture_output=True, text=True, check=True, timeout=120
    )
    told = done.stdout.splitlines()[-3:]
    assert told[0].startswith("trust at main ")
    assert told[1:] == [
        "run-1796050714005-c6910fc5-ca8e90f3  signed: signed by ci",
        "1 run: 1 signed, 0 unsigned, 0 failed, 0 running",
    ]
