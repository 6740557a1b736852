"""Reading and writing documents, and the spellings of a time."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from atifold import atif
from atifold.atif.timestamps import moment, spelled_out
from atifold.errors import InputError

# No clock: other work on the machine is no failure of ours. No memory: a test writes nothing into the tree.
QUIETLY = settings(deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**80), 2**80)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=15,
)


def shuffled(value: Any) -> Any:
    """Return a value with the fields of its objects in another order."""
    if isinstance(value, dict):
        return {key: shuffled(value[key]) for key in reversed(value)}
    return [shuffled(item) for item in value] if isinstance(value, list) else value


def test_a_document_is_written_for_people() -> None:
    """Two spaces of indent, keys as they were built, characters as they are, a newline last."""
    document = {"steps": [], "agent": {"version": "1", "name": "Möwe"}}
    expected = '{\n  "steps": [],\n  "agent": {\n    "version": "1",\n    "name": "Möwe"\n  }\n}\n'
    assert atif.dumps(document) == expected.encode()


def test_numbers_beyond_64_bits_are_written_in_the_same_layout() -> None:
    """The slow encoder is taken for them; nothing but the number shows it."""
    document = {"a": [1, {}, []], "b": {"ü": 2}, "n": 2**70}
    assert atif.dumps(document) == atif.dumps({**document, "n": 7}).replace(b"7", str(2**70).encode())


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, 10**5000], ids=range(4))
def test_a_number_that_json_cannot_hold_is_absent(number: float) -> None:
    """No NaN, no null in its place, and a word about it."""
    document = {"metrics": {"cost_usd": number, "prompt_tokens": 3}}
    assert json.loads(atif.dumps(document)) == {"metrics": {"prompt_tokens": 3}}
    assert json.loads(atif.canonical(document)) == {"metrics": {"prompt_tokens": 3}}
    (loss,) = atif.writable(document).losses
    assert (loss.path, loss.severity) == ("metrics.cost_usd", "warning")
    assert loss.message.endswith(", wanted a number that JSON can hold: left out")


def test_in_a_list_a_null_keeps_the_place_of_such_a_number() -> None:
    """Free data keeps its positions; log probabilities, which nulls would make invalid, go as a whole."""
    document = {"extra": {"row": [1.5, math.nan, 2]}, "logprobs": [-0.5, -math.inf], "other": 1}
    assert json.loads(atif.dumps(document)) == {"extra": {"row": [1.5, None, 2]}, "other": 1}
    assert [loss.path for loss in atif.writable(document).losses] == ["extra.row[1]", "logprobs[1]", "logprobs"]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a\ud800b", "a\ufffdb"),
        ("\udc00", "\ufffd"),
        ("\ud83d\ude00", "😀"),
        ("\ufeffé", "\ufeffé"),
        ("\ud800\ud83d\ude00", "\ufffd😀"),
    ],
    ids=ascii,
)
def test_lone_surrogates_become_replacement_characters(text: str, written: str) -> None:
    """In values and names, in both forms; two halves that belong together are joined."""
    for write in (atif.dumps, atif.canonical):
        assert json.loads(write({"message": text, text: 1})) == {"message": written, written: 1}
    assert len(atif.writable({"message": text}).losses) == (text != written)


def test_what_lies_too_deep_is_left_out_with_a_word() -> None:
    """Two hundred levels are written, more are not, and nothing breaks down over thousands."""
    deep: Any = "the bottom"
    for _ in range(150):
        deep = [deep]
    assert b"the bottom" in atif.dumps({"extra": deep})
    for _ in range(5000):
        deep = [deep]
    assert b"the bottom" not in atif.dumps({"extra": deep})
    (loss,) = atif.writable({"extra": deep}).losses
    assert "deeper than 200 levels" in loss.message


@pytest.mark.parametrize(
    ("value", "what"), [(b"x", "a Python bytes"), ({1, 2}, "a Python set"), (object(), "a Python object")]
)
def test_what_is_no_json_value_is_a_type_error(value: object, what: str) -> None:
    """A mistake of the program, not of an input: it names the place."""
    for write in (atif.dumps, atif.canonical):
        with pytest.raises(TypeError, match=rf"extra\.a\[0\]: found {what}, wanted a JSON value"):
            write({"extra": {"a": [value]}})
    with pytest.raises(TypeError, match="extra: found a field named 5, wanted names that are strings"):
        atif.dumps({"extra": {5: 1}})


def test_the_canonical_form_is_that_of_rfc_8785() -> None:
    """Sorted by UTF-16 code units, numbers as ECMAScript writes them, no blanks."""
    document = {"😀": 1, "\ufb33": 2, "€": 1e21, "b": 1.0, "a": [1e-7, -0.0, 333333333.33333329, 2**53 + 2]}
    expected = '{"a":[1e-7,0,333333333.3333333,9007199254740994],"b":1,"€":1e+21,"😀":1,"\ufb33":2}'
    assert atif.canonical(document).decode() == expected


@QUIETLY
@given(st.dictionaries(st.text(), JSON, max_size=5))
def test_what_is_written_is_read_back(document: dict[str, Any]) -> None:
    """Every JSON document goes through the bytes unchanged, keys in their order."""
    back = json.loads(atif.dumps(document))
    assert back == document
    assert list(back) == list(document)
    assert atif.writable(document).losses == ()


@QUIETLY
@given(st.dictionaries(st.text(), JSON, max_size=5))
def test_the_canonical_form_does_not_know_the_order_of_fields(document: dict[str, Any]) -> None:
    """The same values give the same bytes."""
    assert atif.canonical(document) == atif.canonical(shuffled(document))


def test_whole_numbers_beyond_53_bits_count_as_doubles_in_the_canonical_form() -> None:
    """As RFC 8785 has it; what is beyond every double stays, as text."""
    assert atif.canonical({"n": 2**63 + 1}) == b'{"n":9223372036854776000}'
    assert atif.canonical({"n": -(10**400)}) == b'{"n":"-1' + b"0" * 400 + b'"}'


def test_canonical_tells_different_documents_apart(full: dict[str, Any]) -> None:
    """The order of a list, and a null, are differences."""
    turned = {**full, "steps": full["steps"][::-1]}
    assert len({atif.canonical(full), atif.canonical(turned), atif.canonical({**full, "notes": None})}) == 3


def test_writing_leaves_the_document_alone(full: dict[str, Any]) -> None:
    """What is changed for JSON is changed in a copy."""
    full["extra"] = {"x": math.inf, "y": "\ud800"}
    atif.dumps(full)
    assert full["extra"] == {"x": math.inf, "y": "\ud800"}


def test_a_document_is_loaded_as_it_stands(tmp_path: Path, full: dict[str, Any]) -> None:
    """What was written comes back, in bytes too; also NaN, big numbers and halves of characters."""
    file = tmp_path / "document.json"
    file.write_bytes(atif.dumps(full))
    assert atif.load(str(file)) == full
    assert atif.dumps(atif.load(file)) == file.read_bytes()
    file.write_text('{"a": 123456789012345678901234567890, "b": "\\ud800", "c": NaN}', encoding="utf-8")
    loaded = atif.load(file)
    assert (loaded["a"], loaded["b"], math.isnan(loaded["c"])) == (123456789012345678901234567890, "\ud800", True)


BAD_FILES = (
    (b"", "FILE:1: found no JSON (Expecting value: column 1), wanted one JSON document in UTF-8"),
    (b'{"a":\n 1,}', "FILE:2: found no JSON ("),
    (b'{"a": 1} {}', "FILE:1: found no JSON (Extra data: column 10), wanted one JSON document in UTF-8"),
    (b'{\n"a": "\xff"}', "FILE:2: found bytes that are not UTF-8, wanted one JSON document in UTF-8"),
    (b"\xef\xbb\xbf{}", "FILE:1: found no JSON (Unexpected UTF-8 BOM"),
    (b"[" * 100_000, "FILE: found lists or objects nested too deeply, wanted one JSON document in UTF-8"),
    (
        b'{"a": ' + b"9" * 5000 + b"}",
        "FILE: found a whole number of too many digits, wanted one JSON document in UTF-8",
    ),
    (b"[]", "FILE: found a list of 0 items, wanted a JSON object"),
)


@pytest.mark.parametrize(("data", "message"), BAD_FILES, ids=range(len(BAD_FILES)))
def test_what_is_no_document_is_an_input_error_of_one_line(tmp_path: Path, data: bytes, message: str) -> None:
    """The place, what was found, what was wanted."""
    file = tmp_path / "document.json"
    file.write_bytes(data)
    with pytest.raises(InputError) as caught:
        atif.load(file)
    assert str(caught.value).replace(str(file), "FILE").startswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["", "gone.json", "a\0b"])
def test_what_is_no_file_is_an_input_error(tmp_path: Path, name: str) -> None:
    """A directory, a missing file, a name that no file can have."""
    with pytest.raises(InputError, match=r"cannot be read: .*, wanted a file with one ATIF document"):
        atif.load(tmp_path / name)


TIMES = (
    *("2026-03-01T20:00:00+00:00", "2026-03-01 20:00", "2026-03-01x20", "2026-03-01", "20260301T200000+0000"),
    *("2026-W09-7", "2026W097T20", "2026-W09", "2026-03-01T20:00:00.1234567+01:00", "2026-03-01T20:00:00,5-0130"),
    *("2026-03-01T20:00:00.123456789", "2026-03-01T20:00:00+01:30:15", "2024-02-29", "2026-03-01T200000.5"),
    *("2026-03-01T20:00:00+01:30:15.25", "2026-03-01T20+01", "2026-03-01T20:00:00.5-00:00"),
)
NO_TIMES = ("", "today", "2026-02-30", "2026-13-01", "2026-W54-1", "2026-W01-8", "2026-03-01T25:00", "2026-03-01T20:61")


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 reads one spelling only")
@pytest.mark.parametrize("text", TIMES)
def test_a_time_spelled_out_is_the_same_time(text: str) -> None:
    """What is spelled out for old Pythons means what newer ones read."""
    assert datetime.fromisoformat(spelled_out(text)) == datetime.fromisoformat(text)


@pytest.mark.parametrize("text", TIMES)
def test_every_spelling_is_read_on_every_python(text: str) -> None:
    """Python 3.10 reads what newer ones read."""
    assert moment(text).year in (2024, 2026)


@pytest.mark.parametrize("text", NO_TIMES)
@pytest.mark.parametrize("read", [moment, lambda text: datetime.fromisoformat(spelled_out(text))])
def test_what_is_no_time_is_a_value_error(text: str, read: Callable[[str], datetime]) -> None:
    """Spelled out or not."""
    with pytest.raises(ValueError, match=r"."):
        read(text)


def test_z_is_the_offset_zero() -> None:
    """A time with Z is one in UTC."""
    assert moment("2026-03-01T20:00:00Z") == datetime.fromisoformat("2026-03-01T20:00:00+00:00")
    assert moment("2026-03-01T20:00:00").tzinfo is None
