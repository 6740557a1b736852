"""Make another event of one, with the content leaves of its payload replaced or taken out.

The walk is that of `marks.leaves`: the same leaves by the same paths. What does not change is kept as
the same object, and nothing of the event at hand is ever changed: others hold it too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final, cast

from atifold.events.envelope import Event, Redacted, UnknownEvent
from atifold.events.marks import MAX_DEPTH, Mark, Rule, items_of, mark_of_extension, rules
from atifold.kinds import is_list, is_object
from atifold.redaction import WITHHELD

if TYPE_CHECKING:
    from pydantic import BaseModel

    from atifold.events.payload import Payload

Ask = Callable[[str, Any], Any]
"""Return what stands in the place of a leaf, by its path and value; `WITHHELD` for nothing."""

Refuse = Callable[[Any], None]
"""Hear of a value that cannot stand where it was put; the field is then withheld."""

_STAND_INS: Final = {
    "agentfootprint.context.injected": ("rawContent", "contentSummary"),
    "agentfootprint.stream.tool_end": ("modelResult", "result"),
}
"""Event to a field and the one that would be used in its place: withheld with it."""


def rewritten(event: Event[Any], ask: Ask, refuse: Refuse) -> Event[Any]:
    """Return the event with every content leaf asked for once; the event itself where nothing changed.

    Null and empty lists and objects say nothing and are not asked for. A list element or a key of an
    object is taken out with its value, and what is empty then goes too. Where a field cannot hold
    what was put there (a text for a number), the whole field is taken out and `refuse` is told.
    """
    walk = _Walk(ask, refuse)
    payload = event.payload
    if isinstance(payload, UnknownEvent):
        raw = walk.unknown(payload.raw)
        changed: Any = payload if raw is payload.raw else UnknownEvent(raw, payload.reason)
    else:
        changed = walk.record(payload, type(payload), "", outermost=True)
        if event.type in _STAND_INS:
            changed = walk.without_stand_in(changed, *_STAND_INS[event.type])
    if changed is payload:
        return event
    return replace(event, payload=changed, redacted=Redacted(tuple(walk.withheld), tuple(walk.replaced)))


class _Walk:
    """One way through a payload; each step returns the value itself, another one, or `WITHHELD`."""

    def __init__(self, ask: Ask, refuse: Refuse) -> None:
        self._ask = ask
        self._refuse = refuse
        self._odd: Any = None  # the last replacement of another type than what it replaced
        self.withheld: dict[str, None] = {}
        self.replaced: dict[str, None] = {}

    def unknown(self, raw: Any) -> Any:
        """Go through a payload that no model describes."""
        if not is_object(raw):
            kept = self._open(raw, "", Mark.CONTENT)
            return None if kept is WITHHELD else kept
        kept = _rebuilt(raw, {k: self._open(v, k, mark_of_extension(k, v)) for k, v in raw.items()})
        return {} if kept is WITHHELD else kept

    def record(self, record: Any, model: type[BaseModel], prefix: str, *, outermost: bool = False) -> Any:
        """Go through a model's instance, or a dict in the wire form of that model."""
        known = rules(model)
        changes = {}
        for key, value in items_of(record):
            self._odd = None
            rule = known.get(key)
            found = self._field(record, rule, key, value, prefix + key)
            if self._odd is not None and rule is not None and not is_object(record):
                found = self._held(cast("BaseModel", record), key, found, prefix + key)
            if found is not value:
                changes[key] = found
        self._odd = None
        if not changes:
            return record
        if is_object(record):
            return _rebuilt(record, {**record, **changes})
        return _copied(cast("BaseModel", record), changes, outermost=outermost)

    def _field(self, record: Any, rule: Rule | None, key: str, value: Any, path: str) -> Any:
        if rule is None:
            return self._open(value, path, mark_of_extension(key, value))
        if rule.nested is not None:
            return self._nested(value, rule, path)
        surprise = is_object(record) and (is_object(value) or is_list(value))
        return self._open(value, path, Mark.CONTENT if surprise else rule.mark)

    def _held(self, record: BaseModel, key: str, found: Any, path: str) -> Any:
        """Return a field's new value if the model can hold it."""
        if found is WITHHELD:
            return found
        model = type(record)
        try:
            model.__pydantic_validator__.validate_assignment(record.model_copy(), _names(model)[key], found)
        except ValueError:
            self._refuse(self._odd)
            self.withheld[path] = None
            return WITHHELD
        return found

    def _nested(self, value: Any, rule: Rule, path: str, depth: int = 0) -> Any:
        nested = rule.nested
        if depth == MAX_DEPTH:
            return self._leaf(path, value)
        if nested is not None and isinstance(value, nested):
            return self.record(value, nested, path + ".")
        if is_list(value) and value:
            return _rebuilt(value, [self._nested(item, rule, path + "[]", depth + 1) for item in value])
        if nested is not None and is_object(value) and value:
            if not rule.suffix.startswith(".*"):
                return self.record(value, nested, path + ".")
            return _rebuilt(value, {k: self._nested(v, rule, f"{path}.{k}", depth + 1) for k, v in value.items()})
        return self._leaf(path, value) if rule.mark is Mark.CONTENT else value

    def _open(self, value: Any, path: str, mark: Mark, depth: int = 0) -> Any:
        if mark is Mark.STRUCTURE:
            return value
        if depth < MAX_DEPTH:
            if is_object(value) and value:
                return _rebuilt(value, {k: self._open(v, f"{path}.{k}", mark, depth + 1) for k, v in value.items()})
            if is_list(value) and value:
                return _rebuilt(value, [self._open(item, path + "[]", mark, depth + 1) for item in value])
        return self._leaf(path, value)

    def _leaf(self, path: str, value: Any) -> Any:
        if value is None or ((is_list(value) or is_object(value)) and not value):
            return value
        found = self._ask(path, value)
        if found is WITHHELD:
            self.withheld[path] = None
        elif found is not value:
            self.replaced[path] = None
            if type(found) is not type(value):
                self._odd = found
        return found

    def without_stand_in(self, payload: Payload, field: str, stand_in: str) -> Payload:
        """Take out what would be used in the place of a field that was withheld."""
        names = _names(type(payload))
        given = payload.model_fields_set
        taken = any(_top(path) == field for path in self.withheld) and names[field] not in given
        if not taken or names[stand_in] not in given:
            return payload
        self.withheld[stand_in] = None
        return cast("Payload", _copied(payload, {stand_in: WITHHELD}, outermost=True))


