"""Find the model of an event by its name, loading a domain's module when it is first asked for.

This module imports no model, so that the names of all events cost nothing to know.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from atifold.events.catalogue import CATALOGUE, UNTYPED

if TYPE_CHECKING:
    from collections.abc import Callable

    from atifold.events.payload import Payload

PREFIX: Final = "agentfootprint."
"""What every full name starts with; the domain and the event follow, dot between."""

DOMAINS: Final[tuple[str, ...]] = tuple(CATALOGUE)
"""The domains of the catalogue, those that every run speaks of first."""

_PLACES: Final[dict[str, tuple[str, str]]] = {
    f"{PREFIX}{domain}.{event}": (domain, class_name)
    for domain, events in CATALOGUE.items()
    for event, class_name in events.items()
}
_MODELS: dict[str, type[Payload] | None] = {}
_VALIDATORS: dict[str, Callable[[Any], Payload]] = {}


class Events(Mapping[str, "type[Payload] | None"]):
    """Map each full name of the catalogue to its model, which is imported when it is looked up.

    A name that the catalogue does not describe (`UNTYPED`) is in the mapping with None; a name that is
    not in the catalogue raises KeyError.
    """

    def __getitem__(self, name: str) -> type[Payload] | None:
        """Return the model of `name`, importing its domain's module on the first look-up."""
        try:
            return _MODELS[name]
        except KeyError:
            return _MODELS.setdefault(name, _load(name))

    def __contains__(self, name: object) -> bool:
        """Say whether the catalogue has this name, importing nothing."""
        return name in _PLACES

    def __iter__(self) -> Iterator[str]:
        """Go through the full names in the catalogue's order."""
        return iter(_PLACES)

    def __len__(self) -> int:
        """Return how many events the catalogue has."""
        return len(_PLACES)


EVENTS: Final = Events()
"""The catalogue: full name (`agentfootprint.stream.llm_start`) to payload model."""


def _load(name: str) -> type[Payload] | None:
    domain, class_name = _PLACES[name]
    if name in UNTYPED:
        return None
    model: type[Payload] = getattr(import_module(f"atifold.events.{domain}"), class_name)
    return model


def full_name(name: str) -> str:
    """Return the full form of an event's name: `stream.llm_start` and its full form are the same event.

    >>> full_name("stream.llm_start")
    'agentfootprint.stream.llm_start'
    """
    return name if name.startswith(PREFIX) else PREFIX + name


def model_of(name: str) -> type[Payload] | None:
    """Return the payload model of a full name; None for unknown names and those that nobody described."""
    return EVENTS[name] if name in _PLACES else None


def validate(name: str, payload: Mapping[str, Any]) -> Payload:
    """Read a payload's mapping into the model of the full name `name`.

    Keys are the wire's names or the Python names; of both for one field the wire's counts.

    Raises:
        KeyError: the name has no model (see `model_of`).
        pydantic.ValidationError: a known field has a value of another type. Its text holds no input.
    """
    return validator_of(name)(payload)


def validator_of(name: str) -> Callable[[Any], Payload]:
    """Return what reads the payloads of one full name, as `validate` does.

    Raises:
        KeyError: the name has no model.
    """
    try:
        return _VALIDATORS[name]
    except KeyError:
        return _VALIDATORS.setdefault(name, _validator(name))


def _validator(name: str) -> Callable[[Any], Payload]:
    model = EVENTS[name]
    if model is None:
        raise KeyError(name)
    from atifold.events.reading import reader  # noqa: PLC0415  it loads pydantic

    return reader(model)
