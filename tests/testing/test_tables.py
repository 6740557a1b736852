"""The tables of rules are those of the pinned conventions, as compiled beside the repository."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from atifold.testing import shapes
from atifold.testing.conventions import CONTENT, RENAMES, TYPES, row_name
from atifold.testing.log_rules import EVENTS
from atifold.testing.metric_rules import COMPAT, METRICS, OLD_METRICS, UNBOUNDED
from atifold.testing.span_rules import SPAN_TYPES

BESIDE = (
    "client.",
    "error.",
    "exception.",
    "jsonrpc.",
    "mcp.",
    "network.",
    "process.",
    "rpc.",
    "server.",
)
"""The namespaces of the names that the compiled conventions use and do not define."""


@pytest.fixture(scope="session")
def semconv(shared: Path) -> Path:
    """Return the folder of the pinned conventions."""
    return shared / "reference" / "semconv"


@pytest.fixture(scope="session")
def compiled(semconv: Path) -> dict[str, Any]:
    """Return the compiled conventions."""
    found: dict[str, Any] = json.loads((semconv / "genai-current-compiled.json").read_text(encoding="utf-8"))
    return found


def test_every_attribute_has_its_type(compiled: dict[str, Any]) -> None:
    """All of them, and what spans of these types have besides."""
    types = {name: facts["type"] for name, facts in compiled["attributes"].items()}
    assert {name: kind for name, kind in TYPES.items() if name.startswith("gen_ai.")} == types
    listed = {name for found in compiled["spans"].values() for name in found["attributes"]}
    assert listed <= TYPES.keys()
    assert {name for name in TYPES if not name.startswith("gen_ai.")} == {n for n in TYPES if n.startswith(BESIDE)}


def test_content_is_what_is_opt_in(compiled: dict[str, Any]) -> None:
    """On any type of span."""
    spans = compiled["spans"].values()
    assert {name for found in spans for name, how in found["attributes"].items() if how[0] == "opt_in"} == CONTENT


def test_every_span_type_is_there(compiled: dict[str, Any]) -> None:
    """And no other."""
    assert SPAN_TYPES.keys() == compiled["spans"].keys()


@pytest.mark.parametrize("name", SPAN_TYPES)
def test_a_span_type_is_the_pinned_one(compiled: dict[str, Any], name: str) -> None:
    """Operations, required and listed attributes, kinds, and what its name is made of."""
    row, found = SPAN_TYPES[name], compiled["spans"][name]
    listed = {attribute: how[0] for attribute, how in found["attributes"].items()}
    assert row.operations == set(found.get("operation", ["execute_tool"]))
    assert row.allowed == set(listed)
    assert row.required == {attribute for attribute, how in listed.items() if how == "required"}
    assert {kind.value for kind in row.kinds} == set(re.findall("CLIENT|INTERNAL|SERVER", found["kind"]))
    template = compiled["spans"]["mcp.client"]["name"] if name == "mcp.server" else found["name"]
    parts = dict.fromkeys(re.findall(r"[{|]([a-z_.]+)(?=[}|])", template))
    assert row.tails == tuple(part for part in parts if part not in ("gen_ai.operation.name", "mcp.method.name"))


def test_what_needs_another_attribute_is_conditional_there(compiled: dict[str, Any]) -> None:
    """A pair of `needs` is a condition of the conventions, not one of ours."""
    for name, row in SPAN_TYPES.items():
        attributes = compiled["spans"][name]["attributes"]
        assert {attributes[wanted][0] for _, wanted in row.needs} <= {"conditionally_required"}, name


def test_the_extra_names_of_refinements_are_attributes(compiled: dict[str, Any]) -> None:
    """They are on no span type's own list."""
    for row in SPAN_TYPES.values():
        assert row.extra <= compiled["attributes"].keys() - row.allowed


def test_every_metric_is_there(compiled: dict[str, Any]) -> None:
    """Instrument, unit, bounds, required and listed attributes are the pinned ones."""
    assert METRICS.keys() == compiled["metrics"].keys()
    for name, row in METRICS.items():
        found = compiled["metrics"][name]
        assert (row.instrument, row.unit, list(row.bounds)) == (
            found["instrument"],
            found["unit"],
            found.get("buckets", []),
        )
        rows = [words.split(" ") for words in found["attributes"]]
        if rows[0][0] == "see":
            assert row.allowed is None, name
            continue
        assert row.allowed == {first for first, *_ in rows if first != "provider.name"}, name
        relaxed = {"gen_ai.provider.name"} if ["provider.name", "relaxed", "to", "CR"] in rows else set()
        assert row.required == {first for first, how, *_ in rows if how == "R"} - relaxed, name


