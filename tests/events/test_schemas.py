"""The JSON schemas of the events: generated from the models, kept, equal in structure to the catalogue."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from structures import Catalogue, Structure, differences, of_document

from atifold.events import EVENTS, Mark, marks
from atifold.events.catalogue import UNTYPED
from atifold.events.schemas import INDEX, file_name, files, index, main, schema

KEPT = Path(__file__).resolve().parents[2] / "schemas" / "events"
TYPED = sorted(set(EVENTS) - set(UNTYPED))
QUESTION = Structure(fields={"toolCallId": (False, Structure(frozenset({"string"})))})
"""The catalogue's type of `pause.request`'s question is any object; its prose knows of one field."""


# ---- the files -----------------------------------------------------------------------------------


def test_the_kept_files_are_what_the_models_generate() -> None:
    """Whoever changes a model generates them anew: `python -m atifold.events.schemas schemas/events`."""
    generated = dict(files())
    assert {path.name for path in KEPT.iterdir()} == set(generated)
    assert [name for name, data in generated.items() if (KEPT / name).read_bytes() != data] == []


def test_the_command_writes_the_same_bytes_in_every_process(tmp_path: Path) -> None:
    """The generator is deterministic: another process, with another hash seed, agrees with the files kept."""
    subprocess.run([sys.executable, "-m", "atifold.events.schemas", str(tmp_path / "new")], check=True)
    written = {path.name: path.read_bytes() for path in (tmp_path / "new").iterdir()}
    assert written == {path.name: path.read_bytes() for path in KEPT.iterdir()}


def test_the_command_wants_one_directory(capsys: pytest.CaptureFixture[str]) -> None:
    """Any other number of arguments is wrong usage: exit code 2 and how it is used."""
    assert main([]) == main(["a", "b"]) == 2
    assert capsys.readouterr().err.startswith("usage: python -m atifold.events.schemas DIRECTORY\n")


def test_the_index_lists_every_event_and_its_file() -> None:
    """Its content leaves are those of the policy; an event without a model says why."""
    events = index()["events"]
    assert set(events) == set(EVENTS)
    assert {entry["schema"] for entry in events.values()} | {INDEX} == {path.name for path in KEPT.iterdir()}
    for name, entry in events.items():
        assert entry.get("untyped") == UNTYPED.get(name)
        assert set(entry.get("content", ())) == {path for path, mark in marks(name).items() if mark is Mark.CONTENT}


def test_an_event_that_nobody_described_has_a_schema_of_any_object() -> None:
    """It demands nothing, and says why."""
    (name,) = UNTYPED
    found = schema(name)
    assert (found["type"], found["additionalProperties"], "properties" in found) == ("object", True, False)
    assert UNTYPED[name][1:] in found["description"]


def test_an_unknown_event_has_no_schema() -> None:
    """The name is asked for by KeyError."""
    with pytest.raises(KeyError):
        schema("agentfootprint.stream.sung")


# ---- what stands in them -------------------------------------------------------------------------


def test_a_field_says_what_stands_under_it_in_the_source_with_wire_names() -> None:
    """The words of the model's source are the schema's, a paragraph a line, for inherited fields too."""
    retrieved = schema("agentfootprint.memory.retrieved")["properties"]
    assert retrieved["charsUsed"]["description"].endswith("given together with `maxChars`.")
    assert "\n" not in schema("agentfootprint.agent.iteration_end")["properties"]["toolCallCount"]["description"]
    reused = schema("agentfootprint.tools.session_reused")["properties"]
    assert (reused["label"]["description"], reused["calls"]["description"]) == (
        "One fact that the tool tells about it, such as a language.",
        "How many calls have shared it so far, this one included.",
    )


def test_null_stands_only_where_the_producer_writes_it() -> None:
    """The models read null everywhere; the schemas name it where it means something."""
    found = {
        (name.rpartition(".")[2], path)
        for name in TYPED
        for path, node in _nodes(schema(name))
        if {"type": "null"} in node.get("anyOf", ())
    }
    assert found == {
        ("evaluated", ".GuardCondition.value"),
        ("evaluated", ".GuardCondition.value.items"),
        ("graph_declared", ".DeclaredCondition.value"),
        ("graph_declared", ".DeclaredCondition.value.items"),
        ("graph_declared", ".SkillEdge.from"),
        ("semantics_declared", ".SemanticPoint.value"),
        ("semantics_declared", ".ToolSemantics.clarify"),
    }


def test_an_enumeration_takes_any_text_and_names_its_members() -> None:
    """A newer producer may have more of them."""
    found = schema("agentfootprint.memory.detached")["properties"]["reason"]
    assert found == {
        "anyOf": [{"type": "string", "enum": ["stale", "budget", "score_low", "policy"]}, {"type": "string"}]
    }


def test_a_list_that_is_kept_unread_is_described_all_the_same() -> None:
    """The history's messages have their shape in the schema."""
    found = schema("agentfootprint.agent.iteration_end")
    assert found["properties"]["history"]["items"] == {"$ref": "#/$defs/LLMMessage"}
    assert "toolCalls" in found["$defs"]["LLMMessage"]["properties"]


