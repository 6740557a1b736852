"""Generate the JSON schemas of ATIF from the models: `python -m atifold.atif.schemas DIRECTORY`.

The models are those of the newest version. A schema of an older one lacks what `versions.SINCE` says
came later, so the table is put to the proof by the comparison with the published schemas.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import orjson
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core.core_schema import DictSchema, FloatSchema

from atifold.atif.models import Trajectory
from atifold.atif.versions import VERSIONS, SchemaVersion, newer_than
from atifold.kinds import is_list, is_object

PUBLISHED: Final[tuple[SchemaVersion, ...]] = ("ATIF-v1.7", "ATIF-v1.8")
"""The versions whose schemas are kept in the repository."""

_REF: Final = "#/$defs/"


class _Plain(GenerateJsonSchema):
    """Give the same schema under every pydantic 2, without the titles that only repeat a field's name."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 -- pydantic's signature
        return False

    def dict_schema(self, schema: DictSchema) -> dict[str, Any]:
        return {"additionalProperties": True, **super().dict_schema(schema)}  # unsaid before pydantic 2.11

    def float_schema(self, schema: FloatSchema) -> dict[str, Any]:
        found = super().float_schema(schema)
        # A bound of 0 became 0.0 in newer ones; JSON knows no difference, the file would.
        return {
            key: int(value) if isinstance(value, float) and value.is_integer() else value
            for key, value in found.items()
        }


def file_name(version: SchemaVersion) -> str:
    """Return the name of a version's schema file.

    >>> file_name("ATIF-v1.7")
    'trajectory-v1.7.schema.json'
    """
    return f"trajectory-{version.removeprefix('ATIF-')}.schema.json"


def schema(version: SchemaVersion) -> dict[str, Any]:
    """Return the JSON schema of one version, from 1.7 on.

    Older versions differ in ways that a schema of ours does not show (a required session_id).
    """
    generated = Trajectory.model_json_schema(schema_generator=_Plain)
    definitions: dict[str, Any] = generated["$defs"]
    _drop_newer(definitions, version)
    versions = definitions["Trajectory"]["properties"]["schema_version"]
    versions["enum"] = list(VERSIONS[: VERSIONS.index(version) + 1])
    versions["default"] = version
    return {
        "$schema": GenerateJsonSchema.schema_dialect,
        "title": f"An agent trajectory, {version}",
        "$ref": f"{_REF}Trajectory",
        "$defs": {name: definitions[name] for name in sorted(definitions)},
    }


def encode(version: SchemaVersion) -> bytes:
    """Return one version's schema as the bytes of its file."""
    return orjson.dumps(schema(version), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def main(arguments: Sequence[str]) -> int:
    """Write the published schemas into the one directory given; return the exit code."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m atifold.atif.schemas DIRECTORY\n")
        return 2
    directory = Path(arguments[0])
    directory.mkdir(parents=True, exist_ok=True)
    for version in PUBLISHED:
        (directory / file_name(version)).write_bytes(encode(version))
    return 0


def _drop_newer(definitions: dict[str, Any], version: SchemaVersion) -> None:
    """Take out values, then fields, then the objects that have no field left and the references to them."""
    for row in newer_than(version):
        properties = definitions[row.model]["properties"]
        if row.value is not None:
            properties[row.field]["enum"].remove(row.value)
        elif row.use is None:
            del properties[row.field]
    for name in [name for name, definition in definitions.items() if not definition["properties"]]:
        del definitions[name]
        _drop_references(definitions, {"$ref": _REF + name})


def _drop_references(node: Any, reference: dict[str, str]) -> None:
    if is_object(node):
        if reference in node.get("anyOf", ()):
            node["anyOf"].remove(reference)
        for item in node.values():
            _drop_references(item, reference)
    elif is_list(node):
        for item in node:
            _drop_references(item, reference)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
