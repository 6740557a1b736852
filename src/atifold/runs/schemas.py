"""Generate the JSON schemas of the ledger's documents from the models: `python -m atifold.runs.schemas DIRECTORY`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson
from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core.core_schema import FloatSchema, LiteralSchema, NullableSchema, UnionSchema

from atifold.kinds import is_list, is_object
from atifold.runs import documents, models


class Published(NamedTuple):
    """One schema: its file, its id, its title, and what the documents are."""

    file: str
    id: str
    title: str
    documents: Any


PUBLISHED: Final = (
    Published("runs-write.schema.json", documents.WRITE, "What writes to the run ledger print", models.RunsWrite),
    Published("run-statement.schema.json", documents.STATEMENT, "Statements and verdicts of runs", models.RunStatement),
    Published("runs.schema.json", documents.READ, "The runs of a ledger", models.Runs),
)


class _Plain(GenerateJsonSchema):
    """Write nulls, constants and alternatives in one way under every pydantic 2, without titles and defaults."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 -- pydantic's signature
        return False

    def nullable_schema(self, schema: NullableSchema) -> dict[str, Any]:
        inner = self.generate_inner(schema["schema"])
        if "const" in inner or "enum" in inner:
            values = inner.get("enum", [inner.get("const")])
            return {"enum": [*values, None]}
        if isinstance(inner.get("type"), str) and inner["type"] not in ("object", "array"):
            return {**inner, "type": [inner["type"], "null"]}
        return {"oneOf": [{"type": "null"}, inner]}

    def literal_schema(self, schema: LiteralSchema) -> dict[str, Any]:
        values = schema["expected"]
        return {"const": values[0]} if len(values) == 1 else {"enum": list(values)}

    def union_schema(self, schema: UnionSchema) -> dict[str, Any]:
        return {"oneOf": super().union_schema(schema)["anyOf"]}

    def default_schema(self, schema: Any) -> dict[str, Any]:
        return self.generate_inner(schema["schema"])

    def float_schema(self, schema: FloatSchema) -> dict[str, Any]:
        found = super().float_schema(schema)
        # A bound of 0 became 0.0 in newer ones; JSON knows no difference, the file would.
        return {key: int(value) if isinstance(value, float) else value for key, value in found.items()}


def schema(published: Published) -> dict[str, Any]:
    """Return one schema."""
    found = TypeAdapter(published.documents).json_schema(schema_generator=_Plain)
    definitions = found.pop("$defs")
    _drop_titles(definitions)
    head = {"$schema": GenerateJsonSchema.schema_dialect, "$id": published.id, "title": published.title}
    return {**head, **found, "$defs": {name: definitions[name] for name in sorted(definitions)}}


def _drop_titles(node: Any) -> None:
    if is_object(node):
        if isinstance(node.get("title"), str):
            del node["title"]
        for item in node.values():
            _drop_titles(item)
    elif is_list(node):
        for item in node:
            _drop_titles(item)


def encode(published: Published) -> bytes:
    """Return one schema as the bytes of its file."""
    return orjson.dumps(schema(published), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def main(arguments: Sequence[str]) -> int:
    """Write the schemas into the one directory given; return the exit code."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m atifold.runs.schemas DIRECTORY\n")
        return 2
    directory = Path(arguments[0])
    directory.mkdir(parents=True, exist_ok=True)
    for published in PUBLISHED:
        (directory / published.file).write_bytes(encode(published))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
