"""Settings: one table, the environment, and what wins."""

from __future__ import annotations

import logging
from dataclasses import fields
from pathlib import Path

import pytest

from atifold.settings import SETTINGS, Capture, Settings

CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"


def test_the_table_is_the_record() -> None:
    """Each field has its row: a variable of its own, a word of meaning, and a default that reads as itself."""
    assert [row.name for row in SETTINGS] == [field.name for field in fields(Settings)]
    assert {row.variable for row in SETTINGS} == {
        CAPTURE if row.name == "capture_content" else f"ATIFOLD_{row.name.upper()}" for row in SETTINGS
    }
    assert all(row.doc for row in SETTINGS)
    texts = {row.variable: row.default.value if row.name == "capture_content" else str(row.default) for row in SETTINGS}
    assert Settings.from_env({}) == Settings()
    assert Settings.from_env({name: text.replace(".0", "") for name, text in texts.items()}) == Settings()


def test_the_environment_fills_what_code_leaves_open() -> None:
    """A value given in code wins, None counts as not given."""
    env = {"ATIFOLD_DIR": "~/t", "ATIFOLD_GRACE_S": " 0.5 ", "ATIFOLD_GROUP": "Conversation", "ATIFOLD_MAX_BYTES": "7"}
    chosen = Settings.from_env(env, grace_s=3.0, dir=None, follow_sampler="yes")
    assert chosen.dir == Path("~/t").expanduser()
    assert chosen.grace_s == 3.0
    assert (chosen.group, chosen.max_bytes, chosen.follow_sampler) == ("conversation", 7, True)


def test_the_process_environment_is_read_when_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the time of the call."""
    monkeypatch.setenv("ATIFOLD_SESSION_ID", "hashed")
    assert Settings.from_env().session_id == "hashed"


@pytest.mark.parametrize(
    ("value", "capture"),
    [
        ("span_only", Capture.SPAN_ONLY),
        ("EVENT_ONLY", Capture.EVENT_ONLY),
        ("Span_And_Event", Capture.SPAN_AND_EVENT),
        ("NO_CONTENT", Capture.NO_CONTENT),
        ("true", Capture.SPAN_AND_EVENT),
        ("False", Capture.NO_CONTENT),
        ("0", Capture.NO_CONTENT),
        ("", Capture.NO_CONTENT),
    ],
)
def test_capture_takes_the_four_words_and_the_older_ones(
    value: str, capture: Capture, caplog: pytest.LogCaptureFixture
) -> None:
    """None of them is worth a warning."""
    with caplog.at_level(logging.WARNING, "atifold"):
        assert Settings.from_env({CAPTURE: value}).capture_content is capture
    assert not caplog.records


def test_capture_says_where_content_goes() -> None:
    """On spans or not."""
    assert [capture for capture in Capture if capture.on_spans] == [Capture.SPAN_ONLY, Capture.SPAN_AND_EVENT]


@pytest.mark.parametrize(
    ("variable", "value", "wanted"),
    [
        ("ATIFOLD_GRACE_S", "-1", "a number of seconds, 0 or more"),
        ("ATIFOLD_GRACE_S", "nan", "a number of seconds, 0 or more"),
        ("ATIFOLD_IDLE_S", "soon", "a number of seconds, 0 or more"),
        ("ATIFOLD_MAX_BYTES", "64MB", "a whole number above 0"),
        ("ATIFOLD_MAX_OPEN_SPANS", "0", "a whole number above 0"),
        ("ATIFOLD_GROUP", "session", "one of trace, conversation"),
        ("ATIFOLD_FOLLOW_SAMPLER", "maybe", "true or false"),
        (CAPTURE, "yes", "true, false or one of NO_CONTENT, SPAN_ONLY, EVENT_ONLY, SPAN_AND_EVENT"),
    ],
)
def test_a_bad_value_is_one_line_and_the_default(
    variable: str, value: str, wanted: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The line says where, what was found and what was wanted; nothing raises."""
    with caplog.at_level(logging.WARNING, "atifold"):
        assert Settings.from_env({variable: value}) == Settings()
    (line,) = [record.getMessage() for record in caplog.records]
    assert line.startswith(f"{variable}: {value!r} was found, {wanted} was wanted; ")


