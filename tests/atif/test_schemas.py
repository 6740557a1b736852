"""The JSON schemas: generated from the models, kept in the repository, equal to the published ones."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from atifold.atif.schemas import PUBLISHED, encode, file_name, schema
from atifold.atif.versions import SchemaVersion

KEPT = Path(__file__).resolve().parents[2] / "schemas" / "atif"
WORDS = frozenset({"$comment", "$defs", "$id", "$schema", "description", "title"})
"""Keywords that constrain no document ($defs are read where something refers to them)."""


def in_order(items: list[Any]) -> list[Any]:
    """Return the items of a list whose order means nothing in one order."""
    return sorted(items, key=lambda item: json.dumps(item, sort_keys=True))


def structure(node: Any, definitions: Mapping[str, Any], around: tuple[str, ...] = ()) -> Any:
    """Return all that a schema demands, references resolved; an unknown keyword counts as a demand."""
    found: dict[str, Any] = {}
    for key, value in node.items():
        if key == "$ref":
            name = value.removeprefix("#/$defs/")
            inner = {"recursion": around.index(name)} if name in around else None
            found |= inner or structure(definitions[name], definitions, (*around, name))
        elif key == "properties":
            found[key] = {name: structure(item, definitions, around) for name, item in value.items()}
        elif key == "items":
            found[key] = structure(value, definitions, around)
        elif key == "anyOf":
            found[key] = in_order([structure(item, definitions, around) for item in value])
        elif key in ("enum", "required"):
            found[key] = in_order(value)
        elif key not in WORDS:
            found[key] = value
    return found


def whole(document: dict[str, Any]) -> Any:
    """Return the structure of a schema document and the names of its objects."""
    return sorted(document["$defs"]), structure({"$ref": document["$ref"]}, document["$defs"])


def seed(path: Path) -> dict[str, Any]:
    """Return the schema that a patch file adds: its lines that begin with +, below the @@ line."""
    lines = path.read_text(encoding="utf-8").splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("@@")) + 1
    return json.loads("\n".join(line.removeprefix("+") for line in lines[start:]))


@pytest.mark.parametrize("version", PUBLISHED)
def test_the_kept_schemas_are_what_the_models_generate(version: SchemaVersion) -> None:
    """Whoever changes a model generates the schemas anew: `python -m atifold.atif.schemas schemas/atif`."""
    assert (KEPT / file_name(version)).read_bytes() == encode(version)


def test_no_other_schema_is_kept() -> None:
    """A schema that nothing generates would grow stale."""
    assert {path.name for path in KEPT.iterdir()} == {file_name(version) for version in PUBLISHED}


def test_the_command_writes_the_same_bytes_in_every_process(tmp_path: Path) -> None:
    """The generator is deterministic: other processes, with another hash seed, agree with the files kept."""
    subprocess.run([sys.executable, "-m", "atifold.atif.schemas", str(tmp_path / "new")], check=True)
    written = {path.name: path.read_bytes() for path in (tmp_path / "new").iterdir()}
    assert written == {path.name: path.read_bytes() for path in KEPT.iterdir()}


def test_the_command_wants_one_directory() -> None:
    """Any other number of arguments is wrong usage: exit code 2 and how it is used."""
    done = subprocess.run([sys.executable, "-m", "atifold.atif.schemas"], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "usage: python -m atifold.atif.schemas DIRECTORY\n")


def test_the_schema_of_1_7_equals_the_seed(shared: Path) -> None:
    """Same objects, fields, types, values, bounds, defaults, required fields; other words."""
    assert whole(schema("ATIF-v1.7")) == whole(seed(shared / "seeds" / "atif-trajectory-v1.7.schema.txt"))


@pytest.mark.parametrize("version", PUBLISHED)
def test_the_schema_equals_the_published_one(shared: Path, version: SchemaVersion) -> None:
    """The same for the parsed schemas of both versions."""
    published = shared / "reference" / f"atif-{version.removeprefix('ATIF-')}.schema.json"
    assert whole(schema(version)) == whole(json.loads(published.read_text(encoding="utf-8")))


def test_the_versions_differ_in_audio_alone() -> None:
    """1.8 has one object, one part type and one source more than 1.7, and its own name."""
    older, newer = schema("ATIF-v1.7")["$defs"], schema("ATIF-v1.8")["$defs"]
    assert set(newer) - set(older) == {"AudioSource"}
    assert [name for name in older if older[name] != newer[name]] == ["ContentPart", "Trajectory"]
    assert (older["ContentPart"]["properties"]["type"]["enum"], newer["ContentPart"]["properties"]["type"]["enum"]) == (
        ["text", "image"],
        ["text", "image", "audio"],
    )


def test_our_schemas_share_no_sentence_with_the_published_ones(shared: Path) -> None:
    """Descriptions are in our own words."""
    theirs = set(sentences(seed(shared / "seeds" / "atif-trajectory-v1.7.schema.txt")))
    theirs |= set(sentences(json.loads((shared / "reference" / "atif-v1.8.schema.json").read_text(encoding="utf-8"))))
    ours = set(sentences(schema("ATIF-v1.8")))
    assert len(ours) > 50
    assert not ours & theirs


def sentences(node: Any) -> Iterator[str]:
    """Yield the sentences of all descriptions, in lower case, without their full stop."""
    if isinstance(node, dict):
        if isinstance(node.get("description"), str):
            yield from (sentence.strip(" .\n").lower() for sentence in node["description"].split(". "))
        for item in node.values():
            yield from sentences(item)
    elif isinstance(node, list):
        for item in node:
            yield from sentences(item)


Change = Callable[[dict[str, Any]], None]


def changes(document: dict[str, Any]) -> Iterator[tuple[str, str, Change]]:
    """Yield, by name, every single change of a schema that a comparison must notice, and its object."""
    for name, definition in document["$defs"].items():
        yield f"{name} open", name, lambda found: found.update(additionalProperties=True)
        for field, details in definition["properties"].items():
            yield f"{name}.{field} removed", name, lambda found, field=field: found["properties"].pop(field)
            yield f"{name}.{field} required or not", name, lambda found, field=field: flip(found, field)
            for path in constraints(details, ()):
                yield (
                    f"{name}.{field} {path}",
                    name,
                    lambda found, field=field, path=path: drop(found["properties"][field], path),
                )


def flip(definition: dict[str, Any], field: str) -> None:
    """Make a field required, or no longer."""
    required = definition.setdefault("required", [])
    required.remove(field) if field in required else required.append(field)


def constraints(node: Any, path: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    """Yield the way to every keyword, alternative and value of a field's schema, words left out."""
    for key, value in node.items() if isinstance(node, dict) else enumerate(node):
        if key not in WORDS:
            yield (*path, key)
            if isinstance(value, (dict, list)):
                yield from constraints(value, (*path, key))


