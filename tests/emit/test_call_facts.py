"""Facts stand as attributes on the inference or tool they belong to, and as events where they may come again."""

from __future__ import annotations

from typing import Any

import pytest
from story import Story, moments, play

from atifold import semconv
from atifold.spans import Span

CALL = {"toolCallId": "c", "toolName": "look_up", "iteration": 1}


def on_tool(event: str, payload: dict[str, Any], *, early: bool = False) -> Span:
    """Return the tool's span of a turn in which an event comes while it runs, or before it starts."""
    story = Story().turn().asks().answers("", calls=1)
    if early:
        story.tell(event, payload).starts("c")
    else:
        story.starts("c").tell(event, payload)
    return play(story.ends("c").turn_over()).named("execute_tool look_up")


TOOL_FACTS: dict[str, tuple[dict[str, Any], dict[str, Any], bool]] = {
    # event: payload, attributes, also an event?
    "findings.declared": ({**CALL, "basis": "claim", "malformed": 1}, {"findings.malformed": 1}, False),
    "tools.code_run": ({"tool": "look_up", "language": "py", "truncated": True}, {"tools.language": "py"}, False),
    "tools.mcp_client": ({"toolCallId": "c", "server": "s", "at": "call"}, {"tools.server": "s"}, False),
    "tools.request_attempts": ({**CALL, "omitted": 2, "attempts": []}, {"tools.omitted": 2}, True),
    "tools.result_refused": ({**CALL, "sizeChars": 9, "maxChars": 5}, {"tools.size_chars": 9}, True),
    "credential.failed": ({**CALL, "service": "s", "errorClass": "E"}, {"credential.error_class": "E"}, True),
    "permission.check": (
        {**CALL, "capability": "tool_call", "result": "allow", "policyRuleId": "r"},
        {"permission.policy_rule_id": "r", "permission.result": "allow"},
        True,
    ),
}


@pytest.mark.parametrize(
    ("event", "early"),
    [*((event, False) for event in TOOL_FACTS), *((e, True) for e in TOOL_FACTS if "toolCallId" in TOOL_FACTS[e][0])],
)
def test_facts_of_a_tool_are_its_attributes(event: str, early: bool) -> None:
    """What names a call waits for it; what may come again is an event besides."""
    payload, wanted, noted = TOOL_FACTS[event]
    span = on_tool(event, payload, early=early)
    assert {name: span.attributes.get(f"agentfootprint.{name}") for name in wanted} == wanted
    assert moments(span) == ([event] if noted else [])
    assert not any(name.endswith((".tool_call_id", ".tool_name")) for name in span.attributes if name[0] == "a")


def test_the_exit_code_has_the_conventions_name() -> None:
    """A tool that ran a program is a command."""
    assert on_tool("tools.code_run", {"tool": "look_up", "exitCode": 137}).attributes[semconv.EXIT_CODE] == 137


def test_the_last_check_counts_and_each_is_noted() -> None:
    """The rule that allowed is not the rule that denied."""
    story = Story().turn().asks().answers("", calls=1).starts("c")
    story.tell("permission.check", {**CALL, "result": "allow", "policyRuleId": "mild"})
    story.tell("permission.check", {**CALL, "result": "deny", "rationale": "mk-why"})
    result = play(story.ends("c", "no").turn_over())
    span = result.named("execute_tool look_up")
    assert span.attributes["agentfootprint.permission.result"] == "deny"
    assert "agentfootprint.permission.policy_rule_id" not in span.attributes
    assert [event.attributes.get("agentfootprint.permission.policy_rule_id") for event in span.events] == ["mild", None]
    assert span.attributes[semconv.DISPATCH] == "refused"
    assert "mk-why" not in str(result.exported)