def _top(path: str) -> str:
    return path.partition(".")[0].partition("[")[0]


def _rebuilt(before: Any, after: Any) -> Any:
    """Return a list or object without what was withheld: the one before if it is equal in all places."""
    if is_object(before):
        if all(after[key] is value for key, value in before.items()):
            return before
        kept: Any = {key: value for key, value in after.items() if value is not WITHHELD}
    else:
        if all(new is old for new, old in zip(after, before, strict=True)):
            return before
        kept = [value for value in after if value is not WITHHELD]
        kept = tuple(kept) if isinstance(before, tuple) else kept
    return kept or WITHHELD


def _copied(record: BaseModel, changes: dict[str, Any], *, outermost: bool) -> Any:
    """Return a copy of a model's instance with other values; `WITHHELD` where nothing is left of a nested one."""
    copy = record.model_copy()
    names = _names(type(record))
    extra = copy.__pydantic_extra__ or {}
    for key, value in changes.items():
        name = names.get(key)
        if name is None:
            extra[key] = value
            if value is WITHHELD:
                del extra[key]
        elif value is WITHHELD:
            setattr(copy, name, None)
            copy.__pydantic_fields_set__.discard(name)
        else:
            setattr(copy, name, value)
    left = outermost or extra or copy.__pydantic_fields_set__
    return copy if left else WITHHELD


@cache
def _names(model: type[BaseModel]) -> dict[str, str]:
    """Return wire name to Python name for the fields of a model."""
    return {info.alias or name: name for name, info in model.model_fields.items()}
