"""Give plugin tests a provider, spans that speak the conventions, and the documents that come of them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

from atifold.plugin import doors
from atifold.spans import SideDoor, Span

Documents = Callable[[], dict[str, Any]]

AGENT = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "coder"}
CHAT = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "gpt-4o",
    "gen_ai.usage.input_tokens": 3,
    "gen_ai.usage.output_tokens": 4,
    "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": "What is due?"}]}]),
    "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "Nothing."}]}]),
}


@pytest.fixture
def provider_of() -> Iterator[Callable[..., TracerProvider]]:
    """Return a maker of providers, which are shut down afterwards; the doors of the process are left as before."""
    made: list[TracerProvider] = []

    def make(**settings: Any) -> TracerProvider:
        made.append(TracerProvider(shutdown_on_exit=False, **settings))
        return made[-1]

    before = doors.doors()
    yield make
    for provider in made:
        provider.shutdown()
    for door in doors.doors():
        if door not in before:
            doors.unregister(door)


@pytest.fixture
def documents(tmp_path: Path) -> Documents:
    """Return a reader of the documents in the test's folder `out`, by file name."""

    def read() -> dict[str, Any]:
        return {file.name: json.loads(file.read_bytes()) for file in sorted((tmp_path / "out").glob("*"))}

    return read


@pytest.fixture
def turn() -> Callable[[trace.TracerProvider], None]:
    """Return what traces one turn of an agent with one model call."""

    def trace_a_turn(provider: trace.TracerProvider) -> None:
        tracer = provider.get_tracer("test")
        with tracer.start_as_current_span("invoke_agent coder", attributes=AGENT):
            tracer.start_span("chat gpt-4o", kind=trace.SpanKind.CLIENT, attributes=CHAT).end()

    return trace_a_turn


@pytest.fixture
def told_turn() -> Callable[[trace.TracerProvider, SideDoor], None]:
    """Return what does as an emitter: tells each start, and each whole record just before the span's end."""

    def tell(provider: trace.TracerProvider, door: SideDoor) -> None:
        tracer = provider.get_tracer("atifold")
        root = tracer.start_span("invoke_agent coder", attributes=AGENT)
        chat = tracer.start_span("chat gpt-4o", context=trace.set_span_in_context(root), attributes=CHAT)
        parent = f"{root.get_span_context().span_id:016x}"
        for span, attributes, above in ((chat, CHAT, parent), (root, AGENT, None)):
            context = span.get_span_context()
            trace_id, span_id = f"{context.trace_id:032x}", f"{context.span_id:016x}"
            sampled = context.trace_flags.sampled
            door.opened(trace_id, span_id, parent_span_id=above, sampled=sampled)
            door.closed(partial(Span, trace_id, span_id, above, "s", 1, 2, attributes=attributes), sampled=sampled)
            span.end()

    return tell


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], str]:
    """Return what runs a program with the test's folder as argument and gives its stderr; it has to end well."""

    def run(source: str) -> str:
        done = subprocess.run(
            [sys.executable, "-W", "ignore::DeprecationWarning", "-c", source, str(tmp_path / "out")],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr
        return done.stderr

    return run
