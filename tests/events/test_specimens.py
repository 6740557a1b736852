"""Every event of the catalogue, with every field that it can have, is typed and comes back equal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel
from specimens import payloads

from atifold.events import EVENTS, Mark, UnknownEvent, leaves, marks, parse
from atifold.events.catalogue import UNTYPED

META = {
    "wallClockMs": 1, "runOffsetMs": 0, "runId": "r", "runtimeStageId": "s#0", "subflowPath": [], "compositionPath": [],
}  # fmt: skip
TYPED = sorted(set(EVENTS) - set(UNTYPED))


def _event(name: str, payload: Any) -> dict[str, Any]:
    return {"type": name, "payload": payload, "meta": META}


def _extras(value: Any) -> Iterator[str]:
    """Yield the fields in a payload that no model declares, at any depth."""
    if isinstance(value, BaseModel):
        yield from (value.model_extra or {})
        for name in type(value).model_fields:
            yield from _extras(getattr(value, name))
    elif isinstance(value, list):
        for item in value:
            yield from _extras(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _extras(item)


@pytest.mark.parametrize("name", TYPED)
def test_a_full_event_is_typed_and_comes_back_equal(name: str) -> None:
    """Every field given, every alternative of it: nothing lacks, nothing is extra, nothing changes."""
    seen = list(payloads(name))
    assert seen
    for payload in seen:
        event = parse(_event(name, payload))
        assert type(event.payload) is EVENTS[name], event.payload
        assert (event.lacking, list(_extras(event.payload))) == ((), [])
        assert event.to_wire() == _event(name, payload)


@pytest.mark.parametrize("name", TYPED)
def test_an_event_of_an_older_producer_is_typed_and_says_what_it_lacks(name: str) -> None:
    """Without any one promised field it is still the typed event, with None there."""
    payload, model = next(payloads(name)), EVENTS[name]
    assert model is not None
    for field in model.REQUIRED:
        wire = model.wire_name(field)
        event = parse(_event(name, {key: value for key, value in payload.items() if key != wire}))
        assert (type(event.payload), event.lacking) == (model, (wire,))
        assert getattr(event.payload, field) is None


@pytest.mark.parametrize("name", TYPED)
def test_an_event_of_a_newer_producer_is_typed_and_kept_whole(name: str) -> None:
    """A new field, and a new member in each enumeration, are read and written back."""
    for payload in payloads(name):
        newer = _renamed(payload) | {"somethingNew": [1, {"deep": None}]}
        event = parse(_event(name, newer))
        assert type(event.payload) is EVENTS[name], event.payload
        assert event.to_wire() == _event(name, newer)
        assert ("somethingNew[].deep", Mark.CONTENT, None) in list(leaves(event))


def _renamed(value: Any) -> Any:
    """Return a payload with another text wherever a text stands."""
    if isinstance(value, dict):
        return {key: _renamed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_renamed(item) for item in value]
    return value + "-2" if isinstance(value, str) else value


@pytest.mark.parametrize("name", TYPED)
def test_the_leaves_of_full_events_are_the_listed_ones(name: str) -> None:
    """Each leaf that is listed is found in one of them, and with the mark that is listed."""
    listed, found = dict(marks(name)), set()
    for payload in payloads(name):
        for path, mark, value in leaves(parse(_event(name, payload))):
            if value is None and any(known.startswith(f"{path}.") for known in listed):
                continue  # null in the place of an object
            known = _listed(path.replace(".some key", ".*"), listed)
            assert listed[known] is mark, path
            found.add(known)
    assert found == set(listed)


def _listed(path: str, listed: dict[str, Mark]) -> str:
    """Return the listed path that a leaf is at or below."""
    if path in listed:
        return path
    below = [known for known in listed if path.startswith((f"{known}.", f"{known}["))]
    assert below, path
    return max(below, key=len)


@pytest.mark.parametrize("name", sorted(UNTYPED))
def test_an_event_that_nobody_described_is_content_as_it_came(name: str) -> None:
    """Its payload is kept raw, and none of it is structure."""
    event = parse(_event(name, {"severity": "high", "detector": {"id": 1}}))
    assert isinstance(event.payload, UnknownEvent)
    assert event.payload.reason == "untyped"
    assert {mark for _, mark, _ in leaves(event)} == {Mark.CONTENT}
    assert event.to_wire()["payload"] == {"severity": "high", "detector": {"id": 1}}
