"""The example that needs a web framework, in front of a backend of the tests' own."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from walkthrough import walk

from atifold import atif

pytestmark = pytest.mark.integration


def test_fastapi(collector: Any, tmp_path: Path) -> None:
    """A request is a run: its spans reach the backend, its document the folder."""
    for name in ("fastapi", "uvicorn", "opentelemetry.instrumentation"):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed; the extra `dev` has it")
    with walk("fastapi", tmp_path, given={"4318": collector.server.server_port}) as example:
        assert json.loads(example.all_of("Run")) == {"answer": "I looked it up: llamas"}
        document = json.loads(example.look(lambda text: text.startswith("{")))
    names = [name for name in collector.names if name.startswith(("chat", "execute_tool", "invoke_agent"))]
    assert names == ["chat gpt-4o", "chat gpt-4o", "execute_tool look_up", "invoke_agent assistant"]
    assert atif.check(document) == []
    assert document["steps"][0]["message"] == "llamas"
    assert document["steps"][-1]["message"] == "I looked it up: llamas"
