"""The tables of the dialects are whole."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import pytest

from atifold.calls import AgentCall, ModelCall, ToolCall, Usage
from atifold.dialects import DIALECTS, values
from atifold.dialects.genai import GENAI, OPERATIONS
from atifold.dialects.table import CallKind, Dialect, Row
from atifold.dialects.values import Note
from atifold.semconv import PROVIDERS

RECORDS = {
    CallKind.MODEL: ModelCall,
    CallKind.TOOL: ToolCall,
    CallKind.AGENT: AgentCall,
    CallKind.WORKFLOW: AgentCall,
}
ROWS = [(dialect, row) for dialect in DIALECTS for row in dialect.rows]


@pytest.mark.parametrize(
    ("dialect", "row"), ROWS, ids=lambda value: getattr(value, "field", getattr(value, "name", ""))
)
def test_each_row_feeds_a_real_field_of_each_of_its_calls(dialect: Dialect, row: Row) -> None:
    """A row names a field that every kind of call it is for has, and at least one attribute."""
    assert row.names, dialect.name
    for kind in row.kinds:
        record = Usage if row.field.startswith("usage.") else RECORDS[kind]
        assert row.field.removeprefix("usage.") in {field.name for field in fields(record)}


def test_no_attribute_stands_twice_in_a_row() -> None:
    """A name that is read twice for one field is a slip."""
    for _, row in ROWS:
        assert len(set(row.names)) == len(row.names)


def test_dialects_have_names_of_their_own() -> None:
    """A reading counts by name."""
    names = [dialect.name for dialect in DIALECTS]
    assert len(set(names)) == len(names)


def test_what_is_kept_is_not_read_into_a_field_too() -> None:
    """`extra` holds what no field of the same dialect takes."""
    for dialect in DIALECTS:
        assert not dialect.kept & dialect.row_names


def test_each_name_of_the_conventions_is_pinned_or_a_known_alias(shared: Path) -> None:
    """Every `gen_ai.*` name that is read stands in the conventions, among the aliases or is a recorded vendor's own."""
    folder = shared / "reference" / "semconv"
    pinned = set(json.loads((folder / "genai-current-compiled.json").read_text(encoding="utf-8"))["attributes"])
    aliases = (folder / "aliases-for-readers.json").read_text(encoding="utf-8")
    cost = "gen_ai.usage.cost."
    assert cost + "amount/.currency/.source" in aliases
    known = {cost + "currency", cost + "source"}  # written as `amount/.currency/.source` there
    names = {name for dialect in DIALECTS for name in dialect.row_names | dialect.kept | dialect.known}
    strange = {name for name in names if name.startswith("gen_ai.") and name not in pinned | known}
    recorded = (shared / "reference" / "dialects.md").read_text(encoding="utf-8")
    per_provider = ("gen_ai.usage.details.", "gen_ai.aggregated_usage.")  # pydantic-ai: each provider's own figures
    unknown = {name for name in strange if name not in aliases and not name.startswith(per_provider)}
    of_conventions = GENAI.row_names | GENAI.kept | GENAI.known
    assert {name for name in unknown if name in of_conventions or name not in recorded} == set()


def test_each_plain_alias_of_a_field_is_read(shared: Path) -> None:
    """A `gen_ai.*` alias of a name that a row reads is read by the same row."""
    path = shared / "reference" / "semconv" / "aliases-for-readers.json"
    aliases = json.loads(path.read_text(encoding="utf-8"))
    left_out = {"gen_ai.input.messages_ref", "gen_ai.output.messages_ref"}
    missing = {
        alias
        for row in GENAI.rows
        for name in row.names
        for alias in aliases.get(name, ())
        if alias.startswith("gen_ai.")
        and alias.endswith(tuple("abcdefghijklmnopqrstuvwxyz"))
        and not any(alias in other.names for other in GENAI.rows)
    }
    other_shapes = {"gen_ai.completion", "gen_ai.response.text", "gen_ai.response.tool_calls"}
    assert {name for name in missing if not name.endswith("_ref")} - left_out == other_shapes


def test_each_operation_of_the_conventions_is_a_call_or_named_as_none(shared: Path) -> None:
    """No operation of the pinned conventions is left to a guess."""
    from atifold.dialects.genai import NO_CALLS  # noqa: PLC0415  read beside the table it completes

    path = shared / "reference" / "semconv" / "genai-current-compiled.json"
    conventions = json.loads(path.read_text(encoding="utf-8"))
    operations = set(conventions["attributes"]["gen_ai.operation.name"]["enum"])
    assert operations - OPERATIONS.keys() - NO_CALLS == set()


def test_each_renamed_provider_is_known(shared: Path) -> None:
    """Every older spelling of a provider that the aliases list is one of today's name, and read as it."""
    path = shared / "reference" / "semconv" / "aliases-for-readers.json"
    aliases = json.loads(path.read_text(encoding="utf-8"))
    listed = {
        old: name.removeprefix("provider value ")
        for name, olds in aliases.items()
        if name.startswith("provider value ")
        for old in olds
    }
    spellings = {row.name: row.spellings for row in PROVIDERS}
    assert {old: new for old, new in listed.items() if old not in spellings[new]} == {}
    assert {old: values.provider(old.upper(), Note()) for old in listed} == listed


def test_each_provider_has_the_conventions_name_and_no_spelling_means_two(shared: Path) -> None:
    """A name of today is never another one's older spelling."""
    path = shared / "reference" / "semconv" / "genai-current-compiled.json"
    conventions = json.loads(path.read_text(encoding="utf-8"))
    assert {row.name for row in PROVIDERS} <= set(conventions["attributes"]["gen_ai.provider.name"]["enum"])
    names = [name for row in PROVIDERS for name in (row.name, *row.spellings)]
    assert len(names) == len(set(names))
    assert [name for name in names if name != name.lower()] == []


@pytest.mark.parametrize(
    ("raw", "name"), [("Anthropic+retry", "anthropic"), ("openai|backup", "openai"), ("Ours", "Ours"), ("a+b", "a+b")]
)
def test_a_wrapped_provider_is_that_provider_and_a_strange_one_stays(raw: str, name: str) -> None:
    """What stands in no table is kept as it is."""
    assert values.provider(raw, Note()) == name
