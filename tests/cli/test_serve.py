"""`atifold serve` before it serves: wrong usage, what is missing, and what is said."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest

from atifold.cli import serve


@pytest.mark.parametrize("missing", ["aiohttp", "grpc"])
def test_without_its_libraries_it_says_what_to_install(run: Any, monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    """One line, and nothing is imported that is not there."""
    monkeypatch.setattr(serve, "find_spec", lambda name: None if name == missing else object())
    result = run("serve")
    assert (result.exit_code, result.stderr) == (3, f"atifold: serve needs {missing}: pip install 'atifold[serve]'\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--tls-cert", "FILE"], "--tls-cert and --tls-key go together"),
        (["--tls-key", "FILE"], "--tls-cert and --tls-key go together"),
        (["--token-file", "FILE"], "found no token"),
        (["--token-file", "nowhere"], "does not exist"),
        (["--port", "65536"], "65536 is not in the range"),
        (["--grace", "-1"], "-1.0 is not in the range"),
        (["-o", ""], "a folder was wanted"),
        (["more"], "unexpected extra argument"),
    ],
)
def test_wrong_usage_is_exit_code_2(run: Any, tmp_path: Path, arguments: list[str], words: str) -> None:
    """Nothing listens."""
    (tmp_path / "empty").write_text("\n")
    result = run("serve", *[str(tmp_path / "empty") if word == "FILE" else word for word in arguments])
    assert result.exit_code == 2
    assert words in result.stderr


def test_a_folder_that_is_none_is_said_before_anything_comes(run: Any, tmp_path: Path) -> None:
    """Exit code 3: nothing could be written."""
    (tmp_path / "file").write_text("")
    result = run("serve", "-o", "file")
    assert (result.exit_code, result.stderr) == (
        3,
        f"atifold: file: cannot be written: {tmp_path}/file is not a folder\n",
    )


def test_a_port_that_is_taken_is_one_line(run: Any) -> None:
    """For both protocols."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = run("serve", "--port", port, "--no-grpc")
        assert result.exit_code == 3
        assert f"atifold: cannot listen on 127.0.0.1:{port}: address already in use" in result.stderr
        result = run("serve", "--port", 0, "--grpc-port", port)
        assert result.exit_code == 3
        assert f"atifold: cannot listen on 127.0.0.1:{port}: gRPC cannot be bound there" in result.stderr


def test_a_certificate_that_is_none_is_one_line(run: Any, tmp_path: Path) -> None:
    """Before anything listens."""
    (tmp_path / "cert.pem").write_text("no certificate")
    result = run("serve", "--port", 0, "--tls-cert", "cert.pem", "--tls-key", "cert.pem")
    assert result.exit_code == 3
    assert "atifold: cert.pem: cannot be used: " in result.stderr


def test_a_misspelt_variable_is_named(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of its options are known, by their own names."""
    for name, value in (("GRPCPORT", "1"), ("TLS_CERT", "nowhere"), ("NO_GRPC", "1")):
        monkeypatch.setenv(f"ATIFOLD_SERVE_{name}", value)
    result = run("serve")
    assert result.exit_code == 2
    assert "nowhere" in result.stderr
    monkeypatch.delenv("ATIFOLD_SERVE_TLS_CERT")
    monkeypatch.setenv("ATIFOLD_DIR", __file__)
    result = run("serve")
    assert result.exit_code == 3
    assert "atifold: ATIFOLD_SERVE_GRPCPORT: serve reads no such variable\n" in result.stderr
    assert "NO_GRPC" not in result.stderr


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("localhost", True), ("::1", True), ("0.0.0.0", False), ("example.org", False)],  # noqa: S104
)
def test_an_address_that_others_reach_is_told_from_loopback(host: str, loopback: bool) -> None:
    """Where it is not, a token is advised."""
    assert serve._is_loopback(host) is loopback