def _nodes(node: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every schema inside a schema document with the names that lead to it."""
    if isinstance(node, dict):
        yield path, node
        for key, item in node.items():
            yield from _nodes(item, path if key in {"properties", "$defs", "anyOf"} else f"{path}.{key}")
    elif isinstance(node, list):
        for item in node:
            yield from _nodes(item, path)


# ---- against the catalogue -----------------------------------------------------------------------


@pytest.mark.parametrize("name", TYPED)
def test_a_schema_has_the_structure_of_the_catalogue(facts: Catalogue, name: str) -> None:
    """Fields, optionality, types and members are equal, in nested objects and unread lists too."""
    assert list(differences(of_document(schema(name)), _wanted(facts, name))) == []


def _wanted(facts: Catalogue, name: str) -> Structure:
    found = facts.structure(name)
    if name == "agentfootprint.pause.request":
        return found & Structure(fields={"questionPayload": (True, QUESTION)})
    return found


Change = Callable[[], None]


def _without(container: Any, key: Any) -> Change:
    return lambda: container.__delitem__(key)


def _also_required(node: dict[str, Any], name: str) -> Change:
    return lambda: node.setdefault("required", []).append(name)


def _not_required(node: dict[str, Any], name: str) -> Change:
    return lambda: node["required"].remove(name)


def _changes(document: dict[str, Any]) -> list[tuple[str, Change]]:
    """Return every single change of the kinds that a slip would make."""
    found: list[tuple[str, Change]] = []
    for _, node in _nodes(document):
        if not isinstance(node.get("properties"), dict) or "type" not in node:
            found += [(f"without {m}", _without(node["enum"], i)) for i, m in enumerate(node.get("enum", ()))]
            continue
        for name in node["properties"]:
            found.append((f"without {name}", _without(node["properties"], name)))
            change = _not_required if name in node.get("required", ()) else _also_required
            found.append((f"{name} {change.__name__}", change(node, name)))
    return found


@pytest.mark.parametrize("name", TYPED)
def test_the_comparison_notices_every_single_change(facts: Catalogue, name: str) -> None:
    """Any field dropped, any member dropped, any optional field made required and the other way round."""
    document, wanted = schema(name), _wanted(facts, name)
    count = len(_changes(document))
    assert count >= 2
    for number in range(count):
        changed = copy.deepcopy(document)
        what, change = _changes(changed)[number]
        change()
        assert list(differences(of_document(changed), wanted)), what


@pytest.mark.parametrize(
    ("field", "other"),
    [
        ("iteration", {"type": "string"}),
        ("iteration", {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        ("checked", {"$ref": "#/$defs/CoverageItem"}),
        ("toolName", {"type": "string", "enum": ["x"]}),
        ("period", {"type": "object", "additionalProperties": True}),
        ("provenance", {"$ref": "#/$defs/DeclaredPeriod"}),
    ],
)
def test_the_comparison_notices_another_type(facts: Catalogue, field: str, other: dict[str, Any]) -> None:
    """Scalar for scalar, object for list, map for object, object for object."""
    name = "agentfootprint.tools.absent"
    document = schema(name)
    document["properties"][field] = other
    assert [text for text in differences(of_document(document), facts.structure(name)) if field in text]


def test_each_kept_file_names_its_event() -> None:
    """By the full name, as its title."""
    for name in EVENTS:
        assert json.loads((KEPT / file_name(name)).read_bytes())["title"] == name
