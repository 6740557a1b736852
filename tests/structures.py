"""Compare the structure of events: what a JSON schema demands, and what the catalogue's own types say.

Both are read into a `Structure`: fields with their optionality, kinds of values, members of enumerations.
Openness is left out: our enumerations take any text, since a newer producer may have more members.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

_TOKEN = re.compile(r"'(?:[^'\\]|\\.)*'|\.\.\.|[A-Za-z_]\w*|\d+|\S")
_IMPORT = re.compile(r"import\('[^']*'\)\.")
_MEMBER = re.compile(r"'((?:[^'\\]|\\.)*)'")


@dataclass(frozen=True)
class Structure:
    """What values may stand somewhere: kinds, members, and what lists, maps and objects hold."""

    kinds: frozenset[str] = frozenset()
    """Of `string`, `number`, `boolean`, `null`, `any`."""
    members: frozenset[str] = frozenset()
    items: Structure | None = None
    values: Structure | None = None
    fields: Mapping[str, tuple[bool, Structure]] | None = None
    """Name to whether it is always there, and its structure."""

    def __or__(self, other: Structure) -> Structure:
        """Return what may be one or the other; a field that only one of them has may lack."""
        members = self.members | other.members
        kinds = self.kinds | other.kinds
        if "any" in kinds:
            return ANY
        return Structure(
            kinds - {"string"} if members else kinds,
            members,
            _either(self.items, other.items),
            _either(self.values, other.values),
            _fields_of_either(self.fields, other.fields),
        )

    def __and__(self, other: Structure) -> Structure:
        """Return what is both: the fields of two objects; a text that is also something remains a text."""
        if self.fields is None or other.fields is None:
            return self if self.kinds else other
        return Structure(fields={**self.fields, **other.fields})


ANY = Structure(frozenset({"any"}))
NOTHING = Structure()
SCALARS = {
    "string": "string",
    "number": "number",
    "integer": "number",
    "boolean": "boolean",
    "true": "boolean",
    "null": "null",
}


def _either(first: Structure | None, second: Structure | None) -> Structure | None:
    return first | second if first is not None and second is not None else first or second


def _fields_of_either(first: Any, second: Any) -> dict[str, tuple[bool, Structure]] | None:
    if first is None or second is None:
        return first or second
    never = (False, NOTHING)
    return {
        name: (
            first.get(name, never)[0] and second.get(name, never)[0],
            first.get(name, never)[1] | second.get(name, never)[1],
        )
        for name in {**first, **second}
    }


def differences(found: Structure, wanted: Structure, path: str = "") -> Iterator[str]:
    """Yield what is not equal in two structures, each with its path."""
    for word in ("kinds", "members"):
        ours, theirs = getattr(found, word), getattr(wanted, word)
        if ours != theirs:
            yield f"{path}: {word} {sorted(ours)}, wanted {sorted(theirs)}"
    for word, suffix in (("items", "[]"), ("values", ".*")):
        yield from _differences_within(getattr(found, word), getattr(wanted, word), path + suffix)
    if (found.fields is None) != (wanted.fields is None):
        yield f"{path}: an object on one side alone"
    ours, theirs = found.fields or {}, wanted.fields or {}
    for name in sorted(ours.keys() ^ theirs.keys()):
        yield f"{path}.{name}: {'not wanted' if name in ours else 'missing'}"
    for name in sorted(ours.keys() & theirs.keys()):
        if ours[name][0] != theirs[name][0]:
            yield f"{path}.{name}: {'always' if ours[name][0] else 'not always'} there"
        yield from differences(ours[name][1], theirs[name][1], f"{path}.{name}")


def _differences_within(found: Structure | None, wanted: Structure | None, path: str) -> Iterator[str]:
    if found is not None and wanted is not None:
        yield from differences(found, wanted, path)
    elif found is not wanted:
        yield f"{path}: on one side alone"


# ---- of a JSON schema ----------------------------------------------------------------------------


def of_schema(node: Mapping[str, Any], definitions: Mapping[str, Any]) -> Structure:
    """Return the structure that a JSON schema describes; `definitions` are its `$defs`."""
    if "$ref" in node:
        return of_schema(definitions[node["$ref"].removeprefix("#/$defs/")], definitions)
    if "anyOf" in node:
        found = NOTHING
        for item in node["anyOf"]:
            found |= of_schema(item, definitions)
        return found
    if "enum" in node:
        return Structure(members=frozenset(node["enum"]))
    kind = node.get("type", "any")
    if kind == "array":
        return Structure(items=of_schema(node["items"], definitions))
    if kind == "object":
        return _object(node, definitions)
    return Structure(frozenset({SCALARS.get(kind, kind)}))


def _object(node: Mapping[str, Any], definitions: Mapping[str, Any]) -> Structure:
    if "properties" in node:
        required = node.get("required", ())
        return Structure(
            fields={name: (name in required, of_schema(item, definitions)) for name, item in node["properties"].items()}
        )
    values = node["additionalProperties"]
    return Structure(values=ANY if values is True else of_schema(values, definitions))


def of_document(schema: Mapping[str, Any]) -> Structure:
    """Return the structure of a whole schema document."""
    return of_schema(schema, schema.get("$defs", {}))


# ---- of the catalogue ----------------------------------------------------------------------------


@dataclass
class Catalogue:
    """The catalogue's facts: `events.json` and `types.json`, whose types are texts of TypeScript."""

    folder: Path
    known: dict[str, Structure] = field(default_factory=dict)

    @cached_property
    def events(self) -> dict[str, Any]:
        """Return full name to facts."""
        return dict(json.loads((self.folder / "events.json").read_text(encoding="utf-8")))

    @cached_property
    def types(self) -> dict[str, Any]:
        """Return the name of a helper type to its facts; the payloads of events are among them."""
        types: dict[str, Any] = json.loads((self.folder / "types.json").read_text(encoding="utf-8"))
        types["CoverageItem"] = types["CoverageItemPayload"]  # the same under the name of another file
        for name, event in self.events.items():
            types.setdefault(event["payload"], {"kind": "event", "event": name})
        return types

    def structure(self, name: str) -> Structure:
        """Return the structure of one event's payload."""
        return self._of_facts(self.events[name])

    def _of_facts(self, facts: Mapping[str, Any]) -> Structure:
        own = {
            key: (not item["optional"], self.read(item["type"])) for key, item in (facts.get("fields") or {}).items()
        }
        found = Structure(fields=own)
        for text in [*(facts.get("extends") or ()), *([facts["type"]] if facts.get("type") else ())]:
            found = self.read(text) & found
        return found

    def named(self, name: str) -> Structure:
        """Return the structure of a helper type. Nothing is known of one that was only guessed from prose."""
        if name not in self.known:
            self.known[name] = self._named(name)
        return self.known[name]

    def _named(self, name: str) -> Structure:
        facts = self.types.get(name)
        if facts is None:
            return ANY  # `unknown`, and `agg` of the time axis
        if facts["kind"] == "event":
            return self.structure(facts["event"])
        if facts["kind"] == "interface":
            return self._of_facts(facts) & self._later_fields(name)
        text = facts["type"]
        if constant := re.match(r"\(typeof (\w+)\)", text):
            return Structure(members=frozenset(_MEMBER.findall(self.types[constant[1]]["value"])))
        guessed = facts["kind"] == "inferred" and name != "ToolCallEventIdentity" and text != "string"
        return ANY if guessed else self.read(text)

    def _later_fields(self, name: str) -> Structure:
        """Return fields that a newer producer put into an interface."""
        later = {key.split(".")[1]: facts for key, facts in self.types.items() if key.startswith(f"{name}.")}
        return Structure(fields={key: (False, self.read(facts["type"])) for key, facts in later.items()})

    def read(self, text: str) -> Structure:
        """Return the structure of a TypeScript type."""
        return _Reader(self, _TOKEN.findall(_IMPORT.sub("", text))).union()


