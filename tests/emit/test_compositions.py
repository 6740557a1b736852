"""Compositions and nested agents are spans that hold their branches."""

from __future__ import annotations

import pytest
from story import Story, play

from atifold import semconv
from atifold.spans import Span, Status

NS_PER_MS = 1_000_000


def incomplete(span: Span) -> tuple[str, ...]:
    """Return why a span is not whole."""
    return tuple(span.attributes.get(semconv.INCOMPLETE, ()))


def composed() -> Story:
    """Return a sequence of a parallel (one branch fails) and a loop."""
    story = Story(composition=["Sequence:pipe"])
    kind = {"kind": "Sequence", "id": "pipe", "name": "pipe"}
    inner = {"kind": "Parallel", "id": "both", "name": "both"}
    story.tell("composition.enter", kind).tell("composition.enter", inner, path=["step-both"])
    story.asks(1, path=["step-both", "left"]).asks(2, path=["step-both", "right"])
    story.answers("left ok", 1, path=["step-both", "left"])
    story.tell("composition.merge_end", {"mergedBranchCount": 1, "totalBranchCount": 2}, path=["step-both"])
    story.tell("composition.exit", {**inner, "status": "ok", "durationMs": 1.8e12}, path=["step-both"])
    loop = {"kind": "Loop", "id": "again", "name": "again"}
    story.tell("composition.enter", loop, path=["step-again"])
    for number in (1, 2):
        story.tell("composition.iteration_start", {"iteration": number}, path=["step-again"])
        story.asks(number + 2, path=["step-again", "body"]).answers("polished", number + 2, path=["step-again", "body"])
        story.tell("composition.iteration_exit", {"iteration": number, "reason": "max"}, path=["step-again"])
    return story.tell("composition.exit", {**loop, "status": "ok"}, path=["step-again"]).tell(
        "composition.exit", {**kind, "status": "err"}
    )


def test_compositions_nest_by_their_branches() -> None:
    """A nested composition is the child of the one that encloses its branch, a call of its own."""
    result = play(composed())
    outer, both, again = (result.named(f"invoke_workflow {name}") for name in ("pipe", "both", "again"))
    assert outer.parent_id is None
    assert both.parent_id == again.parent_id == outer.span_id
    parents = [span.parent_id for span in result if span.name == "chat m-1"]
    assert sorted(parents, key=str) == sorted([both.span_id] * 2 + [again.span_id] * 2, key=str)
    assert (both.end_ns or 0) - both.start_ns < 1_000 * NS_PER_MS, "the durations of nested exits are not to be trusted"


def test_a_failed_branch_leaves_its_inference_unfinished() -> None:
    """Nothing tells of the failure but the counts and the missing end; the composition's own status counts."""
    result = play(composed())
    open_chats = [span for span in result if span.name == "chat m-1" and incomplete(span)]
    assert len(open_chats) == 1
    assert result.named("invoke_workflow both").attributes["agentfootprint.composition.merged_branch_count"] == 1
    assert result.named("invoke_workflow pipe").status is Status.ERROR
    assert result.named("invoke_workflow pipe").attributes[semconv.ERROR_TYPE] == "_OTHER"
    assert result.named("invoke_workflow both").status is Status.UNSET
    assert open_chats[0].status is Status.ERROR, "fewer results were merged than branches began"
    assert open_chats[0].attributes[semconv.ERROR_TYPE] == "_OTHER"
    assert result.named("invoke_workflow both").attributes[semconv.INFERRED]


def test_an_agent_that_its_composition_leaves_open_says_so() -> None:
    """Between two calls nothing else of it is open; without the counts nothing tells that it failed."""
    story = Story(composition=["Sequence:pipe"]).tell("composition.enter", {"kind": "Sequence", "id": "pipe"})
    story.turn(path=["step-a"]).asks(path=["step-a"]).answers("half", path=["step-a"])
    result = play(story.tell("composition.exit", {"kind": "Sequence", "id": "pipe", "status": "ok"}))
    agent = result.named("invoke_agent a")
    assert incomplete(agent) == ("never ended",)
    assert agent.status is Status.UNSET
    assert incomplete(result.named("chat m-1")) == incomplete(result.named("invoke_workflow pipe")) == ()


def test_a_call_that_is_a_run_of_its_own_is_named_by_its_runner() -> None:
    """No agent and no branch names it."""
    (document,) = play(Story(composition=["LLMCall:solo"]).asks().answers()).folded().documents
    assert document.trajectory["agent"]["name"] == "solo"


def test_of_two_tools_with_one_prompt_the_one_whose_agent_has_not_started_is_the_parent() -> None:
    """Two runs delegate the same words one after the other, while the first agent is still at work."""
    outer = {run: Story(run).turn(run).asks().answers("", calls=1).starts("d", args={"task": "dig"}) for run in "ab"}
    inner = {run: Story(f"in-{run}").turn("dig").asks().answers("dug") for run in "ab"}
    events = [event for run in "ab" for story in (outer[run], inner[run]) for event in story.parsed()]
    result = play(events)
    agents = {span.attributes[semconv.RUN_ID]: span for span in result if semconv.RUN_ID in span.attributes}
    for run in "ab":
        assert agents[f"in-{run}"].trace_id == agents[run].trace_id
    assert agents["a"].trace_id != agents["b"].trace_id


@pytest.mark.parametrize("count", range(1, 19))
def test_deeply_nested_compositions_close_once_wherever_they_are_cut(count: int) -> None:
    """A cut closes each span below, from the inside out, exactly once."""
    story = Story(composition=["Sequence:a"])
    path: list[str] = []
    for name in "abcd":
        story.tell("composition.enter", {"kind": "Sequence", "id": name, "name": name}, path=path)
        path = [*path, f"step-{name}"]
    story.turn(path=path).asks(path=path).starts("c", path=path).ends("c", path=path).answers(path=path).turn_over(
        path=path
    )
    for name in "dcba":
        path = path[:-1]
        story.tell("composition.exit", {"kind": "Sequence", "id": name, "name": name, "status": "ok"}, path=path)
    result = play(story.parsed()[:count], slow_lane=True)
    assert len(result.starts) == len(result.exported) == len(result.records)
    position = {span.span_id: index for index, span in enumerate(result.exported)}
    assert all(position[s.span_id] < position[s.parent_id] for s in result if s.parent_id)


def test_an_agent_inside_an_agent_on_one_branch_is_its_child() -> None:
    """A nested agent on a longer path shares the run id and closes with, or before, the outer one."""
    story = Story().turn("outer").asks().answers("", calls=1).starts("c", "sub")
    story.turn("inner", path=["sub"]).asks(2, path=["sub"]).answers("in", 2, path=["sub"]).turn_over("in", path=["sub"])
    result = play(story.ends("c", "in").asks(3).answers("out", 3).turn_over("out").disposed())
    assert result.named("invoke_agent sub").parent_id == result.named("invoke_agent teller").span_id
    assert sum(span.parent_id == result.named("invoke_agent sub").span_id for span in result) == 1
