"""What an event says stands on the span it belongs to, structure apart from content."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from story import Stage, Story, moments, play

from atifold import semconv
from atifold.emit.places import PLACES
from atifold.events.catalogue import CATALOGUE

DOMAINS = (
    "agent", "checkin", "composition", "context", "cost", "error", "eval", "fallback", "integrity", "pause",
    "permission", "reliability", "stream",
)  # fmt: skip
"""The domains whose events all have a place."""


def test_every_event_of_these_domains_has_one_place() -> None:
    """Each of them has a row, no row names an event that is not in the catalogue."""
    rows = [row.event for row in PLACES]
    known = {f"{domain}.{event}" for domain, events in CATALOGUE.items() for event in events}
    wanted = {f"{domain}.{event}" for domain in DOMAINS for event in CATALOGUE[domain]}
    assert len(rows) == len(set(rows))
    assert set(rows) <= known
    assert wanted <= set(rows)


def test_every_place_has_its_function_or_a_reason() -> None:
    """What `does` names exists; an event that is only counted says why."""
    for row in PLACES:
        if row.does is None:
            assert row.why, row.event
        else:
            module, function = row.does.split(":")
            assert callable(getattr(import_module(f"atifold.emit.on.{module}"), function)), row.event


@pytest.mark.parametrize("event", sorted(row.event for row in PLACES))
def test_every_event_is_survived_anywhere(event: str) -> None:
    """Alone, first, in the middle, after the end, with an empty payload: no failure, nothing left open."""
    for story in (
        Story().tell(event),
        Story().tell(event).turn().asks().answers().turn_over(),
        Story()
        .turn()
        .asks()
        .tell(event)
        .answers("", calls=1)
        .starts("c")
        .tell(event)
        .ends("c")
        .turn_over()
        .tell(event),
        Story(composition=["Parallel:p"]).tell(event, path=["a", "b"]).tell(event, path=["a"]).tell(event),
        Story(composition=[]).tell(event),
    ):
        result = play(story, capture_content=True)
        assert result.counts.get("events_failed", 0) == 0
        assert sorted(s.key for s in result.exported) == sorted({s.key for s in result.records})


# ---- usage ---------------------------------------------------------------------------------------

USAGE = {
    # provider, reported (input, output, cacheRead, cacheWrite, thinking) -> input, output
    "anthropic counts the cache and the thinking apart": ("anthropic", (180, 25, 100, 20, 7), 300, 32),
    "bedrock does so too": ("bedrock", (180, 25, 100, 20, None), 300, 25),
    "openai includes the cache": ("openai", (180, 25, 100, None, 5), 180, 30),
    "gemini includes the cache, not the thinking": ("gemini", (180, 25, 100, None, 9), 180, 34),
    "an unknown one is as the producer counts": ("mock", (180, 25, 100, 20, 3), 300, 28),
    "a wrapper is what it wraps": ("openai+retry", (180, 25, 100, None, None), 180, 25),
    "more cache than input proves that it is apart": ("openai", (10, 25, 100, None, None), 110, 25),
    "nothing is invented": ("openai", (None, None, None, None, None), None, None),
}


@pytest.mark.parametrize("case", USAGE.values(), ids=USAGE)
def test_tokens_are_counted_as_the_conventions_count_them(case: tuple[str, tuple[Any, ...], Any, Any]) -> None:
    """Input includes cache reads and writes, output includes reasoning; raw figures stay where they differ."""
    provider, reported, total_in, total_out = case
    names = ("input", "output", "cacheRead", "cacheWrite", "thinking")
    usage = {name: value for name, value in zip(names, reported, strict=True) if value is not None}
    chat = play(Story().turn().asks(provider=provider).answers("x", usage=usage).turn_over()).named("chat m-1")
    assert chat.attributes.get(semconv.USAGE_INPUT) == total_in
    assert chat.attributes.get(semconv.USAGE_OUTPUT) == total_out
    assert chat.attributes.get(semconv.USAGE_CACHE_READ) == reported[2]
    assert chat.attributes.get(semconv.USAGE_CACHE_WRITE) == reported[3]
    assert chat.attributes.get(semconv.USAGE_REASONING) == reported[4]
    raw = chat.attributes.get("agentfootprint.stream.usage.input")
    assert raw == (reported[0] if (total_in, total_out) != reported[:2] else None)


def test_a_true_zero_is_kept() -> None:
    """Zero cached tokens is a figure, not an absence."""
    usage = {"input": 5, "output": 0, "cacheRead": 0}
    chat = play(Story().turn().asks().answers("", usage=usage).turn_over()).named("chat m-1")
    assert (chat.attributes[semconv.USAGE_OUTPUT], chat.attributes[semconv.USAGE_CACHE_READ]) == (0, 0)


# ---- facts ---------------------------------------------------------------------------------------


def test_chunks_cost_no_span_event() -> None:
    """Their number and the time of the first are attributes."""
    story = Story().turn().asks()
    for number in range(3):
        story.tell("stream.token", {"tokenIndex": number, "content": "x"}, stage="call-llm#1")
    chat = play(story.answers("xxx").turn_over()).named("chat m-1")
    assert chat.attributes["agentfootprint.stream.chunks"] == 3
    assert chat.attributes[semconv.TIME_TO_FIRST_CHUNK] == pytest.approx(0.01)
    assert chat.events == ()


def test_progress_is_noted_sixteen_times() -> None:
    """The rest is counted; the text is content."""
    story = Story().turn().asks().answers("", calls=1).starts("c")
    for number in range(20):
        story.tell("stream.tool_progress", {"toolCallId": "c", "toolName": "look_up", "payload": f"mk-{number}"})
    result = play(story.ends("c").turn_over())
    assert moments(result.named("execute_tool look_up")) == ["stream.tool_progress"] * 16
    assert result.counts["facts_dropped"] == 4
    assert "mk-" not in str(result.exported)


@pytest.mark.parametrize("target", ["run-1", "turn-0", "c"])
def test_a_score_stands_on_what_it_scores(target: str) -> None:
    """A run by its id, a tool by its call's, anything else on the only open run."""
    story = Story().turn().asks().answers("", calls=1).starts("c")
    score = {"metricId": "faithfulness", "value": 0.87, "targetRef": target, "explanation": "mk-why"}
    result = play(story.tell("eval.score", score, run="consumer-scope").ends("c").turn_over())
    scored = "execute_tool look_up" if target == "c" else "invoke_agent teller"
    (event,) = result.named(scored).events
    assert event.attributes["agentfootprint.eval.value"] == 0.87
    assert "mk-why" not in str(result.exported)


