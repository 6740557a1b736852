"""Say of every leaf of every event whether it is structure or content: the privacy policy, as data.

*Structure* is what may leave without anybody's leave: ids, counts, times, closed enumerations, names
that the program gave. *Content* is what a person, a model or a tool said, and whatever nobody marked:
unlisted fields, unknown fields, the whole payload of an `UnknownEvent`.

A leaf is a value that holds no further values. Its path is written with the wire's own names:
`usage.input`, `tools[].name` (any element of a list), `sourceBreakdown.*.chars` (any key of a map).
"""

from __future__ import annotations

from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast, get_args, get_origin

from atifold.events.envelope import Event, UnknownEvent
from atifold.events.registry import model_of
from atifold.kinds import is_list, is_object

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic import BaseModel
    from pydantic.fields import FieldInfo


class Mark(Enum):
    """The two sides of the privacy policy."""

    STRUCTURE = "structure"
    CONTENT = "content"


EXTENSION_PREFIX: Final = "atifold."
"""What the names of our own extension fields start with; they are legal on every event."""

MAX_DEPTH: Final = 64
"""How deep `leaves` goes into a body; a list or map that lies deeper is one leaf."""

EXTENSIONS: Final[Mapping[str, Mark]] = {
    "atifold.error": Mark.CONTENT,
    "atifold.messages": Mark.CONTENT,
    "atifold.toolCalls": Mark.CONTENT,
    "atifold.toolDefinitions": Mark.CONTENT,
    "atifold.agentVersion": Mark.STRUCTURE,
    "atifold.callerRun": Mark.STRUCTURE,
    "atifold.callerTool": Mark.STRUCTURE,
    "atifold.errorType": Mark.STRUCTURE,
    "atifold.inclusive": Mark.STRUCTURE,
    "atifold.last": Mark.STRUCTURE,
    "atifold.maxTokens": Mark.STRUCTURE,
    "atifold.reasoningEffort": Mark.STRUCTURE,
    "atifold.responseModel": Mark.STRUCTURE,
    "atifold.timeNs": Mark.STRUCTURE,
    "atifold.topP": Mark.STRUCTURE,
}
"""Extension field to its mark; one that is not listed is content, and so is a list or map in any of them."""

Leaf = tuple[str, Mark, Any]
"""A leaf's path, its mark and its value (a scalar, or a list or map that is empty or deeper than `MAX_DEPTH`)."""


class Shaped:
    """Name the shape of a field whose values are kept as they came, unvalidated.

    For a list that is large and only passed on: the wire's dicts stay dicts, and their leaves are
    still marked and described.
    """

    __slots__ = ("model",)

    def __init__(self, model: type[BaseModel]) -> None:
        """Take the model that describes one element of the list."""
        self.model = model


class Rule(NamedTuple):
    """What the policy knows of one field of a model."""

    mark: Mark
    nested: type[BaseModel] | None
    suffix: str
    """What the containers around the nested model, or around the leaves, add to the path."""
    bare: bool
    """Whether a text may stand where the nested model is."""


def marks(name: str) -> Mapping[str, Mark]:
    """Return path to mark for every leaf that the typed event `name` can have by its catalogue.

    Empty for an event without a model: all of it is content. A path of the result may be a body of
    any shape (`args`); what lies below it has its mark.
    """
    model = model_of(name)
    return {} if model is None else dict(_flatten(model, ""))


def leaves(event: Event) -> Iterator[Leaf]:
    """Yield every leaf of an event's payload: declared fields in the model's order, then the others.

    Keys of maps stand in the path as they are, elements of lists as `[]`. Fields that were not
    given yield nothing.
    """
    payload = event.payload
    if not isinstance(payload, UnknownEvent):
        yield from _record_leaves(payload, type(payload), "")
    elif is_object(payload.raw):
        for key, value in payload.raw.items():
            yield from _open_leaves(value, key, mark_of_extension(key, value))
    else:
        yield from _open_leaves(payload.raw, "", Mark.CONTENT)


def mark_of_extension(key: str, value: Any) -> Mark:
    """Return the mark of a field that no model declares."""
    return Mark.CONTENT if is_object(value) or is_list(value) else EXTENSIONS.get(key, Mark.CONTENT)


