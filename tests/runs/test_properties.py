"""What holds whatever is written: files, digests, statements and verdicts, by the rules written out anew."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from atifold.runs import dsse, ssh
from atifold.runs.branch import lines_of_both
from atifold.runs.canonical import canonical, digest
from atifold.runs.dsse import Key, RunnerKey
from atifold.runs.ecmascript import parse_json, time_ms
from atifold.runs.fields import RecordFields, read
from atifold.runs.lines import appended, end_line, parse, start_line, statement_line
from atifold.runs.models import Run
from atifold.runs.reading import totals
from atifold.runs.statement import attest, statement_of
from atifold.runs.view import fold, shown

SPACE = " \t\u00a0\u1680\u2003\u2028\u202f\u3000\ufeff\x0b\x0c"
"""White space of ECMAScript that is no line end of ours (U+2028 is allowed within a text)."""


def plain(text: str) -> str:
    """Return a text without ECMAScript's white space at its ends."""
    white = SPACE + "\n\r\u2029\u2000\u2001\u2002\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u205f"
    return text.strip(white)


CORES = st.text('aZ0é\x85\x1c\x01\x7f\u200b\ue000\U0001f34e\u2028"\\/ <', min_size=1, max_size=8).filter(plain)
TEXTS = st.builds("{}{}{}".format, st.text(SPACE, max_size=3), CORES, st.text(SPACE, max_size=3))
COUNTS = st.integers(0, 2**53 - 1)
AMOUNTS = st.one_of(
    st.floats(0, 1e300, allow_nan=False), st.integers(0, 10**30), st.sampled_from([0.1, 1e21, 1e-7, -0.0])
)
TIMES = st.builds(
    lambda month, day, clock, zone: f"2026-{month:02}-{day:02}T{clock}{zone}",
    st.integers(1, 12),
    st.integers(1, 31),
    st.sampled_from(["00:00", "10:11:12", "10:11:12.5", "23:59:59.9999", "24:00:00", "24:00"]),
    st.sampled_from(["", "Z", "z", "+02:00", "-0530", "+0000"]),
)
COSTS = st.fixed_dictionaries({"amount": AMOUNTS, "currency": st.sampled_from(["USD", "EUR"]), "source": TEXTS})
SHAS = st.text("0123456789abcdef", min_size=64, max_size=64)
PINS = st.fixed_dictionaries({"sha256": SHAS}, optional={"ref": TEXTS})
FOUR = dict.fromkeys(("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"), COUNTS)
MODELS = st.lists(
    st.fixed_dictionaries({"model": TEXTS}, optional={"provider": TEXTS, "cost": COSTS, **FOUR}), max_size=2
)
HARNESS = st.one_of(TEXTS, st.fixed_dictionaries({"name": TEXTS}, optional={"version": TEXTS}))
RUNS = st.fixed_dictionaries(
    {"id": st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True), "harness": HARNESS},
    optional={
        **dict.fromkeys(("by", "agent", "model", "provider", "lease", "outcome"), TEXTS),
        "unit": st.one_of(TEXTS, st.fixed_dictionaries({"id": TEXTS}, optional={"kind": TEXTS})),
        "records": st.lists(st.sampled_from(["work:W-1", " decision :D.2 ", "a-b:c_d"]), max_size=3),
        "usage": st.fixed_dictionaries({}, optional={"turns": COUNTS, **FOUR}),
        "models": MODELS,
        "cost": COSTS,
        "transcript": PINS,
        "instruction": PINS,
    },
)


def number(value: float) -> str:
    """Return a number as ECMA-262 writes it (Number::toString), from its shortest digits."""
    if value == 0:
        return "0"
    mantissa, _, exponent = (
        f"{repr(float(value)) if 'e' in repr(float(value)) else repr(float(value)) + 'e0'}".partition("e")
    )
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent) if whole != "0" else int(exponent) - (len(fraction) - len(fraction.lstrip("0")))
    digits = digits.rstrip("0")
    if len(digits) <= point <= 21:
        return digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    head = digits[0] + (f".{digits[1:]}" if len(digits) > 1 else "")
    return f"{head}e{'+' if point > 0 else '-'}{abs(point - 1)}"


def written(value: Any) -> str:
    """Return canonical JSON by its rules, with nothing of the package."""
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
        return "{" + ",".join(f"{json.dumps(key, ensure_ascii=False)}:{written(value[key])}" for key in keys) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(written, value)) + "]"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number(value)
    return json.dumps(value, ensure_ascii=False)


