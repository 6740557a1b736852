"""What is accepted and what is refused: texts, counts, times, pins; and ECMAScript's way to read them."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ledgers import FIELDS, Repo

from atifold.runs.canonical import canonical
from atifold.runs.ecmascript import WHITE, iso, parse_json, time_ms, trim
from atifold.runs.fields import RecordFields, StartFields, read
from atifold.runs.refusal import RefusedError

SHA = "0123456789abcdef" * 4
ACCEPTED: list[dict[str, Any]] = [
    {"harness": "cook"},
    {"harness": {"name": " cook\u2028er\ufeff"}},
    {"by": "\u00a0ada\u0085"},
    {"unit": "U"},
    {"unit": {"id": "U", "kind": "work"}},
    {"usage": {"turns": 2**53 - 1, "inputTokens": 0}},
    {"usage": {}},
    {"models": []},
    {"models": [{"model": "m", "cost": {"amount": 0, "currency": "USD", "source": "s"}}]},
    {"cost": {"amount": 1e-300, "currency": "EUR", "source": "s"}},
    {"transcript": {"sha256": SHA}},
    {"instruction": {"sha256": SHA, "excerpt": "x" * 500}},
    {"instruction": {"sha256": SHA, "excerpt": "\U0001f34e" * 250}},
    {"records": ["work: W-1:x".replace(":x", ".x")]},
    {"records": []},
    {"id": "a" * 100},
    {"commits": []},
    {"startedAt": "2026-11-30T10:00Z", "endedAt": "2026-11-30T24:00:00"},
]
REFUSED: list[dict[str, Any]] = [
    {"harness": ""},
    {"harness": None},
    {"harness": 1},
    {"harness": {"name": "c", "colour": "red"}},
    {"harness": {"version": "1"}},
    {"colour": "red"},
    {"by": None},
    {"by": "\u2003\ufeff"},
    {"by": "a\nb"},
    {"by": "a\rb"},
    {"model": ["m"]},
    {"unit": {"kind": "work"}},
    {"unit": None},
    {"id": "a" * 101},
    {"id": "-a"},
    {"id": "a/b"},
    {"id": "a\n"},
    {"id": " a"},
    {"usage": {"turns": -1}},
    {"usage": {"turns": 2**53}},
    {"usage": {"turns": 1.5}},
    {"usage": {"turns": True}},
    {"usage": {"turns": "1"}},
    {"usage": {"turns": None}},
    {"usage": {"bytes": 1}},
    {"usage": []},
    {"models": [{"provider": "p"}]},
    {"models": {}},
    {"models": None},
    {"cost": {"amount": -0.1, "currency": "USD", "source": "s"}},
    {"cost": {"amount": True, "currency": "USD", "source": "s"}},
    {"cost": {"amount": "1", "currency": "USD", "source": "s"}},
    {"cost": {"amount": 1, "currency": "usd", "source": "s"}},
    {"cost": {"amount": 1, "currency": "USD\n", "source": "s"}},
    {"cost": {"amount": 1, "currency": "USD"}},
    {"transcript": {}},
    {"transcript": {"sha256": SHA, "path": "x"}},
    {"transcript": {"sha256": SHA.upper()}},
    {"transcript": {"sha256": SHA, "bytes": 1}},
    {"transcript": {"sha256": SHA, "excerpt": "x"}},
    {"instruction": {"sha256": SHA, "excerpt": "x" * 501}},
    {"instruction": {"sha256": SHA, "excerpt": "\U0001f34e" * 251}},
    {"instruction": {"sha256": SHA, "excerpt": " "}},
    {"records": ["work"]},
    {"records": [":W-1"]},
    {"records": ["Work:W-1"]},
    {"records": ["work:-W"]},
    {"records": [f"work:{'W' * 129}"]},
    {"records": [1]},
    {"commits": [1]},
    {"commits": [{"sha": "abcd"}]},
    {"commits": [{"sha": "abcd", "hunks": []}]},
    {"commits": [{"sha": "abcd", "hunks": [{"path": "a", "start": 0, "end": 1}]}]},
    {"commits": [{"sha": "abcd", "hunks": [{"path": "a", "start": 2, "end": 1}]}]},
    {"commits": [{"sha": "abcd", "hunks": [{"path": "/a", "start": 1, "end": 1}]}]},
    {"commits": [{"sha": "abcd", "hunks": [{"path": "a/../b", "start": 1, "end": 1}]}]},
    {"startedAt": "2026-11-30"},
    {"startedAt": "yesterday"},
    {"endedAt": 1},
    {"lease": {}},
    {"outcome": ""},
]


@pytest.mark.parametrize("more", ACCEPTED)
def test_it_is_accepted(more: dict[str, Any]) -> None:
    """As JSON that was read."""
    read(RecordFields, parse_json(json.dumps({**FIELDS, **more})))


@pytest.mark.parametrize("more", REFUSED)
def test_it_is_refused(more: dict[str, Any]) -> None:
    """By a line that names the field and repeats nothing that was given."""
    with pytest.raises(RefusedError) as raised:
        read(RecordFields, parse_json(json.dumps({**FIELDS, **more})))
    assert raised.value.code == "write-input-invalid"
    assert raised.value.message.startswith(next(iter(more)))


def test_all_that_is_wrong_is_said_at_once() -> None:
    """A start has none of an end's fields."""
    with pytest.raises(RefusedError) as raised:
        read(StartFields, {"outcome": "done", "by": None})
    told = {"harness: it was wanted", "by: null is no value: leave the key out", "outcome: no such field"}
    assert set(raised.value.message.split("; ")) == told


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("5.0", b"5"),
        ("5e0", b"5"),
        ("-0", b"0"),
        ("-0.0", b"0"),
        ("1e21", b"1e+21"),
        ("1e20", b"100000000000000000000"),
        ("9007199254740993", b"9007199254740992"),
        ("123456789012345678901234567890", b"1.2345678901234568e+29"),
        ("0.00069", b"0.00069"),
        ("1e-7", b"1e-7"),
        ("0.000001", b"0.000001"),
        ("5e-324", b"5e-324"),
        ("1.7976931348623157e308", b"1.7976931348623157e+308"),
        ("0.1e1", b"1"),
        ('"\\ud800x\\udc00"', b'"\\ud800x\\udc00"'),
        ('"\\ud83c\\udf4e"', '"\U0001f34e"'.encode()),
        ('"\\u2028\\u007f\\u0001\\/"', '"\u2028\u007f\\u0001/"'.encode()),
        ('{"\\ue000":1,"\\ud83c\\udf4e":2,"a":3}', '{"a":3,"\U0001f34e":2,"\ue000":1}'.encode()),
        ('{"\\ud800":1,"a":[{"\\udfff":"\\ud800"}]}', b'{"a":[{"\\udfff":"\\ud800"}],"\\ud800":1}'),
        ('{"a":1,"a":2}', b'{"a":2}'),
        (" [true , false,null]\n", b"[true,false,null]"),
    ],
)
def test_numbers_and_texts_are_written_as_ecmascript_does(text: str, shown: bytes) -> None:
    """Read and written again."""
    assert canonical(parse_json(text)) == shown


