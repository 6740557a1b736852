"""Generate the JSON schemas of the events from the models: `python -m atifold.events.schemas DIRECTORY`.

One schema an event, of its payload, and `index.json`: which events there are, where the schema of each
one is, and which of its leaves are content. A promised field stands under `required`; the members of an
enumeration stand beside `string`, since a newer producer may have more of them.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import orjson
from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core.core_schema import DictSchema, LiteralSchema, NullableSchema

from atifold.events.catalogue import CATALOGUE, UNTYPED
from atifold.events.marks import Mark, Shaped, marks
from atifold.events.payload import Nested
from atifold.events.registry import EVENTS, PREFIX, model_of
from atifold.kinds import is_list, is_object

INDEX: Final = "index.json"
"""The name of the file that lists the others."""

_REF: Final = "#/$defs/"
_NUMBER: Final = [{"type": "integer"}, {"type": "number"}]
_NAMED: Final = frozenset({"properties", "$defs"})
_UNSAID: Final = frozenset({"title", "default"})
_ORDER: Final = (
    "description",
    "type",
    "enum",
    "anyOf",
    "items",
    "properties",
    "required",
    "additionalProperties",
    "$defs",
)
_PROSE_BREAK: Final = re.compile(r"(?<!\n)\n(?!\n)")


class _Plain(GenerateJsonSchema):
    """Give the wire's side of a model, the same under every pydantic that is allowed.

    The models read null, and nothing at all, where the producer writes neither; a schema says what the
    producer writes.
    """

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 -- pydantic's signature
        return False

    def nullable_schema(self, schema: NullableSchema) -> dict[str, Any]:
        return self.generate_inner(schema["schema"])

    def literal_schema(self, schema: LiteralSchema) -> dict[str, Any]:
        return {"type": "string", "enum": schema["expected"]}

    def dict_schema(self, schema: DictSchema) -> dict[str, Any]:
        return {"additionalProperties": True, **super().dict_schema(schema)}


def file_name(name: str) -> str:
    """Return the name of an event's schema file.

    >>> file_name("agentfootprint.stream.llm_start")
    'stream.llm_start.schema.json'
    """
    return f"{name.removeprefix(PREFIX)}.schema.json"


def schema(name: str) -> dict[str, Any]:
    """Return the JSON schema of one event's payload; of an event without a model it takes any object.

    Raises:
        KeyError: `name` is no full name of the catalogue.
    """
    head = {"$schema": GenerateJsonSchema.schema_dialect, "title": name}
    model = EVENTS[name]
    if model is None:
        return {**head, "description": _sentence(UNTYPED[name]), "type": "object", "additionalProperties": True}
    body = _described(model)
    if definitions := body.pop("$defs"):
        body["$defs"] = dict(sorted(definitions.items()))
    return {**head, **body}


def index() -> dict[str, Any]:
    """Return the list of all events: full name to schema file, payload class and content leaves.

    Paths are those of `atifold.events.marks`; a leaf that is not listed is structure, one that no
    model declares is content. `untyped` is the reason where there is no model.
    """
    entries = {
        f"{PREFIX}{domain}.{event}": {"domain": domain, "payload": class_name}
        for domain, events in sorted(CATALOGUE.items())
        for event, class_name in events.items()
    }
    return {"events": {name: _entry(name, entry) for name, entry in entries.items()}}


def files() -> Iterator[tuple[str, bytes]]:
    """Yield name and bytes of each file, the index first."""
    yield INDEX, _encode(index())
    for name in EVENTS:
        yield file_name(name), _encode(schema(name))


def main(arguments: Sequence[str]) -> int:
    """Write all files into the one directory given; return the exit code."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m atifold.events.schemas DIRECTORY\n")
        return 2
    directory = Path(arguments[0])
    directory.mkdir(parents=True, exist_ok=True)
    for name, data in files():
        (directory / name).write_bytes(data)
    return 0