def test_a_score_that_could_mean_two_runs_stands_on_none() -> None:
    """Unless a session tells them apart."""
    score = {"metricId": "m", "value": 1, "targetRef": "turn-0"}
    stories = [Story(f"run-{name}", session=name).turn() for name in "ab"]
    for session, found in ((None, 0), ("b", 1)):
        told = Story("consumer-scope", session=session).tell("eval.score", score)
        result = play([event for story in (*stories, told) for event in story.parsed()])
        assert sum(len(span.events) for span in result) == found


def test_a_configuration_waits_for_its_agent() -> None:
    """What is told before the turn starts stands on its span; the agent's name comes from it."""
    config = {"agentId": "booker", "llm": {"provider": "mock", "model": "m"}, "reactMode": "dynamic"}
    result = play(Story().tell("agent.run_configured", config).turn().turn_over().disposed())
    agent = result.named("invoke_agent booker")
    assert agent.attributes["agentfootprint.agent.react_mode"] == "dynamic"
    assert agent.attributes["agentfootprint.agent.llm.model"] == "m"


def test_a_disposition_stands_on_the_agent_and_seals_it() -> None:
    """It comes after the end of the turn and does not move it."""
    story = Story().configured().turn().turn_over()
    end_ns = (story.now_ms - 10) * 1_000_000
    result = play(story.tell("integrity.disposition", {"posture": "observe", "workExisted": True, "rows": []}))
    agent = result.named("invoke_agent teller")
    assert agent.attributes["agentfootprint.integrity.posture"] == "observe"
    assert agent.end_ns == end_ns


