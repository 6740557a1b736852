"""What Phoenix and MLflow show a person of the demo run, and that the names of OpenInference count nothing twice."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from backends.backend import Backend
from backends.browser import page_text
from backends.losses import SERVERS
from backends.sending import PROTOBUF
from backends.shown import SHOWS, Shown
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from story import DEMO

from atifold import EventBus, atif, dialects, fold, instrument, otlp
from atifold.emit.spellings import spelling
from atifold.readable import trace_id_of
from atifold.replay import replay

pytestmark = pytest.mark.integration

FIRST = "I want to be in Lyon on Friday. Will it rain, and is there a train from Paris?"
ANSWER = "Light rain on Friday, 14 to 17 degrees. The timetable does not answer; I will try again later."
SECOND = "Then find me a quiet hotel near the station."


def played(backend: Backend, seed: str, *, openinference: bool) -> list[dict[str, Any]]:
    """Send the demo run; return the traces of its two turns, each with its id and its spans by name."""
    exporter = PROTOBUF.exporter(backend.url(PROTOBUF), backend.headers)
    sent = replay(
        [DEMO],
        exporters=[exporter],
        capture_content=True,
        id_seed=seed,
        spelling=spelling(openinference=openinference),
    )
    traces: dict[str, dict[str, str]] = {}
    for span in sorted(sent.spans, key=lambda span: span.start_ns):
        traces.setdefault(span.trace_id, {})[span.name] = span.span_id
    backend.wait({trace: sum(span.trace_id == trace for span in sent.spans) for trace in traces})
    return [{"id": trace, "spans": spans} for trace, spans in traces.items()]


def shown(server: str, backend: Backend, seed: str, *, openinference: bool) -> list[Shown]:
    """Send the demo run and return what a server shows of its turns."""
    return [SHOWS[server](backend, turn["id"]) for turn in played(backend, seed, openinference=openinference)]


@pytest.mark.parametrize("server", SHOWS)
def test_the_names_of_openinference_count_nothing_twice(server: str, tmp_path: Path, request: Any) -> None:
    """Tokens and cost of both turns are those without them, and those that the run told."""
    backend: Backend = request.getfixturevalue(server)
    with_them = shown(server, backend, f"{tmp_path}/on", openinference=True)
    without = shown(server, backend, f"{tmp_path}/off", openinference=False)
    assert [turn.sums for turn in with_them] == [turn.sums for turn in without]
    assert [turn.sums[:3] for turn in with_them] == [(1097, 960, 137), (1783, 1666, 117)]
    assert with_them[0].cost == pytest.approx(0.003898, abs=1e-6)  # its own price list; the run told 0.003898
    assert {turn.session for turn in (*with_them, *without)} == {"trip-42"}
    assert not any(turn.failed for turn in with_them)


def test_phoenix_shows_what_an_agent_was_asked_and_answered(phoenix: Backend, tmp_path: Path) -> None:
    """Only with these names; without them its table is empty, which is why the setting is there."""
    first, second = shown("phoenix", phoenix, f"{tmp_path}/on", openinference=True)
    assert (first.input, first.output, second.input) == (FIRST, ANSWER, SECOND)
    plain = shown("phoenix", phoenix, f"{tmp_path}/off", openinference=False)
    assert {(turn.input, turn.output) for turn in plain} == {(None, None)}


def test_mlflow_shows_texts_instead_of_messages(mlflow: Backend, tmp_path: Path) -> None:
    """Without these names its table has the JSON of messages."""
    first, _ = shown("mlflow", mlflow, f"{tmp_path}/on", openinference=True)
    assert (json.loads(first.input or ""), json.loads(first.output or "")) == (FIRST, ANSWER)
    plain, _ = shown("mlflow", mlflow, f"{tmp_path}/off", openinference=False)
    assert json.loads(plain.input or "")[0]["parts"][0]["content"] == FIRST


@pytest.mark.parametrize("server", SERVERS)
def test_what_comes_back_with_these_names_folds_to_the_same_trajectories(
    server: str, tmp_path: Path, request: Any
) -> None:
    """From each of a server's views: the demo run, as it was folded when it was sent."""
    backend: Backend = request.getfixturevalue(server)
    exporter = PROTOBUF.exporter(backend.url(PROTOBUF), backend.headers)
    names, seed = spelling(openinference=True), str(tmp_path)
    sent = replay([DEMO], exporters=[exporter], capture_content=True, id_seed=seed, spelling=names)
    counts = Counter(span.trace_id for span in sent.spans)
    backend.wait(counts)
    wanted = sorted(atif.dumps(document.trajectory) for document in sent.folded.documents)
    for name, view in backend.views.items():
        spans = otlp.read(view.files(counts, tmp_path / name)).spans
        back = fold.fold(dialects.read([span for span in spans if span.trace_id in counts]))
        assert sorted(atif.dumps(document.trajectory) for document in back.documents) == wanted, name


