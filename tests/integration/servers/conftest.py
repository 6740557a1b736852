"""Give tests the real servers, each started once, and skip where one was not built."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from backends.backend import Backend
from backends.collector import collector as start_collector
from backends.jaeger import jaeger as start_jaeger
from backends.mlflow import mlflow as start_mlflow
from backends.phoenix import phoenix as start_phoenix
from story import DEMO

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def collector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    """Return a Collector that writes files in each of its formats."""
    with start_collector(tmp_path_factory.mktemp("collector")) as backend:
        yield backend


@pytest.fixture(scope="session")
def jaeger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    """Return a Jaeger."""
    with start_jaeger(tmp_path_factory.mktemp("jaeger")) as backend:
        yield backend


@pytest.fixture(scope="session")
def phoenix(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    """Return a Phoenix."""
    with start_phoenix(tmp_path_factory.mktemp("phoenix")) as backend:
        yield backend


@pytest.fixture(scope="session")
def mlflow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    """Return an MLflow tracking server."""
    with start_mlflow(tmp_path_factory.mktemp("mlflow")) as backend:
        yield backend


@pytest.fixture(scope="session")
def recordings_told() -> list[Path]:
    """Return what is sent: the bundled recording, and those beside the repository where they are."""
    return [DEMO, *sorted((ROOT.parent / "shared" / "recordings").glob("*.jsonl"))]
