"""The table of what came in since which version."""

from __future__ import annotations

from typing import get_args

import pytest

from atifold import atif
from atifold.atif.versions import Since, newer_than


@pytest.mark.parametrize("row", atif.SINCE, ids=lambda row: f"{row.model}.{row.field}.{row.value or row.use}")
def test_every_row_names_a_real_field_and_value(row: Since) -> None:
    """The model exists, has the field, and the field can have the value."""
    field = getattr(atif, row.model).model_fields[row.field]
    assert row.value is None or row.value in get_args(field.annotation)
    assert row.value is None or row.use is None


def test_a_row_about_a_list_of_parts_stands_at_a_field_that_can_be_one() -> None:
    """Where the table says that a list of parts is newer than the field, the field takes both forms."""
    rows = [row for row in atif.SINCE if row.use == "a list of parts"]
    assert len(rows) == 2
    for row in rows:
        members = get_args(getattr(atif, row.model).model_fields[row.field].annotation)
        assert {str, list[atif.ContentPart]} <= set(members)


def test_no_field_is_required_that_came_later() -> None:
    """A field newer than the oldest version is required only on an object that is as new as the field."""
    for row in atif.SINCE:
        model = getattr(atif, row.model)
        if row.value is None and model.model_fields[row.field].is_required() and row.use is None:
            newer = {other.field for other in atif.SINCE if other.model == row.model}
            assert newer == set(model.model_fields)


def test_rows_stand_in_the_order_of_versions_and_once() -> None:
    """Oldest first, no row twice."""
    places = [atif.VERSIONS.index(row.version) for row in atif.SINCE]
    assert places == sorted(places)
    assert len(set(atif.SINCE)) == len(atif.SINCE)


def test_every_version_after_the_first_brought_something() -> None:
    """No version is missing in the table, and the first one has no rows."""
    assert {row.version for row in atif.SINCE} == set(atif.VERSIONS[1:])


def test_newer_than_gives_what_a_version_cannot_hold() -> None:
    """Nothing for the newest, audio alone for 1.7, everything for 1.0."""
    assert newer_than("ATIF-v1.8") == ()
    assert {row.value or row.model for row in newer_than("ATIF-v1.7")} == {"audio", "AudioSource"}
    assert newer_than("ATIF-v1.0") == atif.SINCE


def test_the_version_written_is_the_models_default() -> None:
    """A model without a version is what atifold writes: 1.7."""
    assert atif.Trajectory.model_fields["schema_version"].default == atif.WRITTEN == "ATIF-v1.7"