@pytest.mark.parametrize("server", SHOWS)
def test_a_failed_run_is_shown_as_failed(server: str, tmp_path: Path, request: Any) -> None:
    """By its root, and with the exception on what failed."""
    backend: Backend = request.getfixturevalue(server)
    kept, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(PROTOBUF.exporter(backend.url(PROTOBUF), backend.headers)))
    provider.add_span_processor(SimpleSpanProcessor(kept))
    bus = instrument(
        provider, directory=tmp_path, bus=EventBus(), capture_content="SPAN_ONLY", openinference=True, grace_s=600
    )

    def book() -> None:
        with bus.run("bookings", "A table for two", session_id="s-1") as run, run.tool("book_table", {}, id="c1"):
            raise ConnectionError("no network")

    with pytest.raises(ConnectionError):
        book()
    provider.shutdown()
    (trace_id,) = {trace_id_of(span.context) for span in kept.get_finished_spans()}
    backend.wait({trace_id: 2})
    turn = SHOWS[server](backend, trace_id)
    assert (turn.failed, turn.session) == (True, "s-1")
    (view,) = backend.views.values()
    for span in view.facts(trace_id):
        assert [name for name, _, _ in span["events"]] == ["exception"]
        assert span["status_message"] == "no network"


def test_a_person_sees_the_demo_run_in_phoenix(phoenix: Backend, tmp_path: Path) -> None:
    """The page of a trace: spans, tokens, cost, input and output; that of the tool: what it was given, its error."""
    turn, _ = played(phoenix, f"{tmp_path}/on", openinference=True)
    web = phoenix.urls["http/json"]
    page = page_text(f"{web}/redirects/traces/{turn['id']}", tmp_path / "agent")
    for text in (*turn["spans"], FIRST, ANSWER, "508", "589", "<$0.01", "View Session"):
        assert text in page.splitlines(), page
    page = page_text(f"{web}/redirects/spans/{turn['spans']['execute_tool search_trains']}", tmp_path / "tool")
    for text in ("Error", "timetable service timed out after 3 s", '"destination"', '"Lyon"'):
        assert text in page, page
    page = page_text(f"{web}/redirects/spans/{turn['spans']['chat claude-sonnet-4-5']}", tmp_path / "model")
    for text in ("You plan trips. Look things up before you answer.", FIRST, "search_trains"):
        assert text in page, page


def test_a_person_sees_the_demo_run_in_mlflow(mlflow: Backend, tmp_path: Path) -> None:
    """The page of a trace: spans, tokens, cost, session, input and output."""
    turn, _ = played(mlflow, f"{tmp_path}/on", openinference=True)
    url = f"{mlflow.urls['http/json']}/#/experiments/0/traces?selectedEvaluationId=tr-{turn['id']}"
    page = page_text(url, tmp_path / "agent")
    for text in (*turn["spans"], "508", "$0.002676", "589", "$0.001222", "trip-42", "Inputs", FIRST, "Outputs", ANSWER):
        assert text in page.splitlines(), page