@pytest.mark.parametrize(
    "text", ["NaN", "Infinity", "-Infinity", "{'a':1}", "01", "1.", "\ufeff1", "[1,]", "\u00a01", ""]
)
def test_what_is_no_json_is_refused(text: str) -> None:
    """What Python alone would read, too."""
    with pytest.raises(ValueError, match=r".*"):
        parse_json(text)


def test_a_number_beyond_all_doubles_is_no_amount(repo: Repo) -> None:
    """1e400 can be read and never be written."""
    text = json.dumps({**FIELDS, "cost": {"amount": 1, "currency": "USD", "source": "s"}}).replace(
        '"amount": 1', '"amount": 1e400'
    )
    assert repo.runs("record", "--from", "-", stdin=text.encode()).error == "write-input-invalid"
    with pytest.raises(ValueError, match="not representable"):
        canonical(parse_json("1e400"))


def test_deep_json_is_refused(repo: Repo) -> None:
    """With a document, not a traceback."""
    assert repo.runs("record", "--from", "-", stdin=b"[" * 100_000).error == "write-input-invalid"
    parse_json("[" * 299 + "]" * 299)
    with pytest.raises(ValueError, match="nested too deeply"):
        parse_json("[" * 301 + "]" * 301)


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2026-11-30T10:48:04.872Z", "2026-11-30T10:48:04.872Z"),
        ("2026-11-30T10:48Z", "2026-11-30T10:48:00.000Z"),
        ("2026-11-30T10:48:04.9999999z", "2026-11-30T10:48:04.999Z"),
        ("2026-11-30T10:48:04+02:30", "2026-11-30T08:18:04.000Z"),
        ("2026-11-30T10:48:04-0230", "2026-11-30T13:18:04.000Z"),
        ("2026-02-31T00:00:00Z", "2026-03-03T00:00:00.000Z"),
        ("2026-12-31T24:00:00Z", "2027-01-01T00:00:00.000Z"),
        ("2000-02-29T00:00Z", "2000-02-29T00:00:00.000Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"),
        ("0000-02-29T00:00:00Z", "0000-02-29T00:00:00.000Z"),
        ("0000-01-01T00:00:00+05:30", "-000001-12-31T18:30:00.000Z"),
        ("9999-12-31T24:00:00Z", "+010000-01-01T00:00:00.000Z"),
    ],
)
def test_times_are_read(text: str, utc: str) -> None:
    """In every accepted form, to the millisecond."""
    ms = time_ms(text)
    assert ms is not None
    assert iso(ms) == utc


