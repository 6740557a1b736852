"""One story in six dialects, told with the faults that traces have in the wild: it stays the same story."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import pytest
from tellings import (
    ANSWER,
    ASKED,
    BASE_NS,
    FIND,
    FOUND,
    GENAI,
    MS,
    QUESTION,
    TONGUES,
    Inference,
    Tongue,
    model,
    order,
    span,
)

from atifold import atif, dialects
from atifold.fold import fold
from atifold.spans import Span

Damage = Callable[[Tongue, list[Span]], Sequence[Span]]
MODELS: Final = (2, 4)
"""The numbers of the spans of model calls."""


def number(told: Span) -> int:
    """Return the number of a span of the story."""
    return int(told.span_id, 16)


def without(told: Span, *parts: str) -> Span:
    """Return a span without the attributes in whose names one of some parts stands."""
    kept = {name: value for name, value in told.attributes.items() if not any(part in name for part in parts)}
    return replace(told, attributes=kept)


def layers(tongue: Tongue) -> list[Span]:
    """Return a second layer's spans of both model calls, each inside the first layer's."""
    first = Inference(ASKED, model("", FIND), (50, 9))
    second = Inference(FOUND, model(ANSWER), (80, 6))
    return [
        span(12, tongue.infer(first), 2, (11, 19), tongue.span_name),
        span(14, tongue.infer(second), 4, (51, 59), tongue.span_name),
    ]


def again(told: Span) -> Span:
    """Return a span under another id."""
    return replace(told, span_id="f" + told.span_id[1:])


def opened(value: Any) -> Any:
    """Return the value behind a JSON text of a list or an object."""
    return json.loads(value) if isinstance(value, str) and value[:1] in ("[", "{") else value


def texts_of_messages(value: Any) -> Any:
    """Return a list of messages as a list of JSON texts."""
    return [json.dumps(entry) for entry in json.loads(value)] if str(value).startswith("[") else value


def with_values(change: Callable[[Any], Any], spans: list[Span]) -> list[Span]:
    """Return spans with each attribute's value changed."""
    return [replace(s, attributes={name: change(value) for name, value in s.attributes.items()}) for s in spans]


FAULTS: Final[dict[str, Damage]] = {
    "told whole": lambda _, s: s,
    "a second layer inside": lambda _, s: [*s, *layers(GENAI)],
    "a second layer of the same dialect": lambda t, s: [*s, *layers(t)],
    "a second layer that has the figures alone": lambda _, s: [
        *[without(x, "usage", "token_count", "tokenUsage") if number(x) in MODELS else x for x in s],
        *[without(x, "messages") for x in layers(GENAI)],
    ],
    "model calls under two ids": lambda _, s: [*s, *(again(x) for x in s if number(x) in MODELS)],
    "all calls under two ids": lambda _, s: [*s, *(again(x) for x in s[1:])],
    "each span twice": lambda _, s: [*s, *s],
    "the second call inside the first": lambda _, s: [
        replace(x, parent_id=s[1].span_id) if x is s[3] else x for x in s
    ],
    "no root": lambda _, s: s[1:],
    "two missing parents": lambda _, s: [replace(x, parent_id=f"{at:016x}") for at, x in enumerate(s[1:], 90)],
    "the tool's span is gone": lambda _, s: [x for x in s if number(x) != 3],
    "one time for all": lambda _, s: [replace(x, start_ns=BASE_NS, end_ns=BASE_NS) for x in s],
    "ends before starts": lambda _, s: [replace(x, end_ns=x.start_ns - 5 * MS) for x in s],
    "starts in the reverse order": lambda _, s: [
        replace(x, start_ns=x.start_ns - 2 * at * 20 * MS) for at, x in enumerate(s)
    ],
    "no ends": lambda _, s: [replace(x, end_ns=None) for x in s],
    "the epoch": lambda _, s: [replace(x, start_ns=0, end_ns=0) for x in s],
    "a stream that starts when it ends": lambda _, s: [
        replace(x, start_ns=BASE_NS + 45 * MS, end_ns=BASE_NS + 45 * MS) if number(x) == 2 else x for x in s
    ],
    "structured values": lambda _, s: with_values(opened, s),
}


