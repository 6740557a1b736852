"""A replay is one stream of events: same input, same bytes; bad input costs only itself."""

from __future__ import annotations

import functools
import gc
import io
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from story import DEMO, START_MS, Story, Wire, play, wires, write_lines

from atifold import OutputError, atif, dialects, fold, otlp, semconv
from atifold.events.envelope import parse
from atifold.replay import Replayed, SpanFile, replay


def bytes_of(result: Replayed) -> list[tuple[str, bytes]]:
    """Return names and canonical JSON of the documents."""
    return [(document.name, atif.dumps(document.trajectory)) for document in result.folded.documents]


def two_turns() -> list[Wire]:
    """Return a conversation of two runs of one session."""
    first = Story("run-1", session="s").turn("one").asks().answers("ONE").turn_over("ONE").disposed()
    second = Story("run-2", session="s", start_ms=first.now_ms).turn("two").asks().answers("TWO").turn_over("TWO")
    return [*first.events, *second.disposed().events]


def test_the_same_recording_gives_the_same_bytes() -> None:
    """Ids come from the run ids, never from chance."""
    assert bytes_of(replay([DEMO])) == bytes_of(replay([DEMO]))


def test_a_seed_changes_ids_and_nothing_else() -> None:
    """Other trace and span ids, the same steps."""
    plain, seeded = replay([DEMO]), replay([DEMO], id_seed="again")
    assert {s.trace_id for s in plain.spans}.isdisjoint({s.trace_id for s in seeded.spans})
    assert {s.span_id for s in plain.spans}.isdisjoint({s.span_id for s in seeded.spans})
    assert [d.trajectory["steps"][0] for d in plain.folded.documents] == [
        d.trajectory["steps"][0] for d in seeded.folded.documents
    ]


def test_one_run_is_one_trace_and_keeps_its_history(tmp_path: Path) -> None:
    """Event time is span time."""
    memory = InMemorySpanExporter()
    result = replay([write_lines(tmp_path / "r.jsonl", two_turns())], exporters=[memory])
    spans = memory.get_finished_spans()
    assert len({span.context.trace_id for span in spans}) == 2
    assert min(span.start_time for span in spans) == START_MS * 1_000_000
    assert len(spans) == len(result.spans) == 4


def test_a_conversation_is_one_document_when_asked_for(tmp_path: Path) -> None:
    """Grouped by trace there are two."""
    path = write_lines(tmp_path / "r.jsonl", two_turns())
    assert len(replay([path]).folded.documents) == 2
    (whole,) = replay([path], group="conversation").folded.documents
    assert [s["message"] for s in whole.trajectory["steps"]] == ["one", "ONE", "two", "TWO"]


def test_a_run_may_be_spread_over_files_in_any_order(tmp_path: Path) -> None:
    """Files are one set of events, by time."""
    events = two_turns()
    whole = write_lines(tmp_path / "whole.jsonl", events)
    parts = [write_lines(tmp_path / f"{n}.jsonl", events[n::3]) for n in range(3)]
    assert bytes_of(replay(parts[::-1])) == bytes_of(replay([whole]))


def test_standard_input_is_one_of_the_files(tmp_path: Path) -> None:
    """Beside files, as they are."""
    events = two_turns()
    rest = write_lines(tmp_path / "rest.jsonl", events[3:])
    head = write_lines(tmp_path / "head.jsonl", events[:3]).read_bytes()
    assert replay([rest, "-"], stdin=io.BytesIO(head)).events == len(events)


def test_bad_files_and_lines_cost_the_others_nothing(tmp_path: Path) -> None:
    """Each is one complaint; the good ones are replayed."""
    good = write_lines(tmp_path / "good.jsonl", two_turns())
    broken = tmp_path / "broken.jsonl"
    broken.write_text("{no json\n" + DEMO.read_text(encoding="utf-8"), encoding="utf-8")
    empty = tmp_path / "empty"
    empty.touch()
    result = replay([tmp_path / "missing", good, empty, broken])
    assert len(result.complaints) == 3
    assert all("\n" not in str(complaint) for complaint in result.complaints)
    assert sorted(bytes_of(result)) == sorted(bytes_of(replay([good])) + bytes_of(replay([DEMO])))


def test_nothing_to_read_is_no_document_and_no_error() -> None:
    """The complaints say why."""
    result = replay(["/nowhere/at/all.jsonl"])
    assert (result.events, result.spans, result.folded.documents) == (0, [], ())
    assert len(result.complaints) == 1


def test_the_counts_tell_what_became_of_the_events(tmp_path: Path) -> None:
    """Unknown, unreadable, repeated: each with its number, none a complaint."""
    odd: list[Wire] = [
        {"type": "made.up.event", "payload": {}, "meta": {"wallClockMs": START_MS, "runId": "run-1"}},
        {"type": "agentfootprint.stream.llm_end", "payload": {"content": 5}, "meta": {"wallClockMs": START_MS}},
    ]
    events = [*two_turns(), *odd, odd[0]]
    result = replay([write_lines(tmp_path / "r.jsonl", events)])
    assert result.complaints == []
    assert result.counts["events"] == result.events == len(events) - 1
    assert result.counts["events_unmapped"] == 1
    assert result.counts["events_unreadable"] == 1
    assert result.counts["repeated"] == 1


