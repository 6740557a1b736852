"""Whatever a program hands to a block, nothing is raised into it and the spans are there."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any
from uuid import UUID

import pytest
from story import Stage

from atifold import EventBus, semconv
from atifold.bus import inputs
from atifold.spans import Span, Status


class Mute(Exception):  # noqa: N818  it is one of a user's
    """An error that cannot say what it is."""

    def __str__(self) -> str:
        """Fail."""
        raise RuntimeError


class Thorny:
    """An object of an SDK of which nothing can be asked."""

    @property
    def model_dump(self) -> Any:
        """Fail."""
        raise RuntimeError

    def __str__(self) -> str:
        """Fail."""
        raise RuntimeError


class Loose(str):
    """A text that no dict takes as a key."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]


def deep(levels: int) -> list[Any]:
    """Return a list in a list, so many times."""
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


def broken() -> Iterator[Any]:
    """Yield a message, then fail."""
    yield {"role": "user", "content": "x"}
    raise RuntimeError


def chat_of(request: dict[str, Any] | None = None, answer: dict[str, Any] | None = None, **run: Any) -> Span:
    """Return the span of one inference with such a request and answer."""
    stage = Stage()
    with (
        stage.bus.run("a", "p", **run) as turn,
        turn.llm("m", **{"provider": "openai", **(request or {})}) as call,
    ):
        call.respond("x", **(answer or {}))
    spans = {span.name: span for span in stage.played()}
    assert set(spans) == {"chat m", "invoke_agent a"}
    return spans["chat m"]


@pytest.mark.parametrize("where", ["llm", "tool", "run"])
def test_an_error_that_cannot_say_what_it_is_is_named(where: str) -> None:
    """Its span has the name of its type; nothing else is raised in its place."""
    stage, error = Stage(capture_content=True), Mute()
    run = stage.bus.run("a").__enter__()
    if where != "run":
        block = run.llm("m", provider="p") if where == "llm" else run.tool("t")
        block.__enter__().__exit__(Mute, error, None)
    run.__exit__(Mute, error, None)
    span = next(iter(stage.played()))
    assert (span.status, span.status_message) == (Status.ERROR, "(Mute)")


@pytest.mark.parametrize(
    "request_",
    [
        {"system": 5},
        {"system": Thorny()},
        {"messages": broken()},
        {"messages": [Thorny()]},
        {"messages": [{"role": "user", "content": deep(5000)}]},
        {"tools": [Thorny(), 5, {}]},
        {"temperature": math.nan},
        {"temperature": "hot"},
        {"max_tokens": 10**30},
        {"top_p": 10**400},
    ],
    ids=lambda request: next(iter(request)),
)
def test_an_odd_request_is_sent_without_what_is_odd(request_: dict[str, Any]) -> None:
    """The inference has its span, and no figure that is none."""
    attributes = chat_of(request_).attributes
    assert not {semconv.TEMPERATURE, semconv.MAX_TOKENS, semconv.TOP_P}.intersection(attributes)


@pytest.mark.parametrize(
    "answer",
    [
        {"tool_calls": broken()},
        {"tool_calls": 5},
        {"tool_calls": [{"id": Loose("a"), "name": Loose("b"), "arguments": "{"}]},
        {"tool_calls": [{"id": "a", "name": "b", "arguments": {"a": deep(5000)}}]},
        {"reasoning": Thorny()},
        {"model": object(), "id": 5, "finish_reason": ["a"]},
    ],
)
def test_an_odd_answer_is_an_answer(answer: dict[str, Any]) -> None:
    """What can be used of it is."""
    assert chat_of(answer=answer).attributes[semconv.OPERATION] == "chat"


def test_content_of_5000_lists_is_none() -> None:
    """Nothing that speaks is nested so."""
    stage = Stage()
    with stage.bus.run("a") as run, run.llm("m", provider="p") as call:
        call.respond(deep(5000))
    assert len(list(stage.played())) == 2


@pytest.mark.parametrize("cost", [math.nan, math.inf, -3, 10**400, Fraction(10**400), "1e999", object(), True])
def test_a_cost_that_is_none_is_unknown(cost: Any, caplog: pytest.LogCaptureFixture) -> None:
    """It is said once in a process, and each is counted."""
    inputs.UNUSED.clear()
    for _ in range(2):
        assert semconv.COST_USD not in chat_of(answer={"cost_usd": cost}).attributes
    assert inputs.UNUSED["cost_usd"] == 2
    assert [record.levelno for record in caplog.records] == [logging.WARNING]


@pytest.mark.parametrize("count", [-5, 10**30, 2**63, math.nan, math.inf, True, "9" * 5000])
def test_a_count_that_is_none_is_unknown(count: Any) -> None:
    """Neither zero nor a figure that no backend holds."""
    attributes = chat_of(answer={"input_tokens": count, "output_tokens": 7}).attributes
    assert semconv.USAGE_INPUT not in attributes
    assert attributes[semconv.USAGE_OUTPUT] == 7


def test_more_cached_than_input_tokens_are_counted_apart() -> None:
    """Input includes them then, as the conventions count it."""
    attributes = chat_of(answer={"input_tokens": 10, "cached_tokens": 50, "cache_write_tokens": 1}).attributes
    assert (attributes[semconv.USAGE_INPUT], attributes[semconv.USAGE_CACHE_READ]) == (61, 50)
    assert chat_of(answer={"input_tokens": 60, "cached_tokens": 50}).attributes[semconv.USAGE_INPUT] == 60


def test_names_and_ids_may_be_of_any_type() -> None:
    """They are written as `str()` writes them, and UTF-8 can hold them."""
    stage = Stage()
    session = UUID(int=7)
    with stage.bus.run("a\ud800", session_id=session, run_id=[5], tenant=Thorny(), principal=3, version=2):  # type: ignore[arg-type]
        pass
    (agent,) = stage.played()
    assert agent.name == "invoke_agent a\ufffd"
    assert agent.attributes[semconv.CONVERSATION] == str(session)
    assert agent.attributes[semconv.RUN_ID] == "[5]"
    assert agent.attributes["agentfootprint.tenant"] == "(Thorny)"
    assert agent.attributes["agentfootprint.principal"] == "3"
    assert agent.attributes[semconv.AGENT_VERSION] == "2"


@pytest.mark.parametrize(
    ("event", "meta", "words"),
    [
        (5, None, "event: int was found, a name or an Event was wanted"),
        ("agent.turn_start", 5, "meta: int was found, a Meta or a mapping was wanted"),
    ],
)
def test_wrong_types_in_code_are_mistakes(event: Any, meta: Any, words: str) -> None:
    """One line says which, whether anybody listens or not."""
    with pytest.raises(TypeError, match=f"^{words}$"):
        EventBus().emit(event, {}, meta=meta)


@pytest.mark.parametrize(
    ("value", "found"), [(-1, "-1"), (-0.5, "-0.5"), ("a secret", "str"), (True, "bool"), (2**64, "int")]
)
def test_a_number_that_cannot_be_used_is_told_and_nothing_else(
    caplog: pytest.LogCaptureFixture, value: object, found: str
) -> None:
    """Of what is no number the kind alone: it may be private."""
    inputs.UNUSED.clear()
    assert inputs.count_of("output_tokens", value) is None
    assert caplog.messages == [
        f"output_tokens: found {found}, wanted a whole number, 0 or more; it is left out, and said once"
    ]
