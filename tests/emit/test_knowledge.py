"""Memories, retrieval and discoveries are spans of the kinds that they are."""

from __future__ import annotations

import json
from typing import Any

import pytest
from story import Story, moments, play

from atifold import semconv
from atifold.spans import Kind, Status

READS = {"path": ["sf-memory-read-m"]}
FOUND = {"k": 3, "threshold": 0.4, "consideredCount": 9, "admittedCount": 1, "candidates": [{"id": "d"}]}
PIECE = {"memoryId": "d", "score": 0.5, "rank": 1, "contentSummary": "mk-piece"}


def told(flavor: str | None) -> Story:
    """Return a turn that reads the memory `m` of a flavor before its inference."""
    memories = [] if flavor is None else [{"id": "m", "flavor": flavor}]
    story = Story().tell("agent.run_configured", {"agentId": "teller", "memories": memories}).turn()
    story.tell("memory.retrieved", FOUND, **READS).tell("memory.attached", PIECE, **READS)
    return story.asks().answers().turn_over().disposed()


@pytest.mark.parametrize("flavor", ["rag", None, "odd"])
def test_documents_are_retrieved(flavor: str | None) -> None:
    """So is whatever the configuration does not call a memory of conversations."""
    span = play(told(flavor)).named("retrieval m")
    assert span.attributes[semconv.DATA_SOURCE] == "m"
    assert span.attributes[semconv.RETRIEVAL_TOP_K] == 3
    assert span.attributes["agentfootprint.memory.considered_count"] == 9
    assert moments(span) == ["memory.attached"]


@pytest.mark.parametrize("capture", [False, True])
def test_a_memory_of_conversations_is_searched(capture: bool) -> None:
    """Store and count are structure; the records are what went into the prompt, and content."""
    result = play(told("memory"), capture_content=capture)
    span = result.named("search_memory")
    assert span.kind is Kind.CLIENT
    assert (span.attributes[semconv.MEMORY_STORE], span.attributes[semconv.MEMORY_COUNT]) == ("m", 1)
    assert moments(span) == ["memory.attached"]
    records = '[{"content":"mk-piece","id":"d","score":0.5}]'
    assert result.record("search_memory").attributes[semconv.MEMORY_RECORDS] == records
    assert span.attributes.get(semconv.MEMORY_RECORDS) == (records if capture else None)
    assert ("mk-piece" in str(result.exported)) is capture


def test_what_goes_into_a_memory_is_upserted() -> None:
    """With its id and its store; what was written and by whom is content."""
    written = {"memoryId": "m-1", "contentSummary": "mk-likes tea", "source": "auto", "actor": "mk-ann"}
    story = Story().turn().asks().answers().tell("memory.written", written, path=["sf-memory-write-notes"])
    result = play(story.turn_over())
    span = result.named("upsert_memory")
    assert span.attributes[semconv.MEMORY_RECORD] == "m-1"
    assert span.attributes[semconv.MEMORY_STORE] == "notes"
    assert span.attributes["agentfootprint.memory.source"] == "auto"
    assert "mk-" not in str(result.exported)
    records = json.loads(result.record("upsert_memory").attributes[semconv.MEMORY_RECORDS])
    assert records == [{"content": "mk-likes tea", "id": "m-1"}]


def test_a_piece_that_nobody_searched_for_stands_on_the_agent() -> None:
    """A window of recent turns has no retrieval."""
    result = play(Story().turn().tell("memory.attached", PIECE, **READS).asks().answers().turn_over())
    assert moments(result.named("invoke_agent teller")) == ["memory.attached"]
    assert "mk-" not in str(result.exported)


def test_a_piece_stands_on_the_search_of_its_own_memory() -> None:
    """Two memories are read one after the other."""
    story = Story().turn()
    for source in ("m", "n"):
        story.tell("memory.retrieved", FOUND, path=[f"sf-memory-read-{source}"])
    result = play(story.tell("memory.attached", PIECE, **READS).asks().answers().turn_over())
    assert moments(result.named("retrieval m")) == ["memory.attached"]
    assert moments(result.named("retrieval n")) == []


# ---- discoveries ---------------------------------------------------------------------------------

STARTED = {"providerId": "hub", "iteration": 1}


def discovery(story: Story, name: str, **payload: Any) -> Story:
    """Tell how a discovery goes on."""
    return story.tell(f"tools.discovery_{name}", {**STARTED, **payload})


def test_a_discovery_is_a_span_of_ours() -> None:
    """From its start to its end, under the agent, with the connection that listed the tools."""
    story = discovery(Story().turn(), "started")
    story.tell("tools.mcp_client", {"server": "hub", "at": "list", "client": "opened", "initMs": 4})
    result = play(discovery(story, "completed", toolCount=4, durationMs=20).asks().answers().turn_over())
    span = result.named("tools.discovery hub")
    assert (span.kind, (span.end_ns or 0) - span.start_ns) == (Kind.INTERNAL, 20_000_000)
    assert span.attributes["agentfootprint.tools.tool_count"] == 4
    assert not any(name.startswith("gen_ai.") for name in span.attributes)
    assert moments(span) == ["tools.mcp_client"]
    assert span.parent_id == result.named("invoke_agent teller").span_id
    assert result.folded().report["ignored"] == {"tools.discovery": 1}


def test_a_discovery_that_fails_is_an_error() -> None:
    """By the error's name; its text is content."""
    story = discovery(discovery(Story().turn(), "started"), "failed", errorName="Timeout", error="mk-down")
    result = play(story.asks().answers().turn_over())
    span = result.named("tools.discovery hub")
    assert (span.status, span.attributes[semconv.ERROR_TYPE]) == (Status.ERROR, "Timeout")
    assert "mk-down" not in str(result.exported)
    assert result.record("tools.discovery hub").status_message == "mk-down"


def test_a_discovery_without_its_start_begins_by_its_duration() -> None:
    """The provider may be undefined too; the span says that its beginning is lost."""
    story = Story().turn().asks().tell("tools.discovery_completed", {"iteration": 1, "durationMs": 5, "toolCount": 1})
    span = play(story.answers().turn_over()).named("tools.discovery")
    assert (span.end_ns or 0) - span.start_ns == 5_000_000
    assert span.attributes[semconv.INCOMPLETE]


@pytest.mark.parametrize("again", [False, True])
def test_a_discovery_that_never_ends_is_closed(again: bool) -> None:
    """With its agent, or by the next one of its provider."""
    story = discovery(Story().turn(), "started")
    if again:
        discovery(discovery(story, "started"), "completed", toolCount=1)
    spans = [s for s in play(story.turn_over()) if s.name == "tools.discovery hub"]
    assert [semconv.INCOMPLETE in span.attributes for span in spans] == ([True, False] if again else [True])