def test_the_spans_file_is_replaced_and_is_otlp(tmp_path: Path) -> None:
    """What stood in it is gone; it reads back as the same spans."""
    path = tmp_path / "deep" / "s.jsonl"
    path.parent.mkdir()
    path.write_text("old")
    result = replay([DEMO], exporters=[SpanFile(path)], capture_content=True)
    batch = otlp.read([path])
    assert batch.complaints == []
    assert sorted(span.key for span in batch.spans) == sorted(span.key for span in result.spans)
    again = fold.fold(dialects.read(batch.spans))
    assert [(d.name, atif.dumps(d.trajectory)) for d in again.documents] == bytes_of(result)


@pytest.mark.parametrize(
    ("file", "why"),
    [
        (".", "Is a directory"),
        pytest.param(
            "/dev/full",
            "No space left on device",
            marks=pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full"),
        ),
    ],
)
def test_a_spans_file_that_cannot_be_written_says_so_and_costs_no_document(
    tmp_path: Path, file: str, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Its first error is kept, without a traceback in the log; what is exported afterwards is a failure."""
    spans = SpanFile(tmp_path / file)
    result = replay([DEMO], exporters=[spans])
    assert isinstance(spans.error, OutputError)
    assert str(spans.error) == f"{tmp_path / file}: cannot be written: {why}"
    assert spans.export([]) is SpanExportResult.FAILURE
    assert not spans.force_flush()
    assert not [record for record in caplog.records if record.exc_info]
    assert bytes_of(result) == bytes_of(replay([DEMO]))


def test_a_limit_and_a_sampler_thin_the_spans_out_and_no_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The exporter gets what the SDK's settings leave; the trajectory is whole."""
    free = bytes_of(replay([DEMO]))
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_off")
    memory = InMemorySpanExporter()
    assert bytes_of(replay([DEMO], exporters=[memory])) == free
    assert memory.get_finished_spans() == ()


def test_a_hashed_session_is_on_every_span(tmp_path: Path) -> None:
    """And the raw one on none."""
    memory = InMemorySpanExporter()
    replay([write_lines(tmp_path / "r.jsonl", two_turns())], exporters=[memory], session_id="hashed")
    ids = {span.attributes[semconv.CONVERSATION] for span in memory.get_finished_spans() if span.attributes}
    assert len(ids) == 1
    assert "s" not in ids


def long_run(turns: int) -> list[Wire]:
    """Return one agent's run of many iterations, whose histories grow."""
    story = Story()
    story.turn("go")
    for number in range(1, turns + 1):
        story.asks(number).answers("", number, calls=1)
        story.starts(f"c{number}").ends(f"c{number}").tell("agent.iteration_end", {"iterIndex": number})
    return story.turn_over().disposed().events


def many_runs(count: int) -> list[Wire]:
    """Return that many turns of ten events, each a run of a session of its own."""
    events: list[Wire] = []
    for number in range(count):
        start_ms = START_MS + 1000 * number
        story = Story(f"run-{number}", session=f"s-{number}", start_ms=start_ms).configured().turn().asks()
        story.answers("", calls=1).starts("c").ends("c").asks(2).answers("Done.", 2).turn_over().disposed()
        events += story.events
    return events


def seconds(path: Path) -> float:
    """Return how long a replay takes."""
    return least(lambda: replay([path]), rounds=1)


def least(action: Callable[[], object], rounds: int = 3) -> float:
    """Return the least time that an action took, in seconds: what disturbs a machine only adds."""
    spent = []
    for _ in range(rounds):
        gc.collect()
        start = time.perf_counter()
        action()
        spent.append(time.perf_counter() - start)
    return min(spent)


@pytest.mark.slow
def test_time_grows_with_the_runs_and_not_with_their_square(tmp_path: Path) -> None:
    """Four times the events take about four times as long; ten thousand take seconds."""
    few, many = (write_lines(tmp_path / f"{n}.jsonl", many_runs(n)) for n in (200, 1000))
    assert seconds(many) < 10 * seconds(few)
    assert seconds(many) < 10


@pytest.mark.slow
def test_the_spans_of_one_long_run_take_time_by_their_number() -> None:
    """An agent of 1,600 iterations costs four to five times one of 400."""
    spent = []
    for turns in (400, 1600):
        events = [parse(event) for event in long_run(turns)]
        assert len(play(events).exported) == 2 * turns + 1
        spent.append(least(functools.partial(play, events)))
    assert spent[1] < 8 * spent[0]


@pytest.mark.slow
def test_the_fold_of_one_long_run_takes_time_by_its_number_of_steps(tmp_path: Path) -> None:
    """Its requests show nothing of their history: four times the iterations cost about four times as much."""
    spent = []
    for turns in (800, 3200):
        reading = dialects.read(replay([write_lines(tmp_path / f"{turns}.jsonl", long_run(turns))]).spans)
        (document,) = fold.fold(reading).documents
        assert len(document.trajectory["steps"]) == turns + 1
        spent.append(least(functools.partial(fold.fold, reading)))
    assert spent[1] < 8 * spent[0]


@pytest.mark.slow
def test_a_long_run_of_ten_thousand_events_is_replayed_in_seconds(tmp_path: Path) -> None:
    """The producer keeps no more of a run."""
    path = write_lines(tmp_path / "r.jsonl", long_run(2000))
    assert seconds(path) < 20


def test_the_demo_is_what_the_example_plays(tmp_path: Path) -> None:
    """Its events have the session and the two runs of the script."""
    events = wires(DEMO)
    assert {event["meta"]["sessionId"] for event in events} == {"trip-42"}
    assert len({event["meta"]["runId"] for event in events}) == 3
