"""The bus hands events to who asked for them, and to nobody's harm."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from atifold import EventBus, OutputError
from atifold.events.envelope import Event, Meta, UnknownEvent, build, parse
from atifold.events.stream import LLMEnd, LLMStart
from atifold.recording import Recording

START = "agentfootprint.stream.llm_start"
END = "agentfootprint.stream.llm_end"
TURN = "agentfootprint.agent.turn_start"


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("*", [START, END, TURN, "agentfootprint.made.up"]),
        ("stream.*", [START, END]),
        ("agentfootprint.stream.*", [START, END]),
        ("stream.llm_end", [END]),
        (END, [END]),
        ("strea.*", []),
        ("stream", []),
    ],
)
def test_a_pattern_is_a_name_a_domain_or_everything(pattern: str, names: list[str]) -> None:
    """Short and full forms mean the same; a part of a word matches nothing."""
    bus, heard = EventBus(), []
    bus.subscribe(pattern, lambda event: heard.append(event.type))
    for name in (START, END, TURN, "agentfootprint.made.up"):
        bus.emit(name, {})
    assert heard == names


def test_handlers_run_in_order_of_subscription_on_the_emitters_thread() -> None:
    """Dispatch is synchronous."""
    bus, heard = EventBus(), []
    bus.subscribe("stream.llm_end", lambda _: heard.append(("first", threading.get_ident())))
    bus.subscribe("*", lambda _: heard.append(("second", threading.get_ident())))
    bus.emit(END, {})
    assert heard == [("first", threading.get_ident()), ("second", threading.get_ident())]


def test_unsubscribing_ends_it_for_that_subscription_alone() -> None:
    """The same handler subscribed twice is two subscriptions; a second release does nothing."""
    bus, heard = EventBus(), []
    stop = bus.subscribe("*", heard.append)
    bus.subscribe("*", heard.append)
    bus.emit(END, {})
    stop()
    stop()
    bus.emit(END, {})
    assert len(heard) == 3


def test_a_handler_may_unsubscribe_while_it_is_called() -> None:
    """The event at hand still reaches the others."""
    bus, heard = EventBus(), []
    stop = bus.subscribe("*", lambda _: (heard.append("once"), stop()))
    bus.subscribe("*", lambda _: heard.append("always"))
    bus.emit(END, {})
    bus.emit(END, {})
    assert heard == ["once", "always", "always"]


def test_a_raising_handler_reaches_nobody(caplog: pytest.LogCaptureFixture) -> None:
    """Others are reached, each handler and kind of error is logged once, every time is counted."""
    bus, heard = EventBus(), []

    def picky(event: Event[Any]) -> None:
        raise ValueError("secret text") if event.type == END else KeyError("other secret")

    bus.subscribe("*", picky)
    bus.subscribe("*", heard.append)
    with caplog.at_level(logging.WARNING, "atifold"):
        for name in (END, END, START, START):
            bus.emit(name, {})
    assert len(heard) == 4
    assert bus.counts["handler_errors"] == 4
    assert len(caplog.messages) == 2
    assert all("picky" in message for message in caplog.messages)
    assert "secret" not in caplog.text


def test_two_handlers_are_complained_about_apart(caplog: pytest.LogCaptureFixture) -> None:
    """A second handler with the same kind of error gets its own line."""
    bus = EventBus()
    bus.subscribe("*", lambda _: 1 / 0)
    bus.subscribe("*", lambda _: 1 / 0)
    bus.emit(END, {})
    bus.emit(END, {})
    assert len(caplog.messages) == 2


def test_what_ends_a_program_is_not_swallowed() -> None:
    """KeyboardInterrupt goes on to the emitter."""
    bus = EventBus()

    def interrupt(event: Event[Any]) -> None:
        raise KeyboardInterrupt

    bus.subscribe("*", interrupt)
    with pytest.raises(KeyboardInterrupt):
        bus.emit(END, {})


def test_without_a_listener_nothing_is_looked_at() -> None:
    """No payload is read for an event that nobody wants; with a listener the same payload is."""

    class Trap(dict[str, Any]):
        def __getattribute__(self, name: str) -> Any:
            raise AssertionError(name)

    bus, heard = EventBus(), []
    bus.subscribe("agent.*", heard.append)
    bus.emit(END, Trap())
    assert not bus.wants(END)
    assert bus.wants("agent.turn_start")
    bus.emit(TURN, {"userPrompt": "x"})
    assert len(heard) == 1


def test_names_short_and_full_and_models_and_mappings_are_the_same_event() -> None:
    """A payload is a mapping in wire form, in Python's form, or the model itself."""
    bus, heard = EventBus(), []
    bus.subscribe("*", heard.append)
    bus.emit("stream.llm_end", {"content": "a", "stopReason": "stop"})
    bus.emit(END, {"content": "a", "stop_reason": "stop"})
    bus.emit(END, LLMEnd(content="a", stop_reason="stop"))
    bus.emit(build(END, {"content": "a", "stopReason": "stop"}, Meta()))
    assert {event.type for event in heard} == {END}
    assert all(isinstance(event.payload, LLMEnd) for event in heard)
    assert {(event.payload.content, event.payload.stop_reason) for event in heard} == {("a", "stop")}


