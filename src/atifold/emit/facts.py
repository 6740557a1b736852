"""Turn an event's payload into attributes, structure apart from content.

A field becomes `agentfootprint.<domain>.<field>` in snake case; a nested object's fields follow
after dots; a list is a tuple where its elements are texts, else JSON text, which the log of events
reads again.
"""

from __future__ import annotations

from typing import Any, Final

from atifold import semconv
from atifold.emit.names import attribute_name
from atifold.emit.record import Facts, Moment
from atifold.emit.redaction import withheld_names
from atifold.events.envelope import Event
from atifold.events.marks import Leaf, Mark, leaves
from atifold.jsontext import scrub, to_json_text, words

INT64: Final = range(-(2**63), 2**63)


def held(value: Any) -> Any:
    """Return a value as every encoder holds it: a text as UTF-8 can, a whole number beyond 64 bits as text."""
    if type(value) is str:
        return scrub(value)
    return words(value) if type(value) is int and value not in INT64 else value


class JsonText(str):
    """The JSON text of a value that an attribute of a span cannot hold."""

    __slots__ = ()


def facts_of(event: Event[Any], without: frozenset[str] = frozenset()) -> Facts:
    """Return the payload's fields as attributes; `without` names fields (wire names) to leave out."""
    domain = event.type.rsplit(".", 1)[0]
    facts = Facts({}, {})
    lists: dict[str, list[Leaf]] = {}
    for leaf in leaves(event):
        path, mark, value = leaf
        top = path.split(".", 1)[0].removesuffix("[]")
        if top in without or path.startswith("atifold.") or value is None:
            continue
        if "[]" in path:
            lists.setdefault(path.split("[]", 1)[0], []).append(leaf)
        elif value not in ({}, []):
            target = facts.structure if mark is Mark.STRUCTURE else facts.content
            target[attribute_name(domain, path)] = held(value)
    for path, found in lists.items():
        target = facts.structure if all(mark is Mark.STRUCTURE for _, mark, _ in found) else facts.content
        target[attribute_name(domain, path)] = _listed(event, path, found)
    if event.redacted is not None and (names := withheld_names(event)):
        facts.content[semconv.WITHHELD] = names
    return facts


def moment_of(event: Event[Any]) -> Moment:
    """Return the event as a span event of its own name and time."""
    structure, content = facts_of(event)
    return Moment(event.type, event.meta.time_ns, structure, content)


def _listed(event: Event[Any], path: str, found: list[Leaf]) -> Any:
    if all(leaf_path == path + "[]" and isinstance(value, str) for leaf_path, _, value in found):
        return tuple(scrub(value) for _, _, value in found)
    return JsonText(to_json_text(_value_at(event, path.split("."))))


def _value_at(event: Event[Any], keys: list[str]) -> Any:
    wire = event.to_wire()["payload"]
    for key in keys:
        wire = wire.get(key) if isinstance(wire, dict) else None
    return wire


def read_field(event: Event[Any], name: str) -> Any:
    """Return a payload's field by its Python name, also of an event whose payload is untyped; None if absent."""
    value = getattr(event.payload, name, None)
    if value is None and hasattr(event.payload, "get"):
        head, *tail = name.split("_")
        return event.payload.get(head + "".join(map(str.capitalize, tail)))
    return value
