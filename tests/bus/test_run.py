"""`bus.run` emits the right events from any kind of Python code, and makes its spans current."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import pytest
from opentelemetry import trace
from story import Door, Stage

from atifold import EventBus, dialects, fold, semconv
from atifold.emit import Emitter
from atifold.spans import Kind, Span, Status


def by_name(stage: Stage) -> dict[str, Span]:
    """End everything and return the exported spans by name."""
    return {span.name: span for span in stage.played()}


def test_a_turn_is_a_tree_of_spans() -> None:
    """The agent's span holds the inference and the tool, with the names and kinds of the conventions."""
    stage = Stage()
    with stage.bus.run("bookings", "Table?", session_id="s", principal="p", tenant="t", version="2") as run:
        with run.llm("gpt-4o", provider="openai", temperature=0, max_tokens=9, top_p=1, system="Be brief.") as call:
            call.token("Bo")
            call.respond("Booked.", id="r-1", model="gpt-4o-x", input_tokens=30, output_tokens=6, cached_tokens=4)
        with run.tool("book", {"for": 2}, id="c-1") as tool:
            tool.result({"ok": True})
    spans = by_name(stage)
    agent, chat, tool_span = (spans[name] for name in ("invoke_agent bookings", "chat gpt-4o", "execute_tool book"))
    assert agent.parent_id is None
    assert chat.parent_id == tool_span.parent_id == agent.span_id
    assert (agent.kind, chat.kind, tool_span.kind) == (Kind.INTERNAL, Kind.CLIENT, Kind.INTERNAL)
    assert chat.attributes[semconv.RESPONSE_MODEL] == "gpt-4o-x"
    assert chat.attributes[semconv.USAGE_INPUT] == 30, "counted with its cache already"
    assert chat.attributes[semconv.TEMPERATURE] == 0.0
    assert type(chat.attributes[semconv.TEMPERATURE]) is type(chat.attributes[semconv.TOP_P]) is float
    assert {span.attributes[semconv.CONVERSATION] for span in spans.values()} == {"s"}
    assert (agent.attributes["agentfootprint.principal"], agent.attributes["agentfootprint.tenant"]) == ("p", "t")
    assert all(span.start_ns % 1000 == 0 and (span.end_ns or 1) % 1000 == 0 for span in spans.values())


def test_async_blocks_are_the_same() -> None:
    """`async with` gives the same tree, and tools of one gather lie side by side under the agent."""
    stage = Stage()

    async def work() -> None:
        async with stage.bus.run("a", "p") as run:
            async with run.llm("m", provider="mock") as call:
                call.respond(tool_calls=[{"id": str(n), "name": f"t{n}", "arguments": {}} for n in range(3)])

            async def use(number: int) -> None:
                async with run.tool(f"t{number}", {"n": number}, id=str(number)) as tool:
                    await asyncio.sleep(0.01 * (3 - number))
                    with stage.tracer.start_as_current_span(f"http {number}"):
                        await asyncio.sleep(0)
                    tool.result(number)

            await asyncio.gather(*(use(n) for n in range(3)))

    asyncio.run(work())
    spans = by_name(stage)
    for number in range(3):
        assert spans[f"execute_tool t{number}"].parent_id == spans["invoke_agent a"].span_id
        assert spans[f"http {number}"].parent_id == spans[f"execute_tool t{number}"].span_id


