"""Documents that the tests of this part share: invented content, every feature of the version."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

DOCUMENTS = Path(__file__).parent / "documents"

ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, "", "x", "1", " 2 ", "1.0", "text", "agent", "image/png", "audio/MP3", "2026-W01-1"),
    *(0, 1, -1, 2, 1.0, 1.5, float("nan"), float("inf"), 10**30, [], {}, [1], ["x"], [None], [{}], {"x": 1}),
    *(
        "\ud800",
        [{"type": "text", "text": "t"}],
        [{"type": "audio", "source": {"media_type": "audio/wav", "path": "a"}}],
    ),
)
"""Values that stand where others are wanted; some of them are right there."""


@pytest.fixture
def full() -> dict[str, Any]:
    """Return a valid 1.7 document with every feature of that version."""
    return json.loads((DOCUMENTS / "full-1.7.json").read_text(encoding="utf-8"))


@pytest.fixture
def audio() -> dict[str, Any]:
    """Return a valid 1.8 document: the one of 1.7 with an audio part."""
    return json.loads((DOCUMENTS / "full-1.8.json").read_text(encoding="utf-8"))


@pytest.fixture
def small() -> dict[str, Any]:
    """Return the least that is valid, apart from the version that every document should name."""
    return {
        "schema_version": "ATIF-v1.7",
        "agent": {"name": "cook", "version": "1"},
        "steps": [{"step_id": 1, "source": "user", "message": "Soup?"}],
    }


@pytest.fixture
def mutants() -> Callable[[dict[str, Any]], Iterator[tuple[str, dict[str, Any]]]]:
    """Return what yields, with a name, each document that differs in one place from a given one."""
    return _mutants


def _mutants(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for steps in list(_places(document, ())):
        for index, odd in enumerate(ODD_VALUES):
            yield (
                f"{steps} = odd value {index}",
                _changed(document, steps, lambda owner, key, odd=odd: owner.__setitem__(key, odd)),
            )
        yield f"{steps} removed", _changed(document, steps, lambda owner, key: owner.__delitem__(key))
        yield f"{steps} beside an unknown field", _changed(document, steps, _add_beside)


def _add_beside(owner: Any, key: str | int) -> None:
    if isinstance(owner, dict):
        owner["unknown_field"] = 1
    else:
        owner.insert(int(key), "unknown item")


def _changed(
    document: dict[str, Any], steps: tuple[str | int, ...], change: Callable[[Any, Any], None]
) -> dict[str, Any]:
    mutant = copy.deepcopy(document)
    owner: Any = mutant
    for key in steps[:-1]:
        owner = owner[key]
    change(owner, steps[-1])
    return mutant


def _places(value: Any, steps: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    """Yield the way to each value in a document, as keys and indices."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*steps, key)
        yield from _places(item, (*steps, key))