def told_by(spans: Sequence[Span]) -> dict[str, Any]:
    """Return what a trace's one document says of the story."""
    (document,) = fold(dialects.read(spans)).documents
    assert [str(found) for found in atif.check(document.trajectory) if found.severity == "error"] == []
    steps = [step for step in document.trajectory["steps"] if not step.get("is_copied_context")]
    agent = [step for step in steps if step["source"] == "agent"]
    results = [result["content"] for step in steps for result in step.get("observation", {}).get("results", ())]
    return {
        "asked": [step["message"] for step in steps if step["source"] == "user"],
        "said": [step["message"] for step in agent if step["message"]],
        "model calls": sum(step["llm_call_count"] for step in agent),
        "tool calls": [(c["function_name"], c["arguments"]) for step in agent for c in step.get("tool_calls", ())],
        "results": results,
        "tokens": [
            sum(step.get("metrics", {}).get(n, 0) for step in agent) for n in ("prompt_tokens", "completion_tokens")
        ],
    }


STORY: Final = {
    "asked": [QUESTION],
    "said": [ANSWER],
    "model calls": 2,
    "tool calls": [("find_order", {"id": 7})],
    "results": ["packed"],
    "tokens": [130, 15],
}


@pytest.mark.parametrize("tongue", TONGUES, ids=lambda tongue: tongue.name)
@pytest.mark.parametrize("fault", FAULTS)
def test_the_story_stays_the_same(fault: str, tongue: Tongue) -> None:
    """Whatever befell its trace."""
    assert told_by(FAULTS[fault](tongue, order(tongue))) == STORY


@pytest.mark.parametrize(
    ("fault", "change"),
    [
        ("JSON inside JSON text", lambda value: json.dumps(value) if str(value)[:1] in ("[", "{") else value),
        ("Python's notation", lambda value: repr(opened(value)) if str(value)[:1] in ("[", "{") else value),
        ("a list of JSON texts", texts_of_messages),
    ],
)
def test_content_of_the_conventions_may_be_written_otherwise(fault: str, change: Callable[[Any], Any]) -> None:
    """In JSON text twice, as Python writes it, as a list of texts."""
    assert told_by(with_values(change, order(GENAI))) == STORY, fault


@pytest.mark.parametrize("length", [20, 40, 60, 90, 150])
def test_a_cut_history_says_nothing_twice(length: int) -> None:
    """The beginning of a message that is known whole is no new one."""
    spans = order(GENAI)
    history = spans[3].attributes["gen_ai.input.messages"][:length]
    spans[3] = replace(spans[3], attributes={**spans[3].attributes, "gen_ai.input.messages": history})
    assert told_by(spans) == STORY


# ---- where nothing tells --------------------------------------------------------------------------


def unsure_of(spans: Sequence[Span]) -> str:
    """Return what the report is unsure of, as one text."""
    return "\n".join(
        line for entry in fold(dialects.read(spans)).report["documents"] for line in entry.get("unsure", ())
    )


def test_a_call_that_nothing_tells_from_the_one_around_it_is_doubted() -> None:
    """Two spans stay two calls, and the report says that they may be one."""
    bare = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "atlas-2"}
    inner = span(12, bare, 2, (11, 19), "chat atlas-2")
    assert "told twice" in unsure_of([*order(GENAI), inner, replace(inner, span_id="0" * 15 + "d")])
    assert unsure_of(order(GENAI)) == ""


def test_a_tool_that_may_be_another_traces_is_doubted() -> None:
    """It ran in a trace of its own, and nothing but its name ties it to the model that asked."""
    spans = order(GENAI)
    spans[2] = replace(without(spans[2], "call.id"), trace_id="1" * 32, parent_id=None)
    assert "told again" in unsure_of(spans)