class _Reader:
    """Reads one type, token by token."""

    def __init__(self, catalogue: Catalogue, tokens: list[str]) -> None:
        self.catalogue = catalogue
        self.tokens = [*tokens, ""]

    def take(self, *wanted: str) -> str:
        """Take the next token, which must be one of `wanted` where any are named."""
        token = self.tokens.pop(0)
        assert token in wanted or not wanted, (token, wanted)
        return token

    def maybe(self, token: str) -> bool:
        """Take the next token if it is this one."""
        if self.tokens[0] == token:
            self.tokens.pop(0)
            return True
        return False

    def union(self) -> Structure:
        self.maybe("|")
        found = self.intersection()
        while self.maybe("|"):
            found |= self.intersection()
        return found

    def intersection(self) -> Structure:
        found = self.listed()
        while self.maybe("&"):
            found &= self.listed()
        return found

    def listed(self) -> Structure:
        self.maybe("readonly")
        found = self.single()
        while self.maybe("["):
            if self.maybe("]"):
                found = Structure(items=found)
            else:
                assert found.fields is not None
                found = found.fields[self.take().strip("'")][1]
                self.take("]")
        return found

    def single(self) -> Structure:
        token = self.take()
        if token.startswith("'"):
            return Structure(members=frozenset({token[1:-1]}))
        if token == "(":
            found = self.union()
            self.take(")")
            return found
        if token == "{":
            return self.object()
        return self.word(token)

    def word(self, token: str) -> Structure:
        if token == "undefined":
            return NOTHING
        kind = "number" if token.isdigit() else SCALARS.get(token)
        if kind is not None:
            return Structure(frozenset({kind}))
        return self.generic(token) if self.tokens[0] == "<" else self.catalogue.named(token)

    def object(self) -> Structure:
        fields: dict[str, tuple[bool, Structure]] = {}
        while not self.maybe("}"):
            name = self.take()
            optional = self.maybe("?")
            self.take(":")
            fields[name] = (not optional, self.union())
            while self.tokens[0] in {";", ","}:
                self.take()
        return Structure(fields=fields)

    def generic(self, name: str) -> Structure:
        self.take("<")
        arguments = [self.union()]
        while self.maybe(","):
            arguments.append(self.union())
        self.take(">")
        if name == "Record":
            return Structure(values=arguments[1])
        if name == "ReadonlyArray":
            return Structure(items=arguments[0])
        if name == "Partial" and arguments[0].fields is not None:
            return Structure(fields={key: (False, item) for key, (_, item) in arguments[0].fields.items()})
        assert name in {"Readonly", "Partial"}, name
        return arguments[0]