def test_tools_in_threads_belong_to_the_run_that_is_named() -> None:
    """A thread has no current run; the block knows it."""
    stage = Stage()
    with stage.bus.run("a", "p") as run:

        def use(number: int) -> None:
            with run.tool(f"t{number}", id=str(number)) as tool, stage.tracer.start_as_current_span(f"db {number}"):
                tool.result(number)

        threads = [threading.Thread(target=use, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    spans = by_name(stage)
    for number in range(4):
        assert spans[f"execute_tool t{number}"].parent_id == spans["invoke_agent a"].span_id
        assert spans[f"db {number}"].parent_id == spans[f"execute_tool t{number}"].span_id


def test_an_exception_fails_the_run_and_goes_on() -> None:
    """Everything open is closed as failed, with the exception's type; the caller gets the exception."""
    stage = Stage()

    def work() -> None:
        with stage.bus.run("a", "p") as run:
            with run.tool("t", id="1") as tool:
                tool.result("fine")
            raise LookupError("secret")

    with pytest.raises(LookupError, match="secret"):
        work()
    spans = by_name(stage)
    agent = spans["invoke_agent a"]
    assert (agent.status, agent.attributes[semconv.ERROR_TYPE], agent.status_message) == (
        Status.ERROR,
        "LookupError",
        "",
    )
    assert spans["execute_tool t"].status is Status.UNSET


def test_a_failed_tool_does_not_fail_the_run() -> None:
    """A tool that raises and is caught, or says that it failed, is an error of its own only."""
    stage = Stage(capture_content=True)
    with stage.bus.run("a", "p") as run:
        with suppress(TimeoutError), run.tool("raises", id="1"):
            raise TimeoutError("3 s")
        with run.tool("says", id="2") as tool:
            tool.fail("no such city", type="CityError")
        with run.llm("m", provider="mock") as call:
            call.respond("Sorry.")
    spans = by_name(stage)
    assert spans["invoke_agent a"].status is Status.UNSET
    raised, told = spans["execute_tool raises"], spans["execute_tool says"]
    assert (raised.status, raised.attributes[semconv.ERROR_TYPE]) == (Status.ERROR, "TimeoutError")
    assert (told.status, told.attributes[semconv.ERROR_TYPE]) == (Status.ERROR, "CityError")
    assert told.attributes[semconv.TOOL_RESULT] == told.status_message == "no such city"


def test_a_failed_inference_is_a_failed_step() -> None:
    """The chat span is an error with its type, and holds no answer."""
    stage = Stage(capture_content=True)

    class OverloadedError(Exception):
        """Raised by an invented client."""

    with pytest.raises(OverloadedError), stage.bus.run("a", "p") as run, run.llm("m", provider="mock"):
        raise OverloadedError("later")
    chat = by_name(stage)["chat m"]
    assert chat.status is Status.ERROR
    assert chat.attributes[semconv.ERROR_TYPE].endswith("OverloadedError")
    assert semconv.OUTPUT_MESSAGES not in chat.attributes


def test_an_agent_in_a_tool_is_below_that_tool() -> None:
    """The subagent's span is the tool's child, and the fold makes a subagent of it."""
    stage = Stage()
    with stage.bus.run("boss", "do") as run:
        with run.llm("m", provider="mock") as call:
            call.respond(tool_calls=[{"id": "d", "name": "delegate", "arguments": {"task": "dig"}}])
        with run.tool("delegate", {"task": "dig"}, id="d") as tool, run.agent("worker", "other words") as worker:
            with worker.llm("m2", provider="mock") as call:
                call.respond("dug")
            tool.result("dug")
        with run.llm("m", provider="mock") as call:
            call.respond("Fin.")
    result = stage.played()
    assert result.named("invoke_agent worker").parent_id == result.named("execute_tool delegate").span_id
    (document,) = result.folded().documents
    assert [sub["agent"]["name"] for sub in document.trajectory["subagent_trajectories"]] == ["worker"]


def test_two_turns_of_a_session_are_two_traces_of_one_conversation() -> None:
    """The second turn's history repeats the first; its tokens are its own."""
    stage = Stage()
    history: list[dict[str, Any]] = []
    for prompt in ("one", "two"):
        history.append({"role": "user", "content": prompt})
        with stage.bus.run("a", prompt, session_id="s") as run, run.llm("m", provider="mock", messages=history) as call:
            call.respond(prompt.upper(), input_tokens=10, output_tokens=1)
        history.append({"role": "assistant", "content": prompt.upper()})
    folded = stage.played().folded()
    assert len({d.trace_ids for d in folded.documents}) == 2
    assert [d.trajectory["final_metrics"]["total_prompt_tokens"] for d in folded.documents] == [10, 10]


def test_the_users_own_facts_on_the_current_span_are_exported() -> None:
    """Attributes, events and exceptions set on the current span are on the exported one, with ours."""
    stage = Stage()
    with stage.bus.run("a", "p") as run:
        trace.get_current_span().set_attribute("user.agent", 1)
        with run.tool("t", id="1") as tool:
            span = trace.get_current_span()
            span.set_attributes({"user.tool": "x"})
            span.add_event("user.event", {"k": 1})
            span.record_exception(ValueError("theirs"))
            tool.result("ok")
        with run.llm("m", provider="mock") as call:
            trace.get_current_span().set_attribute("user.chat", 2)
            call.respond("x", input_tokens=3)
    result = stage.played()
    tool_span = result.named("execute_tool t")
    assert result.named("invoke_agent a").attributes["user.agent"] == 1
    assert result.named("chat m").attributes["user.chat"] == 2
    assert result.named("chat m").attributes[semconv.USAGE_INPUT] == 3
    assert tool_span.attributes["user.tool"] == "x"
    assert tool_span.attributes[semconv.TOOL_NAME] == "t"
    assert [event.name for event in tool_span.events] == ["user.event", "exception"]


def test_what_was_current_before_is_current_again() -> None:
    """Blocks nest like blocks, and a run inside somebody's span is that span's child."""
    stage = Stage()
    with stage.tracer.start_as_current_span("request") as request:
        with stage.bus.run("a", "p") as run:
            inside = trace.get_current_span()
            with run.llm("m", provider="mock") as call:
                assert trace.get_current_span() is not inside
                call.respond("x")
            assert trace.get_current_span() is inside
        assert trace.get_current_span() is request
    spans = by_name(stage)
    assert spans["invoke_agent a"].parent_id == spans["request"].span_id
    assert not trace.get_current_span().get_span_context().is_valid


def test_a_generator_that_another_task_closes_leaves_no_span_current() -> None:
    """Neither an error nor a leaked context where a block is left in another context than entered."""
    stage = Stage()

    async def chunks() -> AsyncIterator[str]:
        with stage.bus.run("a", "p") as run, run.llm("m", provider="mock") as call:
            yield "one"
            yield "two"
            call.respond("never")

    async def work() -> bool:
        generator = chunks()
        await asyncio.create_task(generator.__anext__())
        await asyncio.create_task(generator.aclose())
        return trace.get_current_span().get_span_context().is_valid

    assert asyncio.run(work()) is False
    spans = by_name(stage)
    assert spans["invoke_agent a"].status is Status.ERROR
    assert spans["chat m"].attributes[semconv.ERROR_TYPE] == "GeneratorExit"


def test_without_an_sdk_documents_still_come_through_the_side_door() -> None:
    """A program that set up no SDK has no spans, and its whole trajectory."""
    door, bus = Door(), EventBus()
    emitter = Emitter(trace.NoOpTracerProvider().get_tracer("none"), side_doors=(door,))
    emitter.attach(bus)
    with bus.run("a", "p") as run:
        with run.llm("m", provider="mock") as call:
            call.respond("", tool_calls=[{"id": "1", "name": "t", "arguments": {"x": 1}}])
        with run.tool("t", {"x": 1}, id="1") as tool:
            tool.result("found")
        with run.llm("m", provider="mock") as call:
            call.respond("Answer.")
    emitter.flush()
    (document,) = fold.fold(dialects.read(door.spans)).documents
    assert [step["message"] for step in document.trajectory["steps"]] == ["p", "", "Answer."]
    assert len({span.trace_id for span in door.spans}) == 1
    assert len({span.span_id for span in door.spans}) == len(door.spans) == 4


def test_a_bus_without_an_emitter_costs_nothing_and_harms_nothing() -> None:
    """Blocks work where nobody listens."""
    with EventBus().run("a", "p") as run, run.llm("m", provider="mock") as call, run.tool("t") as tool:
        tool.result(1)
        call.respond("x")


def test_an_event_of_the_catalogue_inside_a_run_is_on_its_span() -> None:
    """`run.emit` gives any other event the run's envelope."""
    stage = Stage()
    with stage.bus.run("a", "p") as run:
        run.emit("permission.gate_opened", {"toolName": "t"})
    names = [event.name for event in by_name(stage)["invoke_agent a"].events]
    assert names == ["agentfootprint.permission.gate_opened"]


def test_reasoning_and_cost_stand_on_the_inference() -> None:
    """What is emitted after the end of an inference belongs to it."""
    stage = Stage(capture_content=True)
    with stage.bus.run("a", "p") as run:
        for cost in (0.25, 0.5):
            with run.llm("m", provider="mock") as call:
                call.respond("x", reasoning=f"think {cost}", cost_usd=cost, input_tokens=1, output_tokens=2)
    result = stage.played()
    chats = [span for span in result if span.name == "chat m"]
    assert [span.attributes[semconv.COST_USD] for span in chats] == [0.25, 0.5]
    assert ["think 0.25" in chats[0].attributes[semconv.OUTPUT_MESSAGES], "think 0.5" in str(chats[1].attributes)] == [
        True,
        True,
    ]
    assert result.named("invoke_agent a").attributes[semconv.COST_CUMULATIVE] == 0.75


def test_many_threads_share_a_bus_and_an_emitter() -> None:
    """Every run is whole and has nothing of another one, whatever the interleaving."""
    stage = Stage(grace_s=0.01)

    def work(number: int) -> None:
        for turn in range(20):
            name = f"{number}-{turn}"
            with stage.bus.run(f"agent {name}", name, session_id=name) as run:
                with run.llm("m", provider="mock") as call:
                    call.respond(name, tool_calls=[{"id": "c", "name": "t", "arguments": {"n": name}}])
                with run.tool("t", {"n": name}, id="c") as tool:
                    tool.result(name)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    result = stage.played()
    assert len(result.exported) == len(result.records) == 6 * 20 * 3
    agents = {span.span_id: span.name.removeprefix("invoke_agent agent ") for span in result if span.parent_id is None}
    assert len(agents) == 120
    for span in result.records:
        if span.name == "execute_tool t":
            assert span.attributes[semconv.TOOL_RESULT] == agents[span.parent_id or ""]
            assert span.attributes[semconv.CONVERSATION] == agents[span.parent_id or ""]


@pytest.mark.parametrize("ids", [("c1", "c2"), ("", ""), (None, None)], ids=["given", "empty", "none"])
def test_a_tool_without_an_id_answers_the_request_with_its_arguments(ids: tuple[str | None, str | None]) -> None:
    """Each request is in the trajectory once, with its own result, whatever the order of the executions."""
    stage = Stage()
    with stage.bus.run("a", "p") as run:
        with run.llm("m", provider="openai") as call:
            asked = [{"id": key, "name": "f", "arguments": {"n": n}} for n, key in enumerate(ids)]
            call.respond(tool_calls=asked)
        for number in (1, 0):
            with run.tool("f", {"n": number}) as tool:
                tool.result(f"result {number}")
    (document,) = fold.fold(dialects.read(stage.played().records)).documents
    (step,) = [step for step in document.trajectory["steps"] if "tool_calls" in step]
    calls, results = step["tool_calls"], step["observation"]["results"]
    assert [call["arguments"] for call in calls] == [{"n": 0}, {"n": 1}]
    assert [result["content"] for result in results] == ["result 0", "result 1"]
    assert [call["tool_call_id"] for call in calls] == [result["source_call_id"] for result in results]


def test_only_a_request_of_the_same_name_is_answered() -> None:
    """One open request of a name is meant even where the arguments were completed; of several none is guessed."""
    run = EventBus().run("a")
    asked = [("1", "f", '{"x": 1}'), ("2", "g", "{}"), ("3", "g", "{}")]
    run.requests.add({"id": key, "function": {"name": name, "arguments": text}} for key, name, text in asked)
    assert run.tool("g", {"more": 1}).id not in {"1", "2", "3"}
    assert run.tool("f", {"x": 1, "y": 2}).id == "1"
    assert run.tool("f", {"x": 1}).id != "1", "answered already"
    assert run.tool("g", {}, id="2").id == "2"
    assert run.tool("g", {"more": 1}).id == "3", "the only one that is left"


def test_the_last_answer_alone_asks() -> None:
    """What an answer asked for is forgotten with it, as it is on the span."""
    stage = Stage()
    with stage.bus.run("a") as run, run.llm("m", provider="mock") as call:
        call.respond(tool_calls=[{"name": "f", "arguments": {}}])
        call.respond(tool_calls=[{"id": "second", "name": "f", "arguments": {}}])
        assert run.tool("f").id == "second"


def test_arguments_that_cannot_be_compared_break_nothing() -> None:
    """Arrays refuse to be equal or not; the only open request of the name is meant."""

    class Array:
        def __eq__(self, other: object) -> bool:
            raise ValueError

        __hash__ = None  # type: ignore[assignment]

    run = EventBus().run("a")
    run.requests.add([{"id": "1", "name": "f", "arguments": {"x": Array()}}])
    assert run.tool("f", {"x": Array()}).id == "1"


def test_requests_that_nobody_answers_are_forgotten_at_a_bound() -> None:
    """The newest stay: a program may execute its tools without the bus."""
    run = EventBus().run("a")
    for number in range(1_500):
        run.requests.add([{"id": str(number), "name": f"f{number}", "arguments": {}}])
    assert run.tool("f1499").id == "1499"
    assert run.tool("f0").id != "0"