@cache
def rules(model: type[BaseModel]) -> Mapping[str, Rule]:
    """Return wire name to rule for the fields of one model.

    Raises:
        TypeError: a field of the model has no mark.
    """
    return {info.alias or name: _rule(model, name, info) for name, info in model.model_fields.items()}


def _rule(model: type[BaseModel], name: str, info: FieldInfo) -> Rule:
    mark = next((item for item in info.metadata if isinstance(item, Mark)), None)
    if mark is None:
        text = f"{model.__name__}.{name} has no mark"
        raise TypeError(text)
    shaped = next((item.model for item in info.metadata if isinstance(item, Shaped)), None)
    suffix, nested = _nested(info.annotation)
    if shaped is not None:
        return Rule(mark, shaped, "[]", bare=False)
    return Rule(mark, nested, suffix, bare=nested is not None and str in get_args(info.annotation))


def _nested(annotation: Any) -> tuple[str, type[BaseModel] | None]:
    """Return the path suffix of an annotation's containers and the model inside them, if any."""
    if hasattr(annotation, "model_fields"):
        return "", annotation
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is list:
        suffix, model = _nested(args[0])
        return "[]" + suffix, model
    if origin is dict:
        suffix, model = _nested(args[1])
        return ".*" + suffix, model
    found = [_nested(arg) for arg in args if arg is not type(None)]
    with_model = [pair for pair in found if pair[1] is not None]
    return (with_model or found or [("", None)])[0]


def _flatten(model: type[BaseModel], prefix: str) -> Iterator[tuple[str, Mark]]:
    for key, rule in rules(model).items():
        path = prefix + key + rule.suffix
        if rule.nested is None or rule.bare:
            yield path, rule.mark
        if rule.nested is not None:
            yield from _flatten(rule.nested, path + ".")


def _record_leaves(record: BaseModel | dict[str, Any], model: type[BaseModel], prefix: str) -> Iterator[Leaf]:
    """Yield the leaves of a model's instance, or of a dict in the wire form of that model."""
    known = rules(model)
    for key, value in items_of(record):
        rule = known.get(key)
        path = prefix + key
        if rule is None:
            yield from _open_leaves(value, path, mark_of_extension(key, value))
        elif rule.nested is not None:
            yield from _nested_leaves(value, rule, path)
        else:
            surprise = is_object(record) and (is_object(value) or is_list(value))
            yield from _open_leaves(value, path, Mark.CONTENT if surprise else rule.mark)


def _nested_leaves(value: Any, rule: Rule, path: str, depth: int = 0) -> Iterator[Leaf]:  # noqa: C901
    """Go through the lists and maps that hold a nested record, down to the record."""
    nested = rule.nested
    if depth == MAX_DEPTH:
        yield path, Mark.CONTENT, value
    elif nested is not None and isinstance(value, nested):
        yield from _record_leaves(value, nested, path + ".")
    elif is_list(value) and value:
        for item in value:
            yield from _nested_leaves(item, rule, path + "[]", depth + 1)
    elif is_object(value) and value:
        if nested is not None and rule.suffix.startswith(".*"):
            for key, item in value.items():
                yield from _nested_leaves(item, rule, f"{path}.{key}", depth + 1)
        elif nested is not None:
            yield from _record_leaves(value, nested, path + ".")
    else:
        yield path, rule.mark, value


def items_of(record: BaseModel | dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the wire names and values that were given to a model's instance, or those of a dict."""
    if is_object(record):
        yield from record.items()
        return
    model = cast("BaseModel", record)
    given = model.model_fields_set
    for name, info in type(model).model_fields.items():
        if name in given:
            yield info.alias or name, getattr(model, name)
    yield from (model.model_extra or {}).items()


def _open_leaves(value: Any, path: str, mark: Mark, depth: int = 0) -> Iterator[Leaf]:
    """Yield the leaves of a body of any shape, all with one mark."""
    if depth == MAX_DEPTH:
        yield path, mark, value
    elif is_object(value) and value:
        for key, item in value.items():
            yield from _open_leaves(item, f"{path}.{key}", mark, depth + 1)
    elif is_list(value) and value:
        for item in value:
            yield from _open_leaves(item, path + "[]", mark, depth + 1)
    else:
        yield path, mark, value
