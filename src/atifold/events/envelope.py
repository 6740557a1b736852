"""Hold one event: its full name, its payload and its envelope, to and from the wire's own form.

On the wire an event is `{"type", "payload", "meta"}`. Reading never costs an event: what a model cannot
hold is kept beside it, and writing gives back what was read, by the wire's names. This module imports
no payload model; one is loaded when the first event of its domain is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, NamedTuple, cast

from typing_extensions import TypeVar

from atifold.errors import AtifoldError
from atifold.events.registry import EVENTS, PREFIX, model_of, validate, validator_of
from atifold.kinds import is_list, is_object

if TYPE_CHECKING:
    from pydantic import ValidationError

    from atifold.events.payload import Payload

LATEST_NS: Final = 2**63 - 1
"""The last time that every backend can hold: in the year 2262."""

TIME_NS: Final = "atifold.timeNs"
"""Our own field of the envelope: nanoseconds since the epoch, where milliseconds are too coarse."""

_FIELDS: Final[Mapping[str, tuple[str, type]]] = {
    "wallClockMs": ("wall_clock_ms", int),
    "runOffsetMs": ("run_offset_ms", int),
    "runId": ("run_id", str),
    "runtimeStageId": ("runtime_stage_id", str),
    "subflowPath": ("subflow_path", list),
    "compositionPath": ("composition_path", list),
    "sessionId": ("session_id", str),
    "principal": ("principal", str),
    "tenant": ("tenant", str),
    "traceId": ("trace_id", str),
    "spanId": ("span_id", str),
    "turnIndex": ("turn_index", int),
    "iterIndex": ("iter_index", int),
    "correlationId": ("correlation_id", str),
}
"""Wire name to attribute and type."""

_NO_FIELD: Final[tuple[str, type]] = ("", Mapping)

_REQUIRED: Final = ("wallClockMs", "runOffsetMs", "runId", "runtimeStageId", "subflowPath", "compositionPath")


_Read = tuple["Payload | UnknownEvent", tuple[str, ...]]
"""A payload, and the wire names of what it lacks."""


class NotAnEventError(AtifoldError, ValueError):
    """Say that a value is no event at all: `found` instead of `wanted`."""

    def __init__(self, found: str) -> None:
        """Take what was found."""
        self.found = found
        self.wanted = 'wanted an object with a string "type"'
        super().__init__(f"{found}, {self.wanted}")


@dataclass(kw_only=True)
class Meta:
    """The envelope: when an event happened, in which run, and where in the run.

    `wall_clock_ms` is milliseconds since the epoch (0: unknown), `run_offset_ms` milliseconds since
    the run, or the resumed leg of it, began; `time_ns` is the time as finely as it is known. A time on
    the wire before the epoch or after the year 2262 (nanoseconds taken for milliseconds, say) is unknown,
    the figure itself kept in `extra`. `run_id`
    is empty where unknown. `subflow_path` is the nesting of subflows, `composition_path` the outermost
    runner's. Of the others None means: not given.
    `extra` holds what is no field, or has a value that the field cannot hold, by its wire name.
    `lacking` names promised fields that were not there.
    """

    wall_clock_ms: int = 0
    run_offset_ms: int | None = None
    run_id: str = ""
    runtime_stage_id: str = ""
    subflow_path: tuple[str, ...] = ()
    composition_path: tuple[str, ...] = ()
    session_id: str | None = None
    principal: str | None = None
    tenant: str | None = None
    trace_id: str | None = None
    span_id: str | None = None
    turn_index: int | None = None
    iter_index: int | None = None
    correlation_id: str | None = None
    extra: dict[str, Any] = field(default_factory=dict[str, Any])
    lacking: tuple[str, ...] = ()
    time_ns: int = 0

    def __post_init__(self) -> None:
        """Find `time_ns` where it was not given: the extension field, else the milliseconds."""
        if not self.time_ns:
            self._find_time()

    def _find_time(self) -> None:
        time_ns = self.extra.get(TIME_NS)
        if type(time_ns) is int and 0 <= time_ns <= LATEST_NS:
            self.time_ns = time_ns
        else:
            self.time_ns = self.wall_clock_ms * 1_000_000

    @property
    def is_dated(self) -> bool:
        """Tell whether the time can be one: what was refused on the wire, or given so in code, is none."""
        if self.time_ns == 0 and self.extra:
            return "wallClockMs" not in self.extra and TIME_NS not in self.extra
        return 0 <= self.time_ns <= LATEST_NS

    def at(self, time_ns: int, run_offset_ms: int, stage_id: str) -> Meta:
        """Return this envelope for an event of another time and stage.

        A copy by dict: a run makes one for each of its events, and the constructor costs twice that.
        """
        fields = self.__dict__.copy()
        fields["wall_clock_ms"] = time_ns // 1_000_000
        fields["run_offset_ms"] = run_offset_ms
        fields["runtime_stage_id"] = stage_id
        fields["time_ns"] = time_ns
        other = Meta.__new__(Meta)
        other.__dict__ = fields
        return other

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> Meta:
        """Read an envelope; a value that its field cannot hold goes to `extra` and leaves the default.

        A clock with a fraction of a millisecond is floored, the figure itself kept in `extra`.
        """
        meta = cls()
        extra = meta.extra
        for key, value in wire.items():
            name, wanted = _FIELDS.get(key, _NO_FIELD)
            if type(value) is not wanted:
                extra[key] = value
            elif wanted is not list:
                if key == "wallClockMs" and not 0 <= cast("int", value) <= _LATEST_MS:
                    extra[key] = value
                else:
                    setattr(meta, name, value)
            elif set(map(type, items := cast("list[str]", value))) <= _STRINGS:
                setattr(meta, name, tuple(items))
            else:
                extra[key] = value
        if extra:
            meta._floor_clocks()
        meta._find_time()
        if not wire.keys() >= _REQUIRED_SET:
            meta.lacking = tuple(key for key in _REQUIRED if key not in wire)
        return meta

    def _floor_clocks(self) -> None:
        for key in ("wallClockMs", "runOffsetMs"):
            value = self.extra.get(key)
            lowest, most = (0, _LATEST_MS) if key == "wallClockMs" else (-_NO_CLOCK, _NO_CLOCK)
            if type(value) is float and lowest <= value <= most:
                setattr(self, _FIELDS[key][0], int(value // 1))

    def to_wire(self) -> dict[str, Any]:
        """Return the envelope in the producer's form: promised fields, and of the others those given."""
        wire: dict[str, Any] = {}
        for key, (name, _) in _FIELDS.items():
            value = getattr(self, name)
            if value is not None and key not in self.lacking:
                wire[key] = list(cast("tuple[str, ...]", value)) if isinstance(value, tuple) else value
        wire.update(self.extra)
        told = "wallClockMs" not in self.lacking and self.time_ns != self.wall_clock_ms * 1_000_000
        if told or type(wire.get(TIME_NS)) is int:
            wire[TIME_NS] = self.time_ns
        return wire