def test_facts_for_the_next_inference_wait_for_it() -> None:
    """They stand on the one that comes, not on the last."""
    story = Story().turn().asks().answers("", 1).tell("context.evicted", {"slot": "messages", "reason": "size"})
    result = play(story.asks(2).answers("x", 2).turn_over())
    first, second = (span for span in result if span.name == "chat m-1")
    assert (moments(first), moments(second)) == ([], ["context.evicted"])


def test_knowledge_has_spans_of_its_own() -> None:
    """Retrieval, what went into the context, and embeddings from their end minus their duration."""
    story = (
        Story()
        .turn()
        .tell("embedding.generated", {"model": "e-1", "provider": "openai", "durationMs": 4, "dimension": 3})
    )
    where = {"path": ["sf-memory-read-docs"]}
    story.tell("memory.retrieved", {"k": 2, "candidates": [{"id": "d", "score": 0.5, "heading": "mk-h"}]}, **where)
    story.tell("memory.attached", {"memoryId": "d", "score": 0.5, "rank": 1, "contentSummary": "mk-s"}, **where)
    result = play(story.asks().answers().turn_over())
    retrieval, embeddings = result.named("retrieval docs"), result.named("embeddings e-1")
    assert retrieval.start_ns == retrieval.end_ns
    assert retrieval.attributes[semconv.RETRIEVAL_TOP_K] == 2
    assert moments(retrieval) == ["memory.attached"]
    assert (embeddings.end_ns or 0) - embeddings.start_ns == 4_000_000
    assert embeddings.attributes[semconv.DIMENSIONS] == 3
    assert "mk-" not in str(result.exported)
    agent = result.named("invoke_agent teller")
    assert retrieval.parent_id == embeddings.parent_id == agent.span_id


def test_the_system_prompt_is_its_fragments_or_the_text_itself() -> None:
    """Fragments are joined by an empty line; the request's own text wins."""

    def told(**request: Any) -> Any:
        story = Story().turn()
        for text in ("Be brief.", "Use tools."):
            story.tell("context.injected", {"slot": "system-prompt", "rawContent": text}, path=["sf-system-prompt"])
        story.asks()
        story.events[-1]["payload"].update(request)
        chat = play(story.answers().turn_over(), capture_content=True).named("chat m-1")
        return chat.attributes[semconv.SYSTEM_INSTRUCTIONS]

    assert told() == '[{"type":"text","content":"Be brief.\\n\\nUse tools."}]'
    assert told(systemPromptText="Whole.") == '[{"type":"text","content":"Whole."}]'


# ---- texts and numbers that no wire holds --------------------------------------------------------


@pytest.mark.parametrize("session_id", ["raw", "hashed"])
def test_odd_texts_do_not_cost_a_batch(session_id: str) -> None:
    """A lone surrogate in a name, an argument, a result or an error can be encoded as OTLP protobuf."""
    odd = "odd \ud800 text"
    stage = Stage(capture_content=True, session_id=session_id)
    with stage.bus.run(odd, odd, session_id=odd) as run:
        with run.llm(odd, provider=odd, messages=[{"role": "user", "content": odd}], system=odd) as call:
            call.respond(odd, reasoning=odd, tool_calls=[{"id": odd, "name": odd, "arguments": {odd: odd}}])
        with run.tool(odd, {odd: odd}, id=odd) as tool:
            tool.result(odd)
        with run.tool("fails", id="2") as tool:
            tool.fail(odd, type=odd)
    stage.emitter.flush()
    spans = stage.memory.get_finished_spans()
    assert len(spans) == 4
    assert encode_spans(spans).SerializeToString()


def test_numbers_beyond_64_bits_do_not_cost_a_batch() -> None:
    """A count or a seed that OTLP cannot hold costs at most its own attribute."""
    huge = 2**70
    story = Story().turn().asks().answers("x", usage={"input": huge, "output": 1}).turn_over()
    story.events[1]["payload"]["iteration"] = huge
    stage = Stage(live=False)
    for event in story.parsed():
        stage.bus.emit(event)
    stage.emitter.flush()
    spans = stage.memory.get_finished_spans()
    assert len(encode_spans(spans).resource_spans[0].scope_spans[0].spans) == 2
