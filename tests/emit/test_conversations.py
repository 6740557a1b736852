"""The conversation stands wherever the conventions have it, and nowhere else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from story import Stage, Story, play, wires

from atifold import semconv
from atifold.events.envelope import parse
from atifold.spans import Span, Status
from atifold.testing.span_rules import SPAN_TYPES


def may_have(span: Span) -> bool:
    """Tell whether the conventions have the conversation on spans of this operation and kind."""
    operation = span.attributes.get(semconv.OPERATION)
    types = [kind for kind in SPAN_TYPES.values() if operation in kind.operations and span.kind in kind.kinds]
    return any(semconv.CONVERSATION in kind.allowed for kind in types)


def everything() -> Story:
    """Return a session in which each kind of span comes about."""
    story = Story(session="s-1", composition=("Sequence:pipe", "Agent:teller"))
    story.tell("composition.enter", {"kind": "Sequence", "id": "pipe", "name": "pipe"}).turn().asks()
    story.tell("embedding.generated", {"model": "e-1", "provider": "mock", "durationMs": 1, "inputKind": "query"})
    story.tell("memory.retrieved", {"k": 3}).tell("memory.written", {"store": "s"})
    story.tell("tools.discovery_started", {"providerId": "p"}).tell("tools.discovery_completed", {"providerId": "p"})
    return story.answers("", calls=1).starts("c1").ends("c1").turn_over()


def test_every_span_of_a_session_that_may_say_so_does() -> None:
    """Agents, workflows, model calls and tools do; embeddings, retrievals and memory do not."""
    spans = list(play(everything()))
    operations = {span.attributes.get(semconv.OPERATION, span.attributes.get(semconv.OWN_OPERATION)) for span in spans}
    assert {"invoke_agent", "invoke_workflow", "chat", "execute_tool", "embeddings", "retrieval"} <= operations
    for span in spans:
        wanted = "s-1" if may_have(span) else None
        assert span.attributes.get(semconv.CONVERSATION) == wanted, span.name


def test_the_same_holds_of_every_recording(recordings: list[Path]) -> None:
    """Resumed legs and agents that others call included."""
    for recording in recordings:
        sessions = {wire["meta"].get("sessionId") for wire in wires(recording)} - {None}
        for span in play(map(parse, wires(recording))):
            told = {span.attributes.get(semconv.CONVERSATION)} - {None}
            assert told <= sessions
            assert bool(told) is (may_have(span) and bool(sessions)), (recording.name, span.name)


# ---- the root of a failed run ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "payload"),
    [
        ("error.fatal", {"error": "It broke.", "stage": "x", "scope": "run"}),
        ("reliability.fail_fast", {"errorMessage": "429", "errorKind": "rate_limit", "reason": "r"}),
        ("permission.halt", {"reason": "no", "target": "t"}),
    ],
)
@pytest.mark.parametrize("depth", [0, 1, 2])
def test_the_root_of_a_failed_run_has_the_status_error(name: str, payload: dict[str, Any], depth: int) -> None:
    """However deep it failed: backends tell a trace's state by its root."""
    story = Story(composition=("Sequence:outer",))
    for level in range(depth):
        name_of = {"kind": "Sequence", "id": f"w{level}", "name": f"w{level}"}
        story.tell("composition.enter", name_of, path=[f"w{n}" for n in range(level)])
    path = [f"w{n}" for n in range(depth)]
    spans = list(play(story.turn(path=path).asks(path=path).tell(name, payload, path=path)))
    (root,) = [span for span in spans if span.parent_id is None]
    assert root.status is Status.ERROR
    assert root.attributes[semconv.ERROR_TYPE]


def test_what_a_program_raises_fails_the_root() -> None:
    """From a tool of an agent that an agent called; what is caught below it does not."""
    stage = Stage()

    def outer() -> None:
        with stage.bus.run("outer", "go") as run:
            with run.tool("caught", {}, id="c0") as tool:
                tool.fail("no", type="Handled")
            with run.tool("ask", {}, id="c1"), run.agent("inner", "do") as inner, inner.tool("look_up", {}, id="c2"):
                raise LookupError("nothing there")

    with pytest.raises(LookupError):
        outer()
    with stage.bus.run("sound", "go") as run, run.tool("caught", {}, id="c3") as tool:
        tool.fail("no", type="Handled")
    states = {span.name: span.status for span in stage.played()}
    assert states["invoke_agent outer"] is states["invoke_agent inner"] is Status.ERROR
    assert states["invoke_agent sound"] is Status.UNSET
