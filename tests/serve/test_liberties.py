"""What a request in JSON has that OTLP's JSON has not: counted where it is, and nowhere else."""

from __future__ import annotations

import json

import pytest

from atifold.serve.liberties import liberties, told
from atifold.serve.signals import TRACES, Form, read

HEX = {"traceId": "0123456789abcdef" * 2, "spanId": "0123456789abcdef"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (json.dumps(HEX), {}),
        ('{"traceId":"AAECAwQFBgcICQoLDA0ODw==","spanId" : "AAECAwQFBgc=","parentSpanId":""}', {"ids_in_base64": 2}),
        ('{"trace_id":"AAECAwQFBgcICQoLDA0ODw","parent_span_id":"AAECAwQFBgc"}', {"ids_in_base64": 2}),
        ('{"value":{"doubleValue":null}}, {"value":{"int_value": null}}', {"null_values": 2}),
        ('{"value":{"doubleValue":NaN}}, {"value":{"doubleValue": -Infinity}}', {"no_numbers": 2}),
        ('{"doubleValue":"NaN"}', {}),
        (json.dumps({"stringValue": '{"doubleValue":null,"traceId":"AAECAwQFBgcICQoLDA0ODw=="}'}), {}),
        (json.dumps({"stringValue": 'a\\"doubleValue":null'}), {}),
    ],
)
def test_a_liberty_is_counted_where_it_is_taken(text: str, found: dict[str, int]) -> None:
    """Each as often as it is there; what a text quotes is none."""
    assert liberties(text.encode()) == found
    assert bool(told(found)) is bool(found)


def test_it_is_told_beside_what_cannot_be_read() -> None:
    """A span with an id that is none, and one with ids in base64."""
    good = {"traceId": "AAECAwQFBgcICQoLDA0ODw==", "spanId": "AAECAwQFBgc=", "startTimeUnixNano": "1"}
    spans = [good, {**HEX, "traceId": "xyz"}]
    data = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode()
    found = read(data, Form.JSON, TRACES)
    assert (len(found.items), found.rejected, found.liberties) == (1, 1, {"ids_in_base64": 2})
    assert "cannot be read" in found.words
    assert found.words.endswith("; taken, though OTLP's JSON has none: ids in base64 (2)")
