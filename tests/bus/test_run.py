"""`bus.run` emits the right events from any kind of Python code, and makes its spans current."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from typing import Any
from uuid import UUID

import pytest
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from story import Door, Stage

from atifold import EventBus, dialects, fold, semconv
from atifold.bus.made import MAKERS
from atifold.bus.run import Run
from atifold.emit import Emitter
from atifold.emit.metrics import Metrics
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
    for name in ("invoke_agent a", "chat m"):
        assert spans[name].status is Status.UNSET
        assert semconv.ERROR_TYPE not in spans[name].attributes
        assert tuple(spans[name].attributes[semconv.INCOMPLETE]) == ("stopped by the program",)


def _stopped(stage: Stage, **answer: Any) -> Span:
    """Break from a stream of tokens in the same task, and return its inference."""

    def chunks(run: Run) -> Iterator[str]:
        with run.llm("m", provider="mock") as call:
            for _ in range(3):
                call.token("x")
                if answer:
                    call.respond(**answer)
                yield "x"

    with stage.bus.run("a", "p") as run:
        inside = trace.get_current_span()
        stream = chunks(run)
        next(stream)
        assert trace.get_current_span() is not inside
        stream.close()
        assert trace.get_current_span() is inside
    return by_name(stage)["chat m"]


def test_a_stream_that_is_broken_off_is_no_failure() -> None:
    """It has no answer and says why; what else ran is whole."""
    chat = _stopped(Stage(capture_content=True))
    assert (chat.status, chat.attributes.get(semconv.ERROR_TYPE)) == (Status.UNSET, None)
    assert tuple(chat.attributes[semconv.INCOMPLETE]) == ("stopped by the program",)
    assert semconv.OUTPUT_MESSAGES not in chat.attributes


def test_a_stream_that_is_broken_off_after_its_answer_is_whole() -> None:
    """What was said with `respond` is the answer."""
    chat = _stopped(Stage(capture_content=True), content="said")
    assert semconv.INCOMPLETE not in chat.attributes
    assert '"said"' in chat.attributes[semconv.OUTPUT_MESSAGES]


@pytest.mark.parametrize("told", [True, False])
def test_a_tool_that_is_broken_off_is_no_failure(told: bool) -> None:
    """It is incomplete unless it gave its result before."""
    stage = Stage(capture_content=True)

    def rows(run: Run) -> Iterator[int]:
        with run.tool("t", id="1") as tool:
            if told:
                tool.result("all")
            yield 1

    with stage.bus.run("a", "p") as run:
        stream = rows(run)
        next(stream)
        stream.close()
    span = by_name(stage)["execute_tool t"]
    assert (span.status, span.attributes.get(semconv.ERROR_TYPE)) == (Status.UNSET, None)
    assert (semconv.INCOMPLETE in span.attributes) is not told
    assert (semconv.TOOL_RESULT in span.attributes) is told


def test_an_async_stream_that_is_broken_off_is_current_until_the_next_block_at_most() -> None:
    """The event loop closes the generator in a task of its own, which cannot reach the context it was entered in."""
    stage = Stage()

    async def work() -> None:
        async with stage.bus.run("a", "p") as run:
            inside = trace.get_current_span()

            async def chunks() -> AsyncIterator[str]:
                async with run.llm("m", provider="mock"):
                    yield "one"
                    yield "two"

            async for _ in chunks():
                break
            await asyncio.sleep(0.01)
            async with run.tool("t") as tool:
                tool.result(1)
            assert trace.get_current_span() is inside
            async for _ in chunks():
                break
            await asyncio.sleep(0.01)
            with stage.bus.run("b", "p"):
                pass
        assert not trace.get_current_span().get_span_context().is_valid

    asyncio.run(work())
    spans = by_name(stage)
    assert spans["chat m"].status is Status.UNSET
    assert spans["invoke_agent b"].parent_id == spans["invoke_agent a"].span_id, "no ended inference has children"


def test_a_task_was_cancelled_is_an_error_still() -> None:
    """The program did not ask for less: somebody took the answer away."""
    stage = Stage()

    async def work() -> None:
        async with stage.bus.run("a", "p") as run, run.llm("m", provider="mock"):
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(work())
    assert by_name(stage)["chat m"].attributes[semconv.ERROR_TYPE] == "asyncio.exceptions.CancelledError"


@pytest.mark.parametrize("first", [0, 1])
def test_blocks_that_are_left_in_any_order_leave_no_span_current(first: int) -> None:
    """Whichever of two overlapping ones ends first, in the end neither is current."""
    stage = Stage()
    with stage.bus.run("a", "p") as run:
        inside = trace.get_current_span()
        blocks = [run.llm("m", provider="mock"), run.llm("m", provider="mock")]
        for block in blocks:
            block.__enter__()
        for block in (blocks[first], blocks[1 - first]):
            block.__exit__(None, None, None)
        assert trace.get_current_span() is inside


@pytest.mark.parametrize("first", [0, 1])
def test_two_inferences_of_a_run_may_overlap(first: int) -> None:
    """Each has its own figures, whichever ends first, and the trajectory has both once, with their inputs."""
    stage = Stage()
    with stage.bus.run("a", "p") as run:
        asked = [[{"role": "user", "content": f"question {n}"}] for n in range(2)]
        blocks = [run.llm("m", provider="mock", messages=asked[n]) for n in range(2)]
        for block in blocks:
            block.__enter__()
        for number, block in enumerate(blocks):
            block.respond(f"answer {number}", input_tokens=number + 1, cost_usd=0.5, reasoning=f"thought {number}")
        for block in (blocks[first], blocks[1 - first]):
            block.__exit__(None, None, None)
    result = stage.played()
    chats = [span for span in result if span.attributes[semconv.OPERATION] == "chat"]
    assert sorted(chat.attributes[semconv.USAGE_INPUT] for chat in chats) == [1, 2]
    assert [chat.attributes[semconv.COST_USD] for chat in chats] == [0.5, 0.5]
    assert not [span.name for span in result if semconv.INCOMPLETE in span.attributes]
    (document,) = result.folded().documents
    said = [step["message"] for step in document.trajectory["steps"]]
    assert [said.count(text) for n in range(2) for text in (f"question {n}", f"answer {n}")] == [1, 1, 1, 1]
    assert said.index("question 0") < said.index("answer 0")
    assert said.index("question 1") < said.index("answer 1")


def test_a_request_beside_another_one_is_whole() -> None:
    """Two conversations in turns: no request is told as what follows the other one's."""
    stage = Stage()
    with stage.bus.run("a", "p") as run:
        talks = [[{"role": "system", "content": "same"}, {"role": "user", "content": f"go {n}"}] for n in range(2)]
        for turn in range(3):
            blocks = [run.llm("m", provider="mock", messages=list(talk)) for talk in talks]
            for block in blocks:
                block.__enter__()
            for number, block in enumerate(blocks):
                block.respond(f"{number}/{turn}")
                block.__exit__(None, None, None)
                answer = {"role": "assistant", "content": f"{number}/{turn}"}
                talks[number] += [answer, {"role": "user", "content": f"and {number}/{turn}?"}]
        for _ in range(2):
            with run.llm("m", provider="mock", messages=list(talks[0])) as call:
                call.respond("alone")
            talks[0] += [{"role": "assistant", "content": "alone"}, {"role": "user", "content": "more"}]
    result = stage.played()
    chats = [span for span in result.records if span.name == "chat m"]
    bases = [chat.attributes.get(semconv.INPUT_BASE, 0) for chat in sorted(chats, key=lambda c: c.start_ns)]
    assert bases == [0] * 7 + [8], "the last one follows one that nothing overlapped"
    (document,) = result.folded().documents
    said = [step["message"] for step in document.trajectory["steps"]]
    for text in [f"{number}/{turn}" for number in range(2) for turn in range(3)]:
        assert said.count(text) == 1


