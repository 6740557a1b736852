"""Every leaf of every event is structure or content, and what nobody marked is content."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from structures import Catalogue, Structure

from atifold.events import EVENTS, Mark, Meta, build, leaves, marks, parse
from atifold.events.catalogue import UNTYPED
from atifold.events.marks import EXTENSION_PREFIX, EXTENSIONS, MAX_DEPTH, rules
from atifold.events.payload import Content, Nested

STRUCTURE, CONTENT = Mark.STRUCTURE, Mark.CONTENT
TYPED = sorted(set(EVENTS) - set(UNTYPED))

WORDS = {
    "description", "heading", "label", "value", "title", "note", "what", "why", "short", "text", "keyword", "witness",
    "actualSummary", "error", "got", "hint", "conflictKeys",
}  # fmt: skip
"""Names for words of people, models and tools: content although the catalogue calls the field around them structure."""

WHOLE = {
    "agentfootprint.tools.mcp_client": STRUCTURE,
    "agentfootprint.tools.request_attempts": STRUCTURE,
    "agentfootprint.findings.negative_claim": STRUCTURE,
    "agentfootprint.agent.thinking_omitted": STRUCTURE,
}
"""Events of one mark."""

DECIDED = {
    ("agentfootprint.agent.route_decided", "rationale"): CONTENT,  # open: the fixed sentences are not the only ones
    ("agentfootprint.pause.request", "reason"): CONTENT,  # the same
    ("agentfootprint.agent.evidence_checked", "computed[].from"): CONTENT,  # numbers of results
    ("agentfootprint.pause.request", "questionPayload.toolCallId"): STRUCTURE,  # what joins the legs
}
"""Leaves that the policy names one by one."""


def _marks_of(name: str, payload: Any) -> dict[str, Mark]:
    event = build(f"agentfootprint.{name}", payload, Meta())
    return {path: mark for path, mark, _ in leaves(event)}


@pytest.mark.parametrize("name", TYPED)
def test_every_field_of_an_event_has_a_mark(name: str) -> None:
    """A field without one would raise here, in nested models too."""
    found = marks(name)
    assert found
    assert set(found.values()) <= {STRUCTURE, CONTENT}


def test_a_field_without_a_mark_is_a_mistake_that_shows() -> None:
    """The policy is asked, not guessed."""

    class Unmarked(Nested):
        """A model with a field that nobody marked."""

        told: Content[str] = None
        left: str | None = None

    with pytest.raises(TypeError, match=r"Unmarked\.left has no mark"):
        rules(Unmarked)


@pytest.mark.parametrize("name", TYPED)
def test_every_leaf_has_the_mark_that_follows_from_the_policy(facts: Catalogue, name: str) -> None:
    """By upstream's list of fields, but words are content in any of them, and figures structure.

    Figures are numbers, booleans and closed enumerations; a described result is content whole.
    """
    listed = {
        *(facts.events[name].get("structure_fields") or ()),
        "toolName",
        "toolCallId",
        "iteration",
        "terminatedBy",
    }
    found = marks(name)
    assert found == {path: _policy(facts, name, listed, path) for path in found}


def _policy(facts: Catalogue, name: str, listed: set[str], path: str) -> Mark:
    names = path.replace("[]", "").split(".")
    if (name, path) in DECIDED or name in WHOLE:
        return DECIDED.get((name, path)) or WHOLE[name]
    if names[0] == "semantics":
        return CONTENT
    if _is_figure(_leaf(facts.structure(name), path)):
        return STRUCTURE
    return STRUCTURE if names[0] in listed and not WORDS & set(names) else CONTENT


def _leaf(structure: Structure, path: str) -> Structure:
    """Return the structure at a path of `marks`."""
    for name in path.split("."):
        key = name.replace("[]", "")
        below = structure.values if key == "*" else (structure.fields or {})[key][1]
        for _ in range(name.count("[]")):
            below = below.items if below is not None else None
        assert below is not None, path
        structure = below
    return structure


def _is_figure(leaf: Structure) -> bool:
    return leaf.kinds <= {"number", "boolean"} and (leaf.items, leaf.values, leaf.fields) == (None, None, None)


@pytest.mark.parametrize(
    ("name", "path", "mark"),
    [
        ("stream.llm_start", "tools[].name", STRUCTURE),
        ("stream.llm_start", "tools[].description", CONTENT),
        ("stream.llm_start", "systemPromptText", CONTENT),
        ("stream.llm_end", "usage.input", STRUCTURE),
        ("stream.llm_end", "content", CONTENT),
        ("stream.tool_start", "args", CONTENT),
        ("stream.tool_end", "changedArgKeys[]", STRUCTURE),
        ("stream.tool_end", "modelResult", CONTENT),
        ("stream.tool_end", "error", STRUCTURE),
        ("stream.thinking_end", "blocks[].content", CONTENT),
        ("agent.iteration_end", "history[].content", CONTENT),
        ("agent.iteration_end", "history[].toolCalls[].args", CONTENT),
        ("agent.evidence_checked", "computed[].value", CONTENT),
        ("agent.evidence_checked", "computed[].from", CONTENT),
        ("agent.evidence_checked", "computed[].derivation", STRUCTURE),
        ("agent.turn_end", "answerCoverage.checked[].what", CONTENT),
        ("agent.turn_end", "answerCoverage.periods[].held", CONTENT),
        ("agent.thinking_omitted", "reason", STRUCTURE),
        ("context.evaluated", "skillCatalog[].description", CONTENT),
        ("context.evaluated", "routing[].from", STRUCTURE),
        ("context.evaluated", "cursorMove.witness.text", CONTENT),
        ("context.evaluated", "cursorMove.guard.conditions[].actualSummary", CONTENT),
        ("context.slot_composed", "sourceBreakdown.*.chars", STRUCTURE),
        ("permission.check", "actor", CONTENT),
        ("permission.check", "result", STRUCTURE),
        ("permission.check", "toolCallId", STRUCTURE),
        ("pause.request", "questionPayload.toolCallId", STRUCTURE),
        ("eval.score", "label", CONTENT),
        ("eval.score", "value", STRUCTURE),
        ("error.fatal", "error", CONTENT),
        ("integrity.external_ground_used", "value", CONTENT),
        ("checkin.decision", "by", CONTENT),
        ("memory.retrieved", "candidates[].heading", CONTENT),
        ("memory.retrieved", "candidates[].docUri", STRUCTURE),
        ("memory.retrieved", "namespace", CONTENT),
        ("memory.written", "actor", CONTENT),
        ("tools.absent", "checked[].what", CONTENT),
        ("tools.absent", "checked[].kind", STRUCTURE),
        ("tools.absent", "composition.gaps[].bears", CONTENT),
        ("tools.absent", "composition.gaps[].bears.filter", CONTENT),
        ("tools.absent", "composition.gaps[].kind", STRUCTURE),
        ("tools.code_run", "exitCode", STRUCTURE),
        ("tools.code_run", "terminatedBy", STRUCTURE),
        ("tools.session_closed", "label", CONTENT),
        ("tools.effect", "refusalReason", CONTENT),
        ("tools.semantics_declared", "semantics.series[].value", CONTENT),
        ("tools.semantics_declared", "semantics.grain.is_counter", CONTENT),
        ("tools.request_attempts", "attempts[].error.message", STRUCTURE),
        ("tools.mcp_client", "clientId", STRUCTURE),
        ("findings.negative_claim", "notes[]", STRUCTURE),
        ("findings.standing", "conflictKeys[]", CONTENT),
        ("skill.deactivated", "reason", CONTENT),
        ("skill.activated", "reason", STRUCTURE),
        ("skill.turn_routed", "witness.text", CONTENT),
        ("skill.turn_routed", "scores[].score", STRUCTURE),
        ("skill.graph_declared", "edges[].guard.conditions[].value", CONTENT),
        ("skill.graph_declared", "edges[].from", STRUCTURE),
        ("skill.step_skipped", "step.note", CONTENT),
        ("skill.step_skipped", "step.tool", STRUCTURE),
        ("validation.args_invalid", "issues[].got", CONTENT),
        ("validation.args_invalid", "issues[].path", STRUCTURE),
        ("credential.failed", "reason", CONTENT),
        ("credential.failed", "toolCallId", STRUCTURE),
        ("artifacts.minted", "label", CONTENT),
        ("artifacts.presented", "snapshot.label", CONTENT),
        ("artifacts.presented", "as", STRUCTURE),
        ("artifacts.refused", "ref", CONTENT),
        ("map.engaged", "witness", CONTENT),
        ("middleware.decision", "why", CONTENT),
        ("resilience.output_canned_used", "rawOutputPreview", CONTENT),
    ],
)
def test_a_leaf_has_the_mark_that_the_policy_gives_it(name: str, path: str, mark: Mark) -> None:
    """Picked by hand from the policy, both sides of each split."""
    assert marks(f"agentfootprint.{name}")[path] is mark


def test_an_event_without_a_model_has_no_listed_leaves() -> None:
    """All of it is content."""
    (name,) = UNTYPED
    assert marks(name) == {}
    assert marks("agentfootprint.no.such") == {}
    event = build(name, {"toolName": "t", "n": {"deep": [1]}}, Meta())
    assert list(leaves(event)) == [("toolName", CONTENT, "t"), ("n.deep[]", CONTENT, 1)]


def test_what_no_model_declares_is_content() -> None:
    """Unknown fields, at the top and inside typed objects, though they look like structure."""
    found = _marks_of("stream.llm_end", {"iteration": 1, "toolName": "t", "usage": {"input": 1, "audio": 2}})
    assert found == {"iteration": STRUCTURE, "toolName": CONTENT, "usage.input": STRUCTURE, "usage.audio": CONTENT}


def test_an_unreadable_payload_is_content_down_to_its_leaves() -> None:
    """No mark of the model it should have been is used."""
    found = _marks_of("stream.llm_end", {"iteration": "one", "usage": {"input": 1}})
    assert set(found.values()) == {CONTENT}
    assert [*leaves(parse({"type": "agentfootprint.stream.llm_end", "payload": "x"}))] == [("", CONTENT, "x")]


def test_an_extension_field_carries_its_own_mark() -> None:
    """By the table; one that the table has not is content, and so is an object in a field of structure."""
    found = _marks_of(
        "stream.llm_start",
        {
            "atifold.maxTokens": 100,
            "atifold.topP": {"said": "x"},
            "atifold.messages": [{"role": "user", "content": "hi"}],
            "atifold.unheard": 1,
        },
    )
    assert found == {
        "atifold.maxTokens": STRUCTURE,
        "atifold.topP.said": CONTENT,
        "atifold.messages[].role": CONTENT,
        "atifold.messages[].content": CONTENT,
        "atifold.unheard": CONTENT,
    }
    assert all(name.startswith(EXTENSION_PREFIX) for name in EXTENSIONS)


def test_an_extension_name_inside_a_body_means_nothing() -> None:
    """A model can write any argument name; it stays content."""
    found = _marks_of("stream.tool_start", {"args": {"atifold.maxTokens": "said"}})
    assert found == {"args.atifold.maxTokens": CONTENT}


def test_the_history_is_marked_though_it_is_kept_unread() -> None:
    """Its dicts are walked by the message's model; what stands in an odd place is content."""
    message = {
        "role": "assistant",
        "content": "c",
        "toolCalls": [{"id": "i", "name": "n", "args": {"city": "Oslo"}}],
        "thinkingBlocks": ["odd"],
        "mood": "m",
    }
    event = build("agentfootprint.agent.iteration_end", {"history": [message, {"role": {"x": "odd"}}, "odd"]}, Meta())
    assert list(leaves(event)) == [
        ("history[].role", STRUCTURE, "assistant"),
        ("history[].content", CONTENT, "c"),
        ("history[].toolCalls[].id", CONTENT, "i"),
        ("history[].toolCalls[].name", CONTENT, "n"),
        ("history[].toolCalls[].args.city", CONTENT, "Oslo"),
        ("history[].thinkingBlocks[]", CONTENT, "odd"),
        ("history[].mood", CONTENT, "m"),
        ("history[].role.x", CONTENT, "odd"),
        ("history[]", CONTENT, "odd"),
    ]


