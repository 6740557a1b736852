"""The examples that need a server: its README's commands start it, run the program and look at what arrived."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from backends.running import program
from walkthrough import walk

from atifold import atif

pytestmark = pytest.mark.integration


def documents(folder: Path) -> list[dict[str, Any]]:
    """Return the documents of an example by the times of their first steps, all of them valid."""
    found = [json.loads(path.read_bytes()) for path in (folder / "trajectories").glob("*.json")]
    assert [atif.check(document) for document in found] == [[]] * len(found)
    return sorted(found, key=lambda document: document["steps"][0]["timestamp"])


def test_jaeger(tmp_path: Path) -> None:
    """Its API has the trace, without content; the document has it."""
    with walk("jaeger", tmp_path, programs={"jaeger": program("jaeger")}) as example:
        example.all_of("Run")
        (trace,) = json.loads(example.look(lambda text: len(json.loads(text)["data"] or ()) == 1))["data"]
    names = sorted(span["operationName"] for span in trace["spans"])
    assert names == ["chat gpt-4o", "chat gpt-4o", "execute_tool book_table", "invoke_agent bookings"]
    assert "Friday" not in json.dumps(trace)
    (document,) = documents(example.folder)
    assert document["steps"][0]["message"] == "A table for two on Friday"


def test_the_collector_feeds_a_backend_and_ours(tmp_path: Path) -> None:
    """From a program that imports nothing of atifold."""
    programs = {"jaeger": program("jaeger"), "otelcol": program("collector")}
    with walk("collector", tmp_path, programs=programs) as example:
        assert "atifold" not in (example.folder / "agent.py").read_text().split('"""')[2]
        example.all_of("Run")
        text = example.look(lambda text: "invoke_agent greeter" in text and "schema_version" in text)
    (trace,) = json.JSONDecoder().raw_decode(text)[0]["data"]
    assert sorted(span["operationName"] for span in trace["spans"]) == ["chat gpt-4o", "invoke_agent greeter"]
    (document,) = documents(example.folder)
    assert [step["message"] for step in document["steps"]] == ["Hello", "Good morning!"]


def test_phoenix(tmp_path: Path) -> None:
    """Both turns of the session, with what the agents and tools were given and gave."""
    with walk("phoenix", tmp_path, programs={"phoenix": program("phoenix")}) as example:
        example.all_of("Run")
        spans = json.loads(example.look(lambda text: len(json.loads(text)["data"]) == 8))["data"]
    told = {
        (span["attributes"]["input.value"], span["attributes"]["output.value"])
        for span in spans
        if span["name"] == "invoke_agent trip_planner"
    }
    assert told == {
        ("Will it rain in Lyon on Friday?", "Yes, a little."),
        ("And in Nice?", "No, the sun shines there."),
    }
    tools = {span["attributes"]["input.value"] for span in spans if span["name"] == "execute_tool get_weather"}
    assert tools == {'{"city":"Lyon"}', '{"city":"Nice"}'}
    assert {span["attributes"]["session.id"] for span in spans} == {"trip-7"}
    assert [len(document["steps"]) for document in documents(example.folder)] == [4, 7]


def test_mlflow(tmp_path: Path) -> None:
    """The failed run's trace is an error, with its session and a readable request."""
    with walk("mlflow", tmp_path, programs={"mlflow": program("mlflow")}) as example:
        assert "not booked: no answer, so no table for 2 on Friday" in example.all_of("Run")
        (trace,) = json.loads(example.look(lambda text: len(json.loads(text).get("traces", ())) == 1))["traces"]
    assert trace["state"] == "ERROR"
    assert json.loads(trace["request_preview"]) == "A table for two on Friday"
    assert trace["trace_metadata"]["mlflow.trace.session"] == "s-1"
    (document,) = documents(example.folder)
    assert document["steps"][0]["message"] == "A table for two on Friday"