def test_unknown_names_and_unreadable_payloads_are_kept() -> None:
    """Nothing is refused: what has no model, or does not fit it, is an unknown event with its reason."""
    bus, heard = EventBus(), []
    bus.subscribe("*", heard.append)
    bus.emit("made.up", {"a": 1})
    bus.emit(END, {"content": ["no text"]})
    bus.emit(END, "no mapping")
    bus.emit(START, None)
    assert [getattr(event.payload, "reason", None) for event in heard] == ["unknown", "unreadable", "unreadable", None]
    assert isinstance(heard[0].payload, UnknownEvent)
    assert isinstance(heard[3].payload, LLMStart)


def test_without_meta_an_event_belongs_to_the_run_it_is_emitted_in() -> None:
    """Inside `bus.run` to that run, nested ones to the innermost, outside to none of them."""
    bus, heard = EventBus(), []
    bus.subscribe("made.up", lambda event: heard.append(event.meta.run_id))
    bus.emit("made.up", {})
    with bus.run("outer") as outer:
        bus.emit("made.up", {})
        with outer.agent("inner") as inner:
            bus.emit("made.up", {})
        bus.emit("made.up", {})
    bus.emit("made.up", {})
    assert heard[1:4] == [outer.run_id, inner.run_id, outer.run_id]
    assert heard[0] == heard[4] not in {outer.run_id, inner.run_id}


def test_outside_of_runs_each_turn_is_a_run_of_its_own() -> None:
    """What is emitted without an envelope lasts until the next turn starts."""
    bus, heard = EventBus(), []
    bus.subscribe("*", lambda event: heard.append(event.meta.run_id))
    for name in (START, TURN, START, TURN, START):
        bus.emit(name, {})
    assert heard[1] == heard[2] != heard[0]
    assert heard[3] == heard[4] != heard[2]


def test_an_envelope_may_be_a_mapping_or_a_meta() -> None:
    """Both say the same."""
    bus, heard = EventBus(), []
    bus.subscribe("*", lambda event: heard.append((event.meta.run_id, event.meta.time_ns)))
    bus.emit(END, {}, meta={"runId": "r", "wallClockMs": 5})
    bus.emit(END, {}, meta=Meta(run_id="r", wall_clock_ms=5))
    assert heard == [("r", 5_000_000)] * 2


def test_a_flood_of_unknown_names_is_not_remembered() -> None:
    """What the bus keeps per name is bounded, and the last event is delivered as the first."""
    bus, heard = EventBus(), []
    bus.subscribe("*", heard.append)
    for number in range(3000):
        bus.emit(f"flood.n{number}", {})
    assert len(heard) == 3000
    assert len(bus._routes) <= 1024


def test_emitting_from_many_threads_loses_nothing() -> None:
    """Subscribing and emitting go on at the same time."""
    bus, heard = EventBus(), []
    bus.subscribe("stream.*", heard.append)

    def work() -> None:
        for _ in range(200):
            bus.emit(END, {})
            bus.subscribe("agent.turn_end", lambda _: None)()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(heard) == 800


# ---- async iteration -----------------------------------------------------------------------------