def _entry(name: str, entry: dict[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {**entry, "schema": file_name(name)}
    if model_of(name) is None:
        return {**found, "untyped": UNTYPED[name]}
    return {**found, "content": [path for path, mark in marks(name).items() if mark is Mark.CONTENT]}


def _encode(document: dict[str, Any]) -> bytes:
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


# ---- from a model to its schema ------------------------------------------------------------------


def _described(model: type[Nested]) -> dict[str, Any]:
    """Return a model's schema with what its source says of each field."""
    model.model_rebuild()
    found = model.model_json_schema(schema_generator=_Plain)
    definitions: dict[str, Any] = found.setdefault("$defs", {})
    _unravel(found, model, definitions)
    for nested in _nested_models(model):
        if nested.__name__ in definitions:
            _describe(definitions[nested.__name__], nested)
    _describe(found, model)
    cleaned: dict[str, Any] = _clean(found)
    return cleaned


def _unravel(found: dict[str, Any], model: type[Nested], definitions: dict[str, Any]) -> None:
    """Put the shape of a payload's unvalidated lists into its schema."""
    for name, info in model.model_fields.items():
        for shaped in (item for item in info.metadata if isinstance(item, Shaped)):
            body = shaped.model.model_json_schema(schema_generator=_Plain)
            definitions.update(body.pop("$defs", {}))
            definitions[shaped.model.__name__] = body
            items = {"$ref": _REF + shaped.model.__name__}
            found["properties"][model.wire_name(name)] = {"type": "array", "items": items}


def _nested_models(annotation: Any) -> Iterator[type[Nested]]:
    """Yield the models inside a model's fields, at any depth, those of unvalidated lists included."""
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        for info in annotation.model_fields.values():
            for part in (info.annotation, *(item.model for item in info.metadata if isinstance(item, Shaped))):
                yield from _with_nested(part)
    else:
        for argument in getattr(annotation, "__args__", ()):
            yield from _with_nested(argument)


def _with_nested(annotation: Any) -> Iterator[type[Nested]]:
    if inspect.isclass(annotation) and issubclass(annotation, Nested):
        yield annotation
    yield from _nested_models(annotation)


def _describe(found: dict[str, Any], model: type[Nested]) -> None:
    """Add what the source says; fields that it names get their wire names."""
    words = _field_words(model)
    for name in model.model_fields:
        if name in words:
            found["properties"][model.wire_name(name)]["description"] = _on_wire(words[name], model)
    found["description"] = _on_wire(found["description"], model)


def _on_wire(text: str, model: type[Nested]) -> str:
    for name in model.model_fields:
        text = text.replace(f"`{name}`", f"`{model.wire_name(name)}`")
    return _PROSE_BREAK.sub(" ", text)


@cache
def _field_words(model: type[BaseModel]) -> dict[str, str]:
    """Return what stands under each field in the source of a model and of those that it extends."""
    words: dict[str, str] = {}
    for parent in reversed([parent for parent in model.__mro__ if issubclass(parent, Nested)]):
        words.update(_words_of_class(inspect.getsource(parent)))
    return words


def _words_of_class(source: str) -> dict[str, str]:
    body = next(node.body for node in ast.parse(source).body if isinstance(node, ast.ClassDef))
    words: dict[str, str] = {}
    for field, after in pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            words[ast.unparse(field.target)] = inspect.cleandoc(str(after.value.value))
    return words


def _clean(node: Any, *, names: bool = False) -> Any:
    """Return a schema without titles and defaults, its words in one order and its numbers said once.

    `names`: the keys of this object are names of fields or of definitions.
    """
    if is_list(node):
        return [_clean(item) for item in node]
    if not is_object(node):
        return node
    if names:
        return {key: _clean(value) for key, value in node.items()}
    keywords = sorted(node.keys() - _UNSAID, key=_place)
    return _flat({keyword: _clean(node[keyword], names=keyword in _NAMED) for keyword in keywords})


def _place(keyword: str) -> tuple[int, str]:
    return (_ORDER.index(keyword) if keyword in _ORDER else 0, keyword)


def _flat(found: dict[str, Any]) -> dict[str, Any]:
    """Return a schema whose alternatives hold none of their own, integer and number being one number."""
    if "anyOf" not in found:
        return found
    kinds: list[Any] = []
    for item in found["anyOf"]:
        kinds += item["anyOf"] if item.keys() == {"anyOf"} else [item]
    if all(number in kinds for number in _NUMBER):
        kinds.remove(_NUMBER[0])
    if len(kinds) == 1:
        return {**{key: value for key, value in found.items() if key != "anyOf"}, **kinds[0]}
    return {**found, "anyOf": kinds}


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
