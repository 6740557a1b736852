"""Find out what an input holds, and read it; a bad line, message or file costs nothing but itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

from atifold.errors import InputError
from atifold.jsonfiles import BOM, STDIN, documents
from atifold.jsontext import fault
from atifold.kinds import is_list, is_object, kind_name
from atifold.otlp import cloudwatch, jaeger, json, langfuse, langsmith, mlflow, phoenix
from atifold.otlp.batch import Batch
from atifold.otlp.frames import frames, is_framed
from atifold.otlp.place import Place
from atifold.packed import unpacked


class Format(NamedTuple):
    """A container in JSON: whose it is, what tells it, and what reads a value that it fits."""

    form: str
    fits: Callable[[Any], bool]
    decode: Callable[[Any, Place], None]


FORMATS: Final = (
    Format("an OTLP", json.is_otlp, json.decode),
    Format("a Jaeger", jaeger.is_jaeger, jaeger.decode),
    Format("a Phoenix", phoenix.is_phoenix, phoenix.decode),
    Format("an MLflow", mlflow.is_mlflow, mlflow.decode),
    Format("a Langfuse", langfuse.is_langfuse, langfuse.decode),
    Format("a LangSmith", langsmith.is_langsmith, langsmith.decode),
    Format("a CloudWatch", cloudwatch.is_cloudwatch, cloudwatch.decode),
)
_EXPORTS: Final = "or an export of Jaeger, Tempo, Phoenix, MLflow, Langfuse, LangSmith or CloudWatch"
WANTED: Final = f"wanted OTLP JSON (resourceSpans) {_EXPORTS}"

_PROTOBUF: Final = b"\x0a"
"""How a request begins: with field 1, which is a message."""

_ZIP: Final = b"PK\x03\x04"
_WHOLE: Final = f"wanted OTLP JSON (resourceSpans), whole or one request a line, OTLP protobuf, {_EXPORTS}"


def read(paths: Sequence[Path | str], *, stdin: BinaryIO | None = None) -> Batch:
    """Read files of spans and log records, one after another; `-` stands for `stdin`.

    Never raises for what a file is or holds: whatever cannot be read leaves one complaint each.
    """
    batch = Batch()
    for path in paths:
        if str(path) == "-":
            batch.extend(_parse_file(stdin.read() if stdin is not None else b"", STDIN))
            continue
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            why = error.strerror or type(error).__name__
            batch.complaints.append(InputError(path, f"cannot be read: {why}", "wanted a readable file"))
            continue
        batch.extend(_parse_file(data, str(path)))
    return batch


def _parse_file(data: bytes, where: str) -> Batch:
    """Read one file; unlike the body of a request, one without a word in it is a complaint."""
    batch = parse(data, where)
    if batch == Batch() and not unpacked(data, where)[0].removeprefix(BOM).strip():
        batch.complaints.append(InputError(where, "found an empty file", _WHOLE))
    return batch


def parse(data: bytes, where: str) -> Batch:
    """Read the spans and log records of one input; `where` names it in complaints. Empty input holds none."""
    data, complaint = unpacked(data, where)
    batch = Batch(complaints=[complaint] if complaint else [])
    data = data.removeprefix(BOM)
    if data.startswith(_ZIP):
        batch.complaints.append(InputError(where, "found a zip archive", _WHOLE))
    elif is_framed(data):
        batch.extend(_parse_frames(data, where))
    elif (found := _parse_protobuf(data, where)) is not None:
        batch.extend(found)
    elif data.strip():
        batch.extend(_parse_json(data, where))
    return batch


def _parse_frames(data: bytes, where: str) -> Batch:
    """Read messages each after its length; they may be compressed one by one."""
    batch = Batch()
    for number, message in enumerate(frames(data), 1):
        place = f"{where}, message {number}"
        if message is None:
            batch.complaints.append(InputError(place, "found a message that is cut", "wanted as many bytes as it says"))
        else:
            batch.extend(parse(message, place))
    return batch


def _parse_protobuf(data: bytes, where: str) -> Batch | None:
    """Read a request in protobuf, None where it is none; what reads it is loaded when the first one is met."""
    if not data.startswith(_PROTOBUF):
        return None
    from atifold.otlp import protobuf  # noqa: PLC0415

    return protobuf.decode(data, where)


def _parse_json(data: bytes, where: str) -> Batch:
    """Read one JSON document, or one a line."""
    batch = Batch()
    for found in documents(data, lambda value: bool(value) and is_object(value) and is_trace(value)):
        if found.error is None:
            _decode(found.value, Place(batch, where, found.line))
            continue
        whole = found.line is None
        why = f"found no JSON ({fault(found.error, lines=whole)})"
        batch.complaints.append(InputError(where, why, _WHOLE if whole else WANTED, line=found.line))
    return batch


def is_trace(value: Any) -> bool:
    """Tell whether a JSON value is one of the formats, or a list with at least one of them."""
    if format_of(value) is not None:
        return True
    return is_list(value) and any(format_of(item) is not None for item in value)


def format_of(value: Any) -> Format | None:
    """Return the format that a JSON value is of, None where it is of none or too deep to tell."""
    try:
        return next((format_ for format_ in FORMATS if format_.fits(value)), None)
    except RecursionError:
        return None


def _decode(value: Any, place: Place) -> None:
    found = format_of(value)
    if found is not None:
        found.decode(value, place._replace(form=found.form))
    elif is_list(value) and is_trace(value):
        for item in value:
            _decode(item, place)
    else:
        place.batch.complaints.append(InputError(place.where, _describe(value), WANTED, line=place.line))


def _describe(value: Any) -> str:
    if is_object(value):
        return "found a JSON object with " + (", ".join(sorted(map(str, value))[:5]))
    return f"found JSON that is {kind_name(value)}"
