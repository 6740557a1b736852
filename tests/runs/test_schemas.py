"""The JSON schemas of the ledger's documents: generated, kept, equal in structure to the published ones."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from atifold.runs.schemas import PUBLISHED, Published, encode, schema

KEPT = Path(__file__).resolve().parents[2] / "schemas"
WORDS = frozenset({"$comment", "$defs", "$id", "$schema", "description", "title"})
WRITE, STATEMENT, READ = PUBLISHED


def structure(node: Any, definitions: dict[str, Any]) -> Any:
    """Return all that a schema demands, references resolved, in one order; unknown keywords count."""
    if "$ref" in node:
        rest = {key: value for key, value in node.items() if key != "$ref"}
        return structure({**definitions[node["$ref"].removeprefix("#/$defs/")], **rest}, definitions)
    if "allOf" in node:
        return structure(merged([structure(part, definitions) for part in node["allOf"]]), definitions)
    found = {key: _part(key, value, definitions) for key, value in node.items() if key not in WORDS}
    if found.get("required") == []:
        del found["required"]
    return nullable(found)


def _part(key: str, value: Any, definitions: dict[str, Any]) -> Any:
    """Return one keyword's demand."""
    if key == "properties":
        return {name: structure(item, definitions) for name, item in value.items()}
    if key == "items":
        return structure(value, definitions)
    if key == "oneOf":
        return [structure(item, definitions) for item in value]
    return sorted(value, key=str) if key in ("enum", "required", "type") and isinstance(value, list) else value


def nullable(found: dict[str, Any]) -> dict[str, Any]:
    """Return null beside values of an enumeration as one enumeration; alternatives in one order."""
    options = found.get("oneOf", [])
    if {"type": "null"} in options and len(options) == 2:
        other = next(option for option in options if option != {"type": "null"})
        if other.keys() == {"enum"}:
            return {"enum": sorted([*other["enum"], None], key=str)}
    return (
        {**found, "oneOf": sorted(options, key=lambda option: json.dumps(option, sort_keys=True))} if options else found
    )


def merged(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Return objects that must all hold as one."""
    return {
        "type": "object",
        "required": [name for part in parts for name in part["required"]],
        "properties": {name: item for part in parts for name, item in part["properties"].items()},
    }


def whole(document: dict[str, Any]) -> Any:
    """Return the structure of a schema document, with what names it."""
    return document["$id"], structure({"oneOf": document["oneOf"]}, document["$defs"])


def seed(shared: Path) -> dict[str, Any]:
    """Return the schema that the seed's patch adds."""
    text = (shared / "seeds" / "chant-runs-write.schema.txt").read_text(encoding="utf-8").split("@@\n", 1)[1]
    return dict(json.loads("\n".join(line.removeprefix("+") for line in text.splitlines())))


@pytest.mark.parametrize("published", PUBLISHED)
def test_the_kept_schemas_are_what_the_models_generate(published: Published) -> None:
    """Whoever changes a model generates them anew: `make schemas`."""
    assert (KEPT / published.file).read_bytes() == encode(published)


def test_no_other_schema_is_kept() -> None:
    """One that nothing generates would grow stale."""
    assert {path.name for path in KEPT.glob("*.json")} == {published.file for published in PUBLISHED}


def test_the_command_writes_the_same_bytes_in_every_process(tmp_path: Path) -> None:
    """Whatever the hash seed."""
    subprocess.run([sys.executable, "-m", "atifold.runs.schemas", str(tmp_path / "new")], check=True)
    assert {path.name: path.read_bytes() for path in (tmp_path / "new").iterdir()} == {
        path.name: path.read_bytes() for path in KEPT.glob("*.json")
    }


def test_the_command_wants_one_directory() -> None:
    """Any other number of arguments is wrong usage."""
    done = subprocess.run([sys.executable, "-m", "atifold.runs.schemas"], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "usage: python -m atifold.runs.schemas DIRECTORY\n")


def test_the_documents_of_writes_equal_the_seed(shared: Path) -> None:
    """Same fields, types, values, bounds, required fields and alternatives; other words."""
    assert whole(schema(WRITE)) == whole(seed(shared))


def test_statements_and_verdicts_equal_the_reference(shared: Path) -> None:
    """The same for what `statement` and `verify` print."""
    reference = json.loads((shared / "reference" / "chant" / STATEMENT.file).read_text(encoding="utf-8"))
    assert whole(schema(STATEMENT)) == whole(reference)


def test_the_read_document_equals_the_reference_and_knows_patches(shared: Path) -> None:
    """The reference, with what a newer one adds: commits that were joined by their patch."""
    reference = json.loads((shared / "reference" / "chant" / READ.file).read_text(encoding="utf-8"))
    commit = reference["$defs"]["run"]["properties"]["commits"]["items"]["properties"]
    commit["joinedBy"]["items"]["enum"].append("patch-id")
    commit["recordedAs"] = {"type": "string"}
    assert whole(schema(READ)) == whole(reference)


def leaves(node: Any, way: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the way to each keyword and value of a schema, words left out."""
    for key, value in node.items() if isinstance(node, dict) else enumerate(node):
        if key not in WORDS or way == ():
            if way:
                yield (*way, key)
            if isinstance(value, (dict, list)) and key != "$schema":
                yield from leaves(value, (*way, key))


def test_the_comparison_notices_every_change() -> None:
    """Whatever keyword, value or field of a definition is dropped."""
    document = schema(WRITE)
    before, tried = whole(document), 0
    for way in leaves({"$defs": document["$defs"]}):
        if len(way) < 3 or way[-1] in ("properties", "required", "enum", "oneOf", "items", "type"):
            continue
        changed = copy.deepcopy(document)
        node: Any = changed
        for key in way[:-1]:
            node = node[key]
        del node[way[-1]]
        tried += 1
        assert whole(changed) != before, way
    assert tried > 200


def test_our_schemas_share_no_sentence_with_the_published_ones(shared: Path) -> None:
    """Descriptions are in our own words."""
    theirs = set(sentences(seed(shared)))
    ours = {sentence for published in PUBLISHED for sentence in sentences(schema(published))}
    assert len(ours) > 40
    assert not ours & theirs


def sentences(node: Any) -> Iterator[str]:
    """Yield the sentences of all descriptions, in lower case."""
    if isinstance(node, dict):
        if isinstance(node.get("description"), str):
            yield from (sentence.strip(" .\n").lower() for sentence in node["description"].split(". "))
        for item in node.values():
            yield from sentences(item)
    elif isinstance(node, list):
        for item in node:
            yield from sentences(item)