@pytest.mark.parametrize("tools", [False, True])
def test_threads_share_one_run(tools: bool) -> None:
    """Each inference is one span with its figures, cost and calls, and the metrics count it once."""
    reader = InMemoryMetricReader()
    stage = Stage(observers=[Metrics(MeterProvider([reader]))])
    interval = sys.getswitchinterval()
    with stage.bus.run("a", "p") as run:

        def work(number: int) -> None:
            for turn in range(50):
                name = f"{number}-{turn}"
                asked = [{"id": name, "name": "t", "arguments": {}}] if tools else []
                with run.llm("m", provider="mock", messages=[{"role": "user", "content": name}]) as call:
                    call.respond(name, tool_calls=asked, input_tokens=1, cost_usd=0.5, reasoning=f"on {name}")
                if tools:
                    with run.tool("t", {}, id=name) as tool:
                        tool.result(name)

        sys.setswitchinterval(1e-5)
        try:
            threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            sys.setswitchinterval(interval)
    result = stage.played()
    chats = [span for span in result.records if span.attributes[semconv.OPERATION] == "chat"]
    assert len(chats) == 400
    assert not [span.name for span in result if semconv.INCOMPLETE in span.attributes]
    agent = result.named("invoke_agent a")
    assert "agentfootprint.cost.other_usd" not in agent.attributes
    assert agent.attributes["agentfootprint.agent.iteration_count"] == 400
    for chat in chats:
        (message,) = json.loads(chat.attributes[semconv.OUTPUT_MESSAGES])
        thought, text, *calls = message["parts"]
        assert thought["content"] == f"on {text['content']}"
        assert [call["id"] for call in calls] == [text["content"]] * tools
        assert chat.attributes[semconv.COST_USD] == 0.5
        assert text["content"] in chat.attributes[semconv.INPUT_MESSAGES]
    found = reader.get_metrics_data()
    assert found is not None
    points = {m.name: m.data.data_points for r in found.resource_metrics for s in r.scope_metrics for m in s.metrics}
    (durations,), (calls_made,) = (
        points["gen_ai.client.inference.duration"],
        points["gen_ai.invoke_agent.inference_calls"],
    )
    assert (durations.count, calls_made.sum) == (400, 400)
    assert len([span for span in result if span.name == "execute_tool t"]) == 400 * tools