@pytest.mark.parametrize(
    "text",
    [
        *("2026-11-30T10:48:60Z", "2026-11-30T24:00:00.001Z", "2026-11-30T24:01Z", "2026-11-30T25:00Z"),
        *("2026-11-30T10:60Z", "2026-11-32T10:00Z", "2026-00-30T10:00Z", "2026-13-30T10:00Z", "2026-11-00T10:00Z"),
        *("2026-11-30T10:48:04+02", "2026-11-30T10:48:04+24:00", "2026-11-30T10:48:04+2360", "2026-11-30T10:48:04."),
        *("2026-11-30T10", "2026-11-30 10:48", "2026-11-30t10:48", "26-11-30T10:48", "2026-11-30T10:48:04,5Z", ""),
        *(" 2026-11-30T10:48Z", "2026-11-30T10:48Z ", "\uff12\uff10\uff12\uff16-11-30T10:48Z", "2026-11-30T10:48:04 Z"),
    ],
)
def test_other_times_are_none(text: str) -> None:
    """Second 60, hours without minutes, white space, other digits."""
    assert time_ms(text) is None


@given(st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30)))  # noqa: DTZ001 - local ones too
def test_times_are_those_of_the_calendar(at: datetime) -> None:
    """UTC, and local where no offset stands."""
    known = at.replace(microsecond=at.microsecond // 1000 * 1000)
    text = known.isoformat(timespec="milliseconds")
    epoch = datetime(1970, 1, 1, tzinfo=timezone.utc)
    assert time_ms(f"{text}Z") == (known.replace(tzinfo=timezone.utc) - epoch) // timedelta(milliseconds=1)
    assert iso(time_ms(f"{text}Z") or 0) == f"{text}Z"


NODE = shutil.which("node")
JS = """
const lines = JSON.parse(require("fs").readFileSync(0, "utf8"));
const canon = (v) => Array.isArray(v) ? "[" + v.map(canon).join(",") + "]"
  : v && typeof v === "object"
  ? "{" + Object.keys(v).sort().map((k) => JSON.stringify(k) + ":" + canon(v[k])).join(",") + "}"
  : typeof v === "number" ? String(v) : JSON.stringify(v);
console.log(JSON.stringify(lines.map(([kind, text]) => {
  if (kind === "time") { const n = Date.parse(text); return Number.isNaN(n) ? null : n; }
  if (kind === "trim") return text.trim();
  return canon(JSON.parse(text));
})));
"""


def javascript(asked: list[tuple[str, str]]) -> list[Any]:
    """Return what a real ECMAScript program makes of texts."""
    done = subprocess.run([str(NODE), "-e", JS], input=json.dumps(asked), capture_output=True, text=True, check=True)
    return list(json.loads(done.stdout))


@pytest.mark.skipif(NODE is None, reason="node is not on this machine")
def test_a_real_ecmascript_program_agrees() -> None:
    """On white space, numbers, texts and times with an offset, all of them at once."""
    white = [chr(code) for code in range(0x3100)] + ["\ufeff", "\u200b", "\ufffe"]
    numbers = [repr(m * 10.0**e) for e in range(-30, 30) for m in (1, 1.5, 1.0000000000000002, 9.999, 123456789)]
    numbers += ["9007199254740993", "1e21", "-0", "1e-7", "123456789012345678901", "5e-324", "0.1", "1E5"]
    times = [
        f"2026-{month}-{day}T{clock}{zone}"
        for month in ("02", "12")
        for day in ("28", "30", "31", "32")
        for clock in ("00:00", "24:00", "24:00:00", "23:59:59", "23:59:60", "12:30:15.1239", "24:00:00.1")
        for zone in ("Z", "z", "+02:00", "-0530", "+02", "+23:59", "+24:00", "+0060")
    ]
    asked = [*(("trim", f"{sign}x{sign}") for sign in white), *(("json", f'{{"b":{n},"a":[{n}]}}') for n in numbers)]
    asked += [("time", text) for text in times]
    told = javascript(asked)
    ours: list[Any] = []
    for kind, text in asked:
        value = {"trim": trim, "time": time_ms}.get(kind, lambda text: canonical(parse_json(text)).decode())(text)
        ours.append(value)
    assert [(a, t, o) for a, t, o in zip(asked, told, ours, strict=True) if t != o] == []


@pytest.mark.skipif(NODE is None or not hasattr(time, "tzset"), reason="node is not on this machine")
@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe"])
def test_local_times_are_those_of_ecmascript(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where clocks are put on, an hour is skipped, where they are put back, one comes twice."""
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        days = ("03-08", "03-29", "04-05", "10-04", "10-25", "11-01", "02-31")
        texts = [f"2026-{day}T{hour:02}:30:00.5" for day in days for hour in range(24)]
        assert [time_ms(text) for text in texts] == javascript([("time", text) for text in texts])
    finally:
        monkeypatch.undo()
        time.tzset()


def test_white_space_is_that_of_ecmascript() -> None:
    """Not Python's."""
    assert trim(f"{WHITE}\u0085x\x1c{WHITE}") == "\u0085x\x1c"


# ---- what the environment and the clock add --------------------------------------------------------


def test_the_session_of_the_environment_stands_in(repo: Repo) -> None:
    """For start and record alone, where the key is absent; empty counts as unset, white space is refused."""
    start = ["start", "--from", "-"]
    session = {"CHANT_AGENT": " s-1 "}
    assert repo.runs(*start, stdin={"id": "a", "harness": "c"}, env=session).document["run"]["agent"] == "s-1"
    own = {"id": "b", "harness": "c", "agent": "own"}
    assert repo.runs(*start, stdin=own, env=session).document["run"]["agent"] == "own"
    empty = {"CHANT_AGENT": ""}
    assert repo.runs(*start, stdin={"id": "c", "harness": "c"}, env=empty).document["run"]["agent"] is None
    blank = {"CHANT_AGENT": " "}
    assert repo.runs(*start, stdin={"id": "d", "harness": "c"}, env=blank).error == "write-input-invalid"
    assert repo.runs("end", "a", env=session).document["run"]["agent"] == "s-1"


def test_ids_and_times_have_defaults(repo: Repo) -> None:
    """An id of the start and eight hex digits; a record starts when it ends; empty input is an empty object."""
    given_end = {"harness": "c", "endedAt": "2026-02-31T10:00:00+02:00"}
    run = repo.runs("record", "--from", "-", stdin=given_end).document["run"]
    assert run["startedAt"] == run["endedAt"] == "2026-02-31T10:00:00+02:00"
    assert run["id"].startswith("20260303T080000Z-")
    assert len(run["id"]) == 25
    started = repo.runs("start", "--from", "-", stdin={"harness": "c"}).document["run"]
    assert started["state"] == "running"
    assert repo.runs("end", started["id"], "--from", "-", stdin=b" \n").document["run"]["outcome"] is None


@pytest.mark.parametrize(
    ("at", "begins"),
    [
        ("0000-01-01T00:00:00Z", "00000101T000000Z-"),
        ("0000-01-01T00:00:00+05:30", "0000011231T183000Z-"),
        ("9999-12-31T24:00:00Z", "0100000101T000000Z-"),
    ],
)
def test_years_that_no_clock_shows_have_ids_too(repo: Repo, at: str, begins: str) -> None:
    """A year beyond four digits is written with six and without its sign, which no id may begin with."""
    run = repo.runs("record", "--from", "-", stdin={"harness": "c", "endedAt": at}).document["run"]
    assert run["id"].startswith(begins)
    assert repo.runs("--json").document["runs"][0]["id"] == run["id"]


def test_files_are_hashed_where_they_are_named(repo: Repo) -> None:
    """Bytes and ref come with the hash; a hash that is given has neither."""
    (repo.folder / "told.txt").write_bytes(b"caf\xe9")
    run = repo.record(
        transcript={"path": " told.txt ", "ref": "s3://kept"},
        instruction={"path": "told.txt", "excerpt": " Do\nit "},
    )["run"]
    assert (run["transcript"]["bytes"], run["transcript"]["ref"]) == (4, "s3://kept")
    assert (run["instruction"]["ref"], run["instruction"]["excerpt"]) == ("told.txt", "Do\nit")
    other = repo.record(id="r-2", transcript={"sha256": SHA})["run"]
    assert other["transcript"] == {"sha256": SHA, "bytes": None, "ref": None}