_REQUIRED_SET: Final = frozenset(_REQUIRED)
_STRINGS: Final = frozenset({str})
_LATEST_MS: Final = LATEST_NS // 1_000_000
_NO_CLOCK: Final = 1e15  # milliseconds; beyond it lies no date, and NaN is not below it


@dataclass(slots=True)
class UnknownEvent:
    """A payload that was kept as it came. All of it is content.

    `reason` says why: the catalogue has no such event (`unknown`) or does not say what it holds
    (`untyped`), or its model cannot hold the value (`unreadable`); `problem` then says where, without
    the value.
    """

    raw: Any
    reason: Literal["unknown", "untyped", "unreadable"]
    problem: str = ""

    def get(self, wire_name: str, default: Any = None) -> Any:
        """Return a field by the name it has on the wire; `default` where it is not there."""
        return self.raw.get(wire_name, default) if is_object(self.raw) else default

    def to_wire(self) -> Any:
        """Return the payload as it came."""
        return self.raw


class Redacted(NamedTuple):
    """Which content leaves of a payload a redaction took out, and which it replaced: paths of `marks.leaves`."""

    withheld: tuple[str, ...]
    replaced: tuple[str, ...]


P = TypeVar("P", bound="Payload | UnknownEvent", default="Payload | UnknownEvent")


@dataclass(slots=True)
class Event(Generic[P]):
    """One event. `type` is its full name; `extra` are keys beside type, payload and meta.

    `lacking` names what the catalogue promises and the event has not, by wire names: `content` for a
    field of the payload (of its own, not of objects inside it), `meta.runId` for one of the envelope,
    `event.payload` and `event.meta` where all of it is missing. `redacted` is None where no redaction
    changed the payload.
    """

    type: str
    payload: P
    meta: Meta
    lacking: tuple[str, ...] = ()
    extra: dict[str, Any] | None = None
    redacted: Redacted | None = None

    @property
    def name(self) -> str:
        """Return the name without its first segment: `stream.llm_start`."""
        return self.type.removeprefix(PREFIX)

    @property
    def domain(self) -> str:
        """Return the domain: `stream`."""
        return self.name.partition(".")[0]

    def to_wire(self) -> dict[str, Any]:
        """Return the event in the producer's own form, equal to what it was read from."""
        wire = {"type": self.type, "payload": self.payload.to_wire(), "meta": self.meta.to_wire()}
        for part in ("payload", "meta"):
            if f"event.{part}" in self.lacking:
                del wire[part]
        if self.extra:
            wire.update(self.extra)
        return wire