def test_a_fact_goes_to_the_running_tool_of_its_name() -> None:
    """Else to the agent: another tool has nothing to do with it."""
    story = Story().turn().asks().answers("", calls=2).starts("c").starts("d", "other")
    story.tell("tools.code_run", {"tool": "look_up", "language": "py"})
    story.tell("tools.code_run", {"tool": "gone", "language": "sh"})
    result = play(story.ends("c").ends("d").turn_over())
    names = ("execute_tool look_up", "execute_tool other", "invoke_agent teller")
    languages = [result.named(name).attributes.get("agentfootprint.tools.language") for name in names]
    assert languages == ["py", None, "sh"]


def test_a_described_result_is_counted_only() -> None:
    """The description is the result in another form, which the tool's result has."""
    semantics = {"af_semantics": True, "facts": [{"entity": "mk-a"}, {"entity": "mk-b"}], "note": "mk-n"}
    story = Story().turn().asks().answers("", calls=1).starts("c")
    result = play(story.tell("tools.semantics_declared", {**CALL, "semantics": semantics}).ends("c").turn_over())
    (event,) = result.record("execute_tool look_up").events
    assert event.attributes["agentfootprint.tools.semantics.facts_count"] == 2
    assert "mk-" not in str(event.attributes)


# ---- inferences ----------------------------------------------------------------------------------


def test_what_a_request_was_made_of_stands_on_it() -> None:
    """Sizes of the slots, counts of injections, tools offered and withheld: on the inference that comes."""
    story = Story().turn().asks(1).answers("", 1)
    story.tell("context.evaluated", {"iteration": 2, "activeCount": 2, "skippedCount": 0, "evaluatedTotal": 5})
    budget = {"cap": 100, "used": 40, "headroomChars": 60}
    story.tell("context.slot_composed", {"slot": "system-prompt", "budget": budget, "droppedCount": 1})
    offer = {"availableIds": ["a", "b"], "withheldIds": ["c"], "withheldReasons": {"c": "gated"}, "reason": "mk-r"}
    result = play(story.tell("tools.offered", offer).asks(2).answers("x", 2).turn_over())
    first, second = (span for span in result if span.name == "chat m-1")
    wanted = {
        "context.active_count": 2,
        "context.skipped_count": 0,
        "context.evaluated_total": 5,
        "context.system_prompt.used": 40,
        "context.system_prompt.cap": 100,
        "context.system_prompt.dropped_count": 1,
        "tools.available_ids": ("a", "b"),
        "tools.withheld_ids": ("c",),
        "tools.withheld_reasons": '{"c":"gated"}',
    }
    told = {name: second.attributes.get(f"agentfootprint.{name}") for name in wanted}
    assert {name: tuple(v) if isinstance(v, list) else v for name, v in told.items()} == wanted
    assert not any(name.startswith(("agentfootprint.context", "agentfootprint.tools")) for name in first.attributes)
    assert "mk-r" not in str(result.exported)


@pytest.mark.parametrize(("slot", "action", "compacted"), [
    ("messages", "summarize", True), ("messages", "evict", None), ("tools", "summarize", None)
])  # fmt: skip
def test_a_summarised_history_is_compacted(slot: str, action: str, compacted: bool | None) -> None:
    """Only that; the pressure is told each time, on the next inference."""
    pressure = {"slot": slot, "planAction": action, "overflowBy": 9, "unit": "chars", "cap": 10, "projected": 19}
    story = Story().turn().asks(1).answers("", 1).tell("context.budget_pressure", pressure)
    first, second = (s for s in play(story.asks(2).answers("x", 2).turn_over()) if s.name == "chat m-1")
    assert semconv.COMPACTED not in first.attributes
    assert second.attributes.get(semconv.COMPACTED) is compacted
    assert second.attributes["agentfootprint.context.overflow_by"] == 9
    assert moments(second) == ["context.budget_pressure"]