def test_older_metrics_are_none_of_the_current_ones() -> None:
    """Each of those that are accepted on demand says what it is now."""
    assert not METRICS.keys() & OLD_METRICS.keys()
    assert COMPAT.keys() < OLD_METRICS.keys()


def test_every_log_event_is_there(compiled: dict[str, Any]) -> None:
    """Severities, required and listed attributes are the pinned ones."""
    assert EVENTS.keys() == compiled["events"].keys()
    for name, row in EVENTS.items():
        found = compiled["events"][name]
        severity = re.search(r"\((\d+)\)", found.get("severity", ""))
        assert row.severity == (int(severity[1]) if severity else None), name
        if isinstance(found["attributes"], str):  # those of a span type
            assert (row.required, row.allowed) == SPAN_TYPES["gen_ai.client.inference"][3:5]
            continue
        assert row.required == {attribute for attribute, how in found["attributes"].items() if how == "required"}, name
        own = {attribute for attribute in row.allowed if not attribute.startswith(("gen_ai.", "mcp.", "server."))}
        assert found["attributes"].keys() <= row.allowed
        assert name == "gen_ai.client.operation.exception" or found["attributes"].keys() == row.allowed
        assert row.either <= own


SCHEMAS = {
    "gen_ai.input.messages": "gen-ai-input-messages.main-2026-10.reconstructed.json",
    "gen_ai.memory.records": "gen-ai-memory-records.2c8f13c.verbatim.json",
    "gen_ai.output.messages": "gen-ai-output-messages.main-2026-10.reconstructed.json",
    "gen_ai.retrieval.documents": "gen-ai-retrieval-documents.3bac206.verbatim.json",
    "gen_ai.system_instructions": "gen-ai-system-instructions.8484f22.verbatim.json",
    "gen_ai.tool.definitions": "gen-ai-tool-definitions.34beb96.verbatim.json",
}


def test_every_structured_attribute_has_a_shape() -> None:
    """Arguments and results of tools may be anything."""
    anything = {"gen_ai.tool.call.arguments", "gen_ai.tool.call.result"}
    assert shapes.OBJECTS.keys() == SCHEMAS.keys() == {n for n, kind in TYPES.items() if kind == "any"} - anything


@pytest.mark.parametrize("attribute", SCHEMAS)
def test_objects_are_those_of_the_json_schema(semconv: Path, attribute: str) -> None:
    """Required fields and all known ones; of parts, each type."""
    schema = json.loads((semconv / "schemas" / SCHEMAS[attribute]).read_text(encoding="utf-8"))
    definitions = schema["$defs"]
    typed = {
        d["properties"]["type"]["const"]: d
        for d in definitions.values()
        if "const" in d.get("properties", {}).get("type", {})
    }
    if attribute == "gen_ai.system_instructions":
        assert typed.keys() == shapes.INSTRUCTIONS.keys()
    elif attribute in shapes.MESSAGES:
        assert typed.keys() == shapes.PARTS.keys()
    for name, definition in typed.items() if attribute != "gen_ai.tool.definitions" else ():
        assert _fields(shapes.PARTS[name]) == _properties(definition, without="type"), name
    of_item = {"gen_ai.input.messages": "ChatMessage", "gen_ai.output.messages": "OutputMessage"}
    of_item |= {"gen_ai.memory.records": "MemoryRecord", "gen_ai.tool.definitions": "GenericToolDefinition"}
    of_item |= {"gen_ai.retrieval.documents": "RetrievalDocument"}
    if attribute in of_item:
        assert _fields(shapes.OBJECTS[attribute]) == _properties(definitions[of_item[attribute]], without="parts")


def _fields(fields: tuple[shapes.Field, ...]) -> dict[str, bool]:
    return {field.name: field.required for field in fields}


def _properties(definition: dict[str, Any], *, without: str) -> dict[str, bool]:
    required = definition.get("required", [])
    return {name: name in required for name in definition["properties"] if name != without}


def test_what_was_renamed_is_a_name_no_more() -> None:
    """Its new name is one, or one of another namespace."""
    for row in RENAMES:
        assert row.old not in TYPES
        assert row.new in TYPES or not row.new.startswith("gen_ai.")


def test_the_names_without_bound_are_on_no_metric() -> None:
    """So no metric of the conventions is refused for its own attributes."""
    assert not UNBOUNDED & {name for row in METRICS.values() for name in row.allowed or ()}
    assert {name for name in UNBOUNDED if name.startswith("gen_ai.")} <= TYPES.keys()


def test_a_template_stands_in_the_tables_without_its_key() -> None:
    """One row for all variables of a prompt."""
    assert row_name("gen_ai.prompt.variable.city") in TYPES