def test_a_setting_that_there_is_not_is_a_mistake_in_code() -> None:
    """Unlike the environment's, it is not passed over."""
    with pytest.raises(TypeError, match="no setting named grace"):
        Settings.from_env({}, grace=1)


@pytest.mark.parametrize(
    ("value", "capture"),
    [
        (True, Capture.SPAN_AND_EVENT),
        (False, Capture.NO_CONTENT),
        ("Event_Only", Capture.EVENT_ONLY),
        (Capture.SPAN_ONLY, Capture.SPAN_ONLY),
        (None, Capture.NO_CONTENT),
    ],
)
def test_code_says_capture_by_a_switch_or_by_name(value: object, capture: Capture) -> None:
    """In any case of letters; None is not given."""
    assert Settings.from_env({}, capture_content=value).capture_content is capture


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("capture_content", "all", "true, false or one of NO_CONTENT, SPAN_ONLY, EVENT_ONLY, SPAN_AND_EVENT"),
        ("capture_content", 2, "true, false or one of NO_CONTENT, SPAN_ONLY, EVENT_ONLY, SPAN_AND_EVENT"),
        ("grace_s", "soon", "a number of seconds, 0 or more"),
        ("grace_s", -1, "a number of seconds, 0 or more"),
        ("max_bytes", 0.5, "a whole number above 0"),
        ("group", "session", "one of trace, conversation"),
        ("follow_sampler", 2, "true or false"),
        ("dir", 7, "a path"),
    ],
)
def test_a_bad_value_in_code_is_a_mistake_there(name: str, value: object, wanted: str) -> None:
    """With the setting, what was found and what was wanted."""
    with pytest.raises(TypeError) as raised:
        Settings.from_env({}, **{name: value})
    assert str(raised.value) == f"{name}: {value!r} was found, {wanted} was wanted"


def test_code_may_give_numbers_and_paths_as_they_are() -> None:
    """A whole float is a whole number; a path is one as text too."""
    chosen = Settings.from_env({}, grace_s=1, max_bytes=64e6, dir=Path("x"), follow_sampler=True)
    assert (chosen.grace_s, chosen.max_bytes, chosen.dir, chosen.follow_sampler) == (1.0, 64_000_000, Path("x"), True)
    assert type(chosen.max_bytes) is int


def test_a_variable_that_there_is_not_is_one_line_with_the_nearest_one(caplog: pytest.LogCaptureFixture) -> None:
    """Said once in a process; variables of others are none of ours."""
    env = {"ATIFOLD_DIRECTORY": "x", "ATIFOLD_QQQ": "1", "OTEL_TRACES": "atif", "ATIFOLD_DIR": "x"}
    with caplog.at_level(logging.WARNING, "atifold"):
        assert Settings.from_env(env).dir == Path("x")
        Settings.from_env(env)
    assert sorted(record.getMessage() for record in caplog.records) == [
        "ATIFOLD_DIRECTORY: atifold reads no such variable; ATIFOLD_DIR was meant?",
        "ATIFOLD_QQQ: atifold reads no such variable",
    ]


def test_a_misspelt_setting_is_told_the_nearest_one() -> None:
    """As a variable is."""
    with pytest.raises(TypeError, match=r"no setting named graces; grace_s was meant\?"):
        Settings.from_env({}, graces=1)


def test_a_value_that_cannot_be_read_is_said_once_in_a_process(caplog: pytest.LogCaptureFixture) -> None:
    """A program may read its settings for each provider."""
    with caplog.at_level(logging.WARNING, "atifold"):
        for _ in range(3):
            assert Settings.from_env({"ATIFOLD_GRACE_S": "soonish"}).grace_s == Settings().grace_s
    assert len(caplog.records) == 1


@pytest.mark.parametrize("value", ["9" * 5000, 10**5000], ids=["text", "number"])
def test_a_number_too_long_for_python_is_one_line(value: object) -> None:
    """Of eighty characters and the words."""
    with pytest.raises(TypeError, match=r"^max_value: .{1,80} was found, a (whole|smaller) number.* was wanted$"):
        Settings.from_env({}, max_value=value)