def parse(obj: Any) -> Event:
    """Read an event from its wire form.

    Raises:
        NotAnEventError: `obj` is no object, or has no string `type`. Everything else is kept.
    """
    if not is_object(obj):
        kind = type(obj).__name__
        raise NotAnEventError(f"found {_JSON_NAMES.get(kind, kind)}")
    name = obj.get("type")
    if not isinstance(name, str):
        raise NotAnEventError('found no "type"' if name is None else 'found a "type" that is no string')
    extra = {key: value for key, value in obj.items() if key not in _ENVELOPE} if obj.keys() != _ENVELOPE else {}
    meta, odd = _meta(obj)
    extra.update(odd)
    payload, lacking = _payload(name, obj.get("payload"))
    if "payload" not in obj:
        lacking = ("event.payload",)
    if meta.lacking:
        lacking += ("event.meta",) if "meta" not in obj else tuple(f"meta.{key}" for key in meta.lacking)
    return Event(name, payload, meta, lacking, extra or None)


def build(name: str, payload: object, meta: Meta) -> Event:
    """Make an event of a full name, a payload (a model, or a mapping with wire or Python names) and an envelope.

    Never raises: what cannot be read as the payload is kept as an `UnknownEvent`.
    """
    read, lacking = _payload(name, payload)
    return Event(name, read, meta, lacking)


def builder(name: str) -> Callable[[Any, Meta], Event]:
    """Return `build` for one full name, with what can be looked up beforehand looked up."""
    model = model_of(name)
    if model is None:
        return lambda payload, meta: build(name, payload, meta)
    required = model.REQUIRED
    validate_payload = validator_of(name)

    def make(payload: Any, meta: Meta) -> Event:
        try:
            read = validate_payload(payload)
        except ValueError:
            return build(name, payload, meta)
        lacking = () if required <= read.__pydantic_fields_set__ else read.lacking()
        return Event(name, read, meta, lacking)

    return make


def _meta(wire: dict[str, Any]) -> tuple[Meta, dict[str, Any]]:
    """Return the envelope, and the value of `meta` under its name where it is no object."""
    found = wire.get("meta")
    if is_object(found):
        return Meta.from_wire(found), {}
    return Meta(lacking=_REQUIRED), {"meta": found} if "meta" in wire else {}


def _payload(name: str, payload: Any) -> _Read:
    """Return the payload as its model, or as it came, and the promised fields that it lacks."""
    try:
        read = validate(name, payload)
    except KeyError:
        return UnknownEvent(_plain(payload), "untyped" if name in EVENTS else "unknown"), ()
    except ValueError as error:  # pydantic's ValidationError, which is not imported here
        return _mended(name, payload, cast("ValidationError", error))
    return read, read.lacking()


def _mended(name: str, payload: Any, error: ValidationError) -> _Read:
    """Read a payload again whose only trouble is a whole number written as a float (42.0).

    JSON does not tell the two apart, and some serialisers write all numbers as floats.
    """
    problems = error.errors(include_input=False, include_url=False, include_context=False)
    whole = payload
    for item in problems:
        if item["type"] == "int_type":
            whole = _with_whole(whole, item["loc"])
    try:
        read = validate(name, whole)
    except ValueError:
        said = "; ".join(f"{_where(name, payload, item['loc'])}: {item['msg']}" for item in problems[:_MOST_PROBLEMS])
        return UnknownEvent(_plain(payload), "unreadable", said.removeprefix(": ")), ()
    return read, read.lacking()


def _where(name: str, payload: Any, path: tuple[int | str, ...]) -> str:
    """Return a place in a payload in words: keys that are no names of fields may say something, and are `*`."""
    from atifold.events.marks import marks  # noqa: PLC0415  it imports this module

    known = {part.removesuffix("[]") for leaf in marks(name) for part in leaf.split(".")}
    words: list[str] = []
    at = payload
    for key in path:
        words.append("*" if is_object(at) and key in at and key not in known else str(key))
        if (is_object(at) and key in at) or (is_list(at) and isinstance(key, int)):
            at = cast("Any", at)[key]
    return ".".join(words)


def _with_whole(value: Any, path: tuple[int | str, ...]) -> Any:
    """Return a copy of `value` in which the float at `path` is an integer, if it is whole."""
    if not path:
        return int(value) if type(value) is float and value.is_integer() else value
    key = path[0]
    if is_object(value) and key in value:
        return {**value, str(key): _with_whole(value[str(key)], path[1:])}
    if is_list(value):
        return [_with_whole(item, path[1:]) if index == key else item for index, item in enumerate(value)]
    return value


def _plain(payload: Any) -> Any:
    """Return a payload in wire form, a model (which a program may have given) included."""
    if is_object(payload):
        return payload
    if hasattr(payload, "to_wire"):
        return payload.to_wire()
    return dict(cast("Mapping[str, Any]", payload)) if isinstance(payload, Mapping) else payload


_MOST_PROBLEMS: Final = 3  # named of one payload; more say nothing new
_ENVELOPE: Final = frozenset({"type", "payload", "meta"})
_JSON_NAMES: Final[Mapping[str, str]] = {
    "list": "a list",
    "str": "a string",
    "int": "a number",
    "float": "a number",
    "bool": "a boolean",
    "NoneType": "null",
}
