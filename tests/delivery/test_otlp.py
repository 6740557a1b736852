"""The exporters of the name `atif_otlp`: which protocol they speak, and whose connection they use."""

from __future__ import annotations

import logging
import os
from typing import Any

import pytest
from opentelemetry.sdk._logs.export import LogRecordExporter
from opentelemetry.sdk.trace.export import SpanExporter

from atifold.delivery import OtlpLogRecordExporter, OtlpSpanExporter
from atifold.delivery.per_process import PerProcess

BOTH = (OtlpSpanExporter, OtlpLogRecordExporter)


def _within(exporter: Any) -> str:
    return str(type(exporter._inner.own()).__module__)


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize(
    ("protocol", "home", "limit"), [("grpc", "grpc", 3_500_000), ("http/protobuf", "http", 18_000_000)]
)
def test_the_environment_says_which_protocol(
    kind: Any, protocol: str, home: str, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And with it how large a request is."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
    exporter = kind()
    assert f".proto.{home}." in _within(exporter)
    assert exporter.max_bytes == limit
    exporter.shutdown()


@pytest.mark.parametrize(("kind", "signal"), [(OtlpSpanExporter, "TRACES"), (OtlpLogRecordExporter, "LOGS")])
def test_the_variable_of_the_signal_wins(kind: Any, signal: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Code wins over both."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
    monkeypatch.setenv(f"OTEL_EXPORTER_OTLP_{signal}_PROTOCOL", "grpc")
    assert kind().max_bytes == 3_500_000
    assert kind(protocol="http/protobuf").max_bytes == 18_000_000


def test_a_protocol_that_is_not_spoken_is_named(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """In the environment it costs a line, in code it is an error."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/xml")
    with caplog.at_level(logging.WARNING, "atifold"):
        assert OtlpSpanExporter().max_bytes == 18_000_000
    assert caplog.messages == [
        "OTEL_EXPORTER_OTLP_PROTOCOL: 'http/xml' was found, grpc or http/protobuf was wanted",
    ]
    with pytest.raises(ValueError, match="'udp' was found, grpc or http/protobuf was wanted"):
        OtlpSpanExporter(protocol="udp")


def test_options_reach_the_exporter_within() -> None:
    """As a declarative configuration gives them."""
    exporter: Any = OtlpSpanExporter(endpoint="http://127.0.0.1:9/v1/traces", max_bytes=1000)
    assert exporter._inner.own()._endpoint == "http://127.0.0.1:9/v1/traces"
    assert exporter.max_bytes == 1000
    exporter.shutdown()


def test_both_are_what_the_sdk_asks_for() -> None:
    """It refuses what is no subclass of its own."""
    assert issubclass(OtlpSpanExporter, SpanExporter)
    assert issubclass(OtlpLogRecordExporter, LogRecordExporter)


class Connection:
    """Something to hold."""

    def __init__(self) -> None:
        """Remember whose it is."""
        self.pid = os.getpid()
        self.shut = 0

    def shutdown(self) -> None:
        """Count."""
        self.shut += 1


def test_it_is_made_when_it_is_needed_and_ended_once() -> None:
    """An end before the first use makes nothing; who asks later gets one that was ended."""
    made: list[Connection] = []

    def make() -> Connection:
        made.append(Connection())
        return made[-1]

    held = PerProcess(make)
    held.shutdown()
    assert made == []
    assert held.own().shut == 1
    assert held.own() is made[0]
    assert held.force_flush()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_forked_child_has_its_own() -> None:
    """And leaves the parent's alone."""
    held = PerProcess(Connection)
    ours = held.own()
    child = os.fork()
    if child == 0:
        theirs = held.own()
        held.shutdown()
        os._exit(0 if (theirs is not ours, theirs.pid == os.getpid(), ours.shut) == (True, True, 0) else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert held.own() is ours