def test_outcomes_stand_on_the_inference_they_are_of() -> None:
    """A choice on the one that made it, an ontology on the one that it was served to, a recovery on its own."""
    story = Story().turn().tell("ontology.served", {"iteration": 1, "id": "o", "nodes": 3})
    story.asks(1).tell("error.recovered", {"attempt": 2, "totalDurationMs": 30}, stage="call-llm#1").answers("", 1)
    story.tell("tool_choice.outcome", {"iteration": 1, "called": ["a"], "firstAgrees": True})
    story.tell("ontology.served", {"iteration": 2, "id": "o", "nodes": 4})
    first, second = (s for s in play(story.asks(2).answers("x", 2).turn_over()) if s.name == "chat m-1")
    names = ("ontology.nodes", "error.attempt", "tool_choice.first_agrees")
    assert [first.attributes.get(f"agentfootprint.{name}") for name in names] == [3, 2, True]
    assert [second.attributes.get(f"agentfootprint.{name}") for name in names] == [4, None, None]
    assert moments(first) == ["error.recovered"]


@pytest.mark.parametrize(("kind", "name"), [
    ("provider", "chat m-1"), ("tool", "execute_tool look_up"), ("skill", "invoke_agent teller"), ("new", "chat m-1")
])  # fmt: skip
def test_a_fallback_stands_on_what_it_replaced(kind: str, name: str) -> None:
    """A provider's on the inference, a tool's on the tool, a skill's on the agent."""
    story = Story().turn().asks().answers("", calls=1).starts("c")
    told = {"kind": kind, "primary": "look_up", "fallback": "other", "reason": "mk-why"}
    result = play(story.tell("fallback.triggered", told).ends("c").turn_over())
    assert result.named(name).attributes["agentfootprint.fallback.fallback"] == "other"
    assert moments(result.named(name)) == ["fallback.triggered"]
    assert "mk-why" not in str(result.exported)


# ---- agents --------------------------------------------------------------------------------------


@pytest.mark.parametrize("event", ["tools.shadowed", "tools.claim_swallowed"])
def test_what_is_told_at_every_iteration_is_noted_once_a_name(event: str) -> None:
    """Each tool's first time."""
    story = Story().turn()
    for name in ("a", "a", "b", "a"):
        story.tell(event, {"toolName": name, "iteration": 1})
    agent = play(story.asks().answers().turn_over()).named("invoke_agent teller")
    assert [event.attributes["agentfootprint.tools.tool_name"] for event in agent.events] == ["a", "b"]


@pytest.mark.parametrize("early", [True, False])
def test_a_skill_graph_is_its_size(early: bool) -> None:
    """It is declared before the turn starts; its texts do not leave."""
    graph = {"nodes": [{"id": "a", "kind": "skill", "description": "mk-d"}], "edges": []}
    story = Story().configured()
    story = (
        story.tell("skill.graph_declared", graph).turn() if early else story.turn().tell("skill.graph_declared", graph)
    )
    result = play(story.turn_over().disposed())
    told = result.named("invoke_agent teller").attributes
    assert (told["agentfootprint.skill.graph.nodes_count"], told["agentfootprint.skill.graph.edges_count"]) == (1, 0)
    assert "mk-d" not in str(result.records)


@pytest.mark.parametrize(("reason", "named"), [("read_skill_result", True), ("manual", False)])
def test_a_skill_that_was_read_names_the_call_that_loaded_it(reason: str, named: bool) -> None:
    """Of two calls the one with the skill's id among its arguments; a skill that came otherwise names none."""
    story = Story().turn().asks().answers("", calls=2)
    for call, skill in (("c", "billing"), ("d", "refunds")):
        story.starts(call, "read_skill", {"id": skill}).ends(call)
    result = play(story.tell("skill.activated", {"skillId": "billing", "reason": reason}).turn_over())
    tools = {s.attributes[semconv.TOOL_CALL_ID]: s for s in result if s.name.startswith("execute_tool")}
    assert tools["c"].name == ("execute_tool read_skill billing" if named else "execute_tool read_skill")
    assert tools["c"].attributes.get(semconv.SKILL_NAME) == ("billing" if named else None)
    assert semconv.SKILL_NAME not in tools["d"].attributes
    assert moments(result.named("invoke_agent teller")) == ["skill.activated"]