def test_maps_have_their_keys_in_the_path() -> None:
    """The mark is that of any key."""
    found = _marks_of(
        "context.slot_composed", {"sourceBreakdown": {"rag": {"chars": 1, "count": 2}, "new": {"chars": 3, "x": 4}}}
    )
    assert found == {
        "sourceBreakdown.rag.chars": STRUCTURE,
        "sourceBreakdown.rag.count": STRUCTURE,
        "sourceBreakdown.new.chars": STRUCTURE,
        "sourceBreakdown.new.x": CONTENT,
    }


def test_a_body_too_deep_is_one_leaf() -> None:
    """A body without end (a program can make one) is walked no further than the bound."""
    body: dict[str, Any] = {}
    body["self"] = body
    ((path, mark, value),) = leaves(build("agentfootprint.stream.tool_start", {"args": body}, Meta()))
    assert (path.count("self"), mark, value) == (MAX_DEPTH, CONTENT, body)


def test_no_recorded_text_of_a_person_model_or_tool_is_called_structure(shared: Path) -> None:
    """What the recordings are known to say appears in leaves of content alone."""
    said = ("Hi there", "Hello! How can I help?", "connection refused", "I should call the tool", "approved by alice")
    seen = set()
    for file in sorted((shared / "recordings").glob("*.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            for path, mark, value in leaves(parse(json.loads(line))):
                text = next((words for words in said if isinstance(value, str) and words in value), None)
                if text is not None:
                    seen.add(text)
                    assert mark is CONTENT, path
    assert seen == set(said)


def test_the_recorded_leaves_are_all_listed(shared: Path) -> None:
    """Each leaf of a recorded typed event lies at, above or inside a path of `marks`; inside, with that mark."""
    for line in (shared / "recordings" / "02-tool-loop.jsonl").read_text("utf-8").splitlines():
        event = parse(json.loads(line))
        listed = {
            re.compile(re.escape(path).replace(r"\.\*", r"\.[^.]+")): mark for path, mark in marks(event.type).items()
        }
        for path, mark, value in leaves(event):
            inside = {
                known for pattern, known in listed.items() if (m := pattern.match(path)) and path[m.end() :][:1] in ".["
            }
            above = value in ([], {}) and any(pattern.pattern.startswith(re.escape(path)) for pattern in listed)
            assert inside == {mark} or above, path