def test_events_are_iterated_in_order_and_from_the_subscription_on() -> None:
    """What was emitted between the call and the first `async for` is delivered too."""

    async def listen() -> list[str]:
        bus = EventBus()
        stream = bus.events("stream.*")
        bus.emit(START, {})
        bus.emit(TURN, {})
        bus.emit(END, {})
        await stream.aclose()
        bus.emit(END, {})
        return [event.type async for event in stream]

    assert asyncio.run(listen()) == [START, END]


def test_another_thread_may_feed_the_iteration() -> None:
    """The waiting loop wakes up."""

    async def listen() -> list[str]:
        bus = EventBus()
        heard = []
        thread = threading.Timer(0.05, lambda: [bus.emit(START, {}), bus.emit(END, {})])
        stream = bus.__aiter__()
        thread.start()
        async for event in stream:
            heard.append(event.type)
            if len(heard) == 2:
                break
        await stream.aclose()
        thread.join()
        assert not bus.wants(END)
        return heard

    assert asyncio.run(asyncio.wait_for(listen(), 5)) == [START, END]


def test_closing_ends_an_iteration_that_waits() -> None:
    """Nobody hangs on a closed stream."""

    async def listen() -> list[Event[Any]]:
        stream = EventBus().events()
        asyncio.get_running_loop().call_later(0.05, lambda: asyncio.ensure_future(stream.aclose()))
        return [event async for event in stream]

    assert asyncio.run(asyncio.wait_for(listen(), 5)) == []


def test_an_iteration_that_nobody_takes_from_is_bounded() -> None:
    """The oldest events go, and their number is known."""

    async def listen(bus: EventBus) -> list[int]:
        stream = bus.events(max_waiting=3)
        for number in range(5):
            bus.emit(END, {"iteration": number})
        await stream.aclose()
        return [event.payload.iteration async for event in stream]

    bus = EventBus()
    assert asyncio.run(listen(bus)) == [2, 3, 4]
    assert bus.counts["dropped_by_iterator"] == 2


# ---- recording -----------------------------------------------------------------------------------


@pytest.fixture
def events() -> Iterator[list[Event[Any]]]:
    """Return events of all sorts: typed, untyped, unknown, unreadable, with odd texts and numbers."""
    meta = {"runId": "r", "wallClockMs": 7, "atifold.timeNs": 7_000_123, "somethingNew": [1]}
    wires: list[dict[str, Any]] = [
        {
            "type": END,
            "payload": {"content": "Grüße \u2028 \x00", "usage": {"input": 1, "new": 2}, "x": 1.5},
            "meta": meta,
        },
        {"type": "agentfootprint.risk.flagged", "payload": {"score": 0.1}, "meta": {}},
        {"type": "made.up", "payload": [1, None, {"a": []}], "meta": meta, "beside": True},
        {"type": END, "payload": {"content": 5}, "meta": meta},
    ]
    return [parse(wire) for wire in wires]


def test_what_is_recorded_reads_back_as_it_was(events: list[Event[Any]], tmp_path: Any) -> None:
    """A file of the producer's own wire form, a line an event, is the same events again."""
    bus = EventBus()
    with bus.record(tmp_path / "deep" / "r.jsonl") as recorder:
        for event in events:
            bus.emit(event)
    bus.emit(events[0])
    again = list(Recording(recorder.path))
    assert [event.to_wire() for event in again] == [event.to_wire() for event in events]
    assert [event.meta.time_ns for event in again] == [
        7_000_123
    ] * 4  # one without a clock stands where the file has it


def test_a_lone_surrogate_does_not_stop_a_recording(tmp_path: Any) -> None:
    """What UTF-8 cannot hold is replaced; the lines before and after are whole."""
    bus = EventBus()
    with bus.record(tmp_path / "r.jsonl") as recorder:
        for text in ("before", "odd \ud800", "after"):
            bus.emit(END, {"content": text})
    assert [event.payload.content for event in Recording(recorder.path)] == ["before", "odd \ufffd", "after"]
    assert bus.counts["handler_errors"] == 0


def test_a_recording_that_cannot_be_opened_says_so(tmp_path: Any) -> None:
    """One line with the path and the reason, and nothing is subscribed."""
    bus = EventBus()
    with pytest.raises(OutputError, match="cannot be written"):
        bus.record(tmp_path)
    assert not bus.wants(END)