def lines(told: dict[str, Any], started: str, ended: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the two lines of a run, read as a command reads it."""
    fields = read(RecordFields, parse_json(json.dumps({**told, "startedAt": started, "endedAt": ended})))
    pins = [
        None if pin is None else {"sha256": pin.sha256, "bytes": None, "ref": pin.ref}
        for pin in (fields.instruction, fields.transcript)
    ]
    return start_line(fields, told["id"], started, pins[0]), end_line(fields, told["id"], ended, pins[1], [])


@given(RUNS, TIMES, TIMES)
def test_lines_and_digests_are_what_the_rules_give(told: dict[str, Any], started: str, ended: str) -> None:
    """Texts trimmed, missing values null, lists empty, times as given, numbers as ECMAScript has them."""
    harness = told["harness"] if isinstance(told["harness"], dict) else {"name": told["harness"]}
    unit = {"id": told["unit"]} if isinstance(told.get("unit"), str) else told.get("unit")
    cost = lambda value: value and {**value, "amount": value["amount"], "source": plain(value["source"])}  # noqa: E731
    text = lambda value: value if value is None else plain(value)  # noqa: E731
    pin = lambda value: value and {"bytes": None, "ref": text(value.get("ref")), "sha256": value["sha256"]}  # noqa: E731
    kinds = [record.split(":") for record in told.get("records", [])]
    start = {
        "version": 1,
        "event": "start",
        "run": told["id"],
        "at": started,
        **{name: text(told.get(name)) for name in ("by", "agent", "model", "provider", "lease")},
        "harness": {"name": plain(harness["name"]), "version": text(harness.get("version"))},
        "unit": unit and {"id": plain(unit["id"]), "kind": text(unit.get("kind"))},
        "records": [{"kind": kind.strip(), "id": name.strip()} for kind, name in kinds],
        "instruction": pin(told.get("instruction")),
    }
    usage = told.get("usage")
    end = {
        "version": 1,
        "event": "end",
        "run": told["id"],
        "at": ended,
        "outcome": text(told.get("outcome")),
        "usage": None if usage is None else {name: usage.get(name) for name in ("turns", *FOUR)},
        "models": [
            {
                "model": plain(model["model"]),
                "provider": text(model.get("provider")),
                **{name: model.get(name) for name in FOUR},
                "cost": cost(model.get("cost")),
            }
            for model in told.get("models", [])
        ],
        "cost": cost(told.get("cost")),
        "transcript": pin(told.get("transcript")),
        "commits": [],
    }
    made = lines(told, started, ended)
    assert appended(b"", list(made)).decode() == "\n".join(map(written, (start, end)))
    assert digest(list(made)) == hashlib.sha256(written([start, end]).encode()).hexdigest()


@given(RUNS, TIMES, st.lists(st.text('{}":1a\n\r \u2028\ufeff', max_size=12), max_size=3))
def test_files_are_read_back_whatever_stands_between(told: dict[str, Any], at: str, rubbish: list[str]) -> None:
    """Appending never changes what was there; lines that are none are counted."""
    made = lines(told, at, at)
    before = "\n".join(rubbish).encode()
    data = appended(before, list(made))
    assert data.startswith(before.removesuffix(b"\n"))
    found = parse(data, told["id"])
    assert [written(line) for line in found.events] == [written(line) for line in made]
    assert found.malformed == sum(bool(plain(part)) for text in rubbish for part in text.split("\n"))
    assert parse(data, f"{told['id']}x").events == ()


@given(RUNS, TIMES)
def test_a_run_is_shown_as_it_was_written(told: dict[str, Any], at: str) -> None:
    """A view loses nothing of its lines."""
    start, end = lines(told, at, at)
    run = fold(told["id"], "f", parse(appended(b"", [start, end]), told["id"]))
    assert run is not None
    for line, names in (
        (start, ("by", "agent", "harness", "model", "provider", "unit", "lease", "records", "instruction")),
        (end, ("outcome", "usage", "models", "cost", "transcript", "commits")),
    ):
        assert {name: written(run[name]) for name in names} == {name: written(line[name]) for name in names}
    wanted = {f"decision/{record['id']}" for record in start["records"] if record["kind"] == "decision"}
    assert run["decisions"] == sorted(wanted)


PRIVATE = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
KEY = Key(PRIVATE, ssh.public_line(PRIVATE.public_key().public_bytes_raw()))
RUNNERS = [RunnerKey("ci", "runner", KEY.public)]


@settings(max_examples=50)
@given(RUNS, TIMES, st.data())
def test_a_statement_verifies_until_anything_changes(told: dict[str, Any], at: str, data: st.DataObject) -> None:
    """One byte of the payload, the signature or the two lines: never signed again."""
    start, end = lines(told, at, at)
    run = fold(told["id"], "f", parse(appended(b"", [start, end]), told["id"]))
    assert run is not None
    statement = statement_of(run, "ci")
    payload = written(statement).encode()
    envelope = dsse.sign(canonical(statement), KEY)
    assert base64.b64decode(envelope["payload"]) == payload
    PRIVATE.public_key().verify(
        base64.b64decode(envelope["signatures"][0]["sig"]),
        b"DSSEv1 28 application/vnd.in-toto+json %d %b" % (len(payload), payload),
    )
    file = appended(b"", [start, end, statement_line(told["id"], at, envelope)])
    good = fold(told["id"], "f", parse(file, told["id"]))
    assert good is not None
    assert attest(good, RUNNERS)["status"] == "signed"
    assert attest(good, [])["status"] == "untrusted"
    place = data.draw(st.sampled_from(["payload", "sig", "start", "end"]))
    changed = json.loads(json.dumps([start, end, envelope]))
    if place in ("start", "end"):
        changed[place == "end"]["more"] = 1
    else:
        holder = changed[2] if place == "payload" else changed[2]["signatures"][0]
        raw = bytearray(base64.b64decode(holder[place]))
        raw[data.draw(st.integers(0, len(raw) - 1))] ^= 1 << data.draw(st.integers(0, 7))
        holder[place] = base64.b64encode(raw).decode()
    bad = fold(
        told["id"], "f", parse(appended(b"", [*changed[:2], statement_line(told["id"], at, changed[2])]), told["id"])
    )
    assert bad is not None
    assert attest(bad, RUNNERS)["status"] == ("mismatch" if place in ("start", "end") else "untrusted")


JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text() | COUNTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_canonical_json_is_read_back_and_stays(value: Any) -> None:
    """Equal values give equal bytes, lone surrogates included."""
    data = canonical(value)
    assert canonical(parse_json(data.decode())) == data
    assert canonical(json.loads(json.dumps(value))) == data


@given(JSON)
def test_any_json_on_a_line_is_an_event_or_malformed(value: Any) -> None:
    """Reading never raises, and neither does judging what was read."""
    start = {"version": 1, "event": "start", "run": "r", "at": "x", "harness": value, "records": value, "unit": value}
    end = {"version": 1, "event": "end", "run": "r", "at": "y", "usage": value, "models": [value], "commits": value}
    stored = {"version": 1, "event": "statement", "run": "r", "at": "z", "envelope": {"signatures": value}}
    found = parse(b"\n".join(map(canonical, (value, start, end, stored))), "r")
    run = fold("r", "f", found)
    assert run is not None
    attestation = attest(run, RUNNERS)
    assert attestation["status"] == "invalid"
    totals([run])
    Run.model_validate({**shown(run), "attestation": attestation}, strict=True)


@given(st.lists(st.sampled_from("abcdef")), st.lists(st.sampled_from("abcdef")))
def test_lines_of_two_sides_are_all_kept(theirs: list[str], ours: list[str]) -> None:
    """Theirs in their order, and none of either is lost."""
    joined = lines_of_both("\n".join(theirs).encode(), "\n".join(ours).encode()).decode().split()
    assert joined[: len(theirs)] == theirs
    assert set(joined) == {*theirs, *ours}


@given(st.lists(st.one_of(st.none(), st.floats(0, 1e6)), max_size=6))
def test_totals_are_rounded_after_each_addition(amounts: list[float | None]) -> None:
    """To the millionth; what is unknown adds nothing and is named."""
    runs = [
        {
            "id": str(number),
            "state": "ended",
            "usage": None,
            "cost": None if amount is None else {"amount": amount, "currency": "USD", "source": "s"},
        }
        for number, amount in enumerate(amounts)
    ]
    told = totals(runs)
    expected = 0.0
    for amount in amounts:
        scaled = (expected + (amount or 0)) * 1e6
        expected = (math.floor(scaled) + (scaled - math.floor(scaled) >= 0.5)) / 1e6 if amount is not None else expected
    assert told["cost"] == ([{"currency": "USD", "amount": expected}] if any(a is not None for a in amounts) else [])
    assert told["unpriced"] == [str(number) for number, amount in enumerate(amounts) if amount is None]


@given(TIMES)
def test_all_accepted_times_are_times(text: str) -> None:
    """In whatever form."""
    assert time_ms(text) is not None