@pytest.mark.parametrize("given", [7, 0, UUID(int=5), [1], b"x"])
def test_an_id_that_is_no_text_is_written_as_one(given: Any) -> None:
    """The call is there, and answers the request of that id."""
    stage = Stage()
    with stage.bus.run("a", "p") as run:
        with run.llm("m", provider="mock") as call:
            call.respond(tool_calls=[{"id": given, "name": "t", "arguments": {}}])
        with run.tool("t", {}, id=given) as tool:
            tool.result("found")
    result = stage.played()
    assert result.named("execute_tool t").attributes[semconv.TOOL_CALL_ID] == str(given) == tool.id
    (document,) = result.folded().documents
    (step,) = [step for step in document.trajectory["steps"] if step.get("tool_calls")]
    assert [call["tool_call_id"] for call in step["tool_calls"]] == [str(given)]


def test_an_id_that_cannot_be_written_is_none() -> None:
    """A call is not lost for the sake of its id."""

    class Odd:
        def __str__(self) -> str:
            raise ValueError

    stage = Stage()
    with stage.bus.run("a", "p") as run, run.tool("t", id=Odd()) as tool:
        tool.result(1)
    assert by_name(stage)["execute_tool t"].attributes[semconv.TOOL_CALL_ID].startswith("call_")


@pytest.mark.parametrize("first", [0, 1])
def test_two_executions_of_one_id_are_two_spans(first: int) -> None:
    """Each has its own result, whichever ends first."""
    stage = Stage(capture_content=True)
    with stage.bus.run("a", "p") as run:
        blocks = [run.tool("t", {"n": number}, id="same") for number in range(2)]
        for block in blocks:
            block.__enter__()
        for number in (first, 1 - first):
            blocks[number].result(f"result {number}")
            blocks[number].__exit__(None, None, None)
    tools = [span.attributes for span in stage.played() if span.name.startswith("execute_tool")]
    found = sorted((tool[semconv.TOOL_ARGUMENTS], tool[semconv.TOOL_RESULT]) for tool in tools)
    assert found == [('{"n":0}', "result 0"), ('{"n":1}', "result 1")]
    assert not [tool for tool in tools if semconv.INCOMPLETE in tool]


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
    """Blocks work where nobody listens, and no event is made."""
    bus, made = EventBus(), []
    bus._makers = dict.fromkeys(MAKERS, lambda *fields: made.append(fields))
    for listening in (False, True):
        release = bus.subscribe("*", lambda _: None) if listening else None
        with bus.run("a", "p") as run, run.llm("m", provider="mock") as call, run.tool("t") as tool:
            tool.result(1)
            call.respond("x")
        assert len(made) == (4 if listening else 0)
        if release is not None:
            release()
    assert not bus.counts


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
