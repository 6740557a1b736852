"""The models: what they hold, and that they load late."""

from __future__ import annotations

import doctest
import subprocess
import sys
from types import ModuleType
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from atifold import atif
from atifold.atif import findings, schemas

MODELS = [
    name
    for name in atif.__all__
    if isinstance(getattr(atif, name), type) and issubclass(getattr(atif, name), BaseModel)
]
ALIASES = (
    ("audio/mp3", "audio/mpeg"),
    ("audio/X-WAV", "audio/wav"),
    (" audio/m4a ", "audio/mp4"),
    ("audio/ogg", "audio/ogg"),
)


def loaded_after(statements: str) -> set[str]:
    """Return the modules that a fresh Python has loaded after some statements."""
    words = [sys.executable, "-c", f"{statements}; import sys; print(*sys.modules)"]
    return set(subprocess.run(words, check=True, capture_output=True, text=True).stdout.split())


def test_there_are_twelve_objects() -> None:
    """The tests below look at all of them."""
    assert len(MODELS) == 12


@pytest.mark.parametrize("name", MODELS)
def test_every_object_forbids_unknown_fields(name: str) -> None:
    """An unknown field is refused; what is free goes into extra or arguments."""
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        getattr(atif, name).model_validate({"unknown_field": 1})


@pytest.mark.parametrize("name", MODELS)
def test_every_object_and_field_is_described(name: str) -> None:
    """The descriptions are the documentation of the schema."""
    model = getattr(atif, name)
    assert model.__doc__
    assert [field for field, details in model.model_fields.items() if not details.description] == []


def test_a_document_goes_through_the_models_unchanged(full: dict[str, Any], audio: dict[str, Any]) -> None:
    """What a valid document says, its model says: nothing is added, dropped or renamed."""
    for document in (full, audio):
        assert atif.Trajectory.model_validate(document).model_dump(exclude_unset=True) == document


@pytest.mark.parametrize(("alias", "name"), ALIASES)
def test_an_alias_of_an_audio_type_is_read_as_the_type(alias: str, name: str) -> None:
    """Producers copy what their provider said; a document holds one name for each format."""
    assert atif.AudioSource.model_validate({"media_type": alias, "path": "a"}).media_type == name


@pytest.mark.parametrize("media_type", ["audio/midi", "mp3", "", 3, None])
def test_no_other_audio_type_is_read(media_type: object) -> None:
    """A type that ATIF has no name for is refused."""
    with pytest.raises(ValidationError, match="media_type"):
        atif.AudioSource.model_validate({"media_type": media_type, "path": "a"})


def test_importing_the_part_loads_no_pydantic() -> None:
    """Whoever only writes documents does not pay for the models."""
    assert "pydantic" not in loaded_after("from atifold import atif; atif.dumps({}); atif.canonical({}); atif.SINCE")
    assert "pydantic" in loaded_after("from atifold import atif; atif.Step")
    assert "pydantic" in loaded_after("from atifold.atif import check")


def test_the_public_names_are_those_of_all() -> None:
    """Each name of `__all__` loads, `dir` shows them, and no other name is made up."""
    assert all(getattr(atif, name) is not None for name in atif.__all__)
    assert dir(atif) == sorted(atif.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Trajektory'"):
        atif.Trajektory  # noqa: B018 -- the access is the test


@pytest.mark.parametrize("module", [findings, schemas])
def test_the_examples_in_docstrings_hold(module: ModuleType) -> None:
    """What a docstring shows is what happens."""
    outcome = doctest.testmod(module)
    assert outcome.attempted > 0
    assert outcome.failed == 0