def drop(node: Any, path: tuple[str | int, ...]) -> None:
    """Delete what a path leads to."""
    for key in path[:-1]:
        node = node[key]
    del node[path[-1]]


@pytest.mark.parametrize("version", PUBLISHED)
def test_the_comparison_notices_every_single_change(version: SchemaVersion) -> None:
    """A field removed, made required or not, a type, value, bound, default or alternative dropped, an object opened."""
    document = schema(version)
    before = whole(document)
    unnoticed, tried = [], 0
    for name, definition, change in changes(document):
        changed = copy.deepcopy(document)
        change(changed["$defs"][definition])
        tried += 1
        if whole(changed) == before:
            unnoticed.append(name)
    assert unnoticed == []
    assert tried > 400


@pytest.mark.parametrize("version", PUBLISHED)
def test_the_comparison_ignores_words_and_order(version: SchemaVersion) -> None:
    """Titles, descriptions and the order of fields, values and alternatives are no part of the structure."""
    document = schema(version)
    changed = copy.deepcopy(document)
    for definition in changed["$defs"].values():
        definition["title"] = definition["description"] = "other"
        definition["properties"] = dict(reversed(definition["properties"].items()))
        definition.get("required", []).reverse()
        for field in definition["properties"].values():
            field["description"] = "other"
            field.get("enum", []).reverse()
            field.get("anyOf", []).reverse()
    assert changed != document
    assert whole(changed) == whole(document)
