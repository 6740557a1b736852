"""Fixtures of the tests of events: the catalogue's own description of its payloads, for comparison."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

_NOISE = re.compile(r"import\('[^']*'\)\.|\((?:string|number) & (?:\{\}|Record<never, never>)\)")
_MEMBER = re.compile(r"'((?:[^'\\]|\\.)*)'")


def _plain(value: Any) -> Any:
    """Return the facts with the types' spelling made even, in all `type` texts."""
    if isinstance(value, dict):
        return {k: _even(v) if k == "type" and isinstance(v, str) else _plain(v) for k, v in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _even(text: str) -> str:
    text = text.replace("LLMMessage['notDispatched']", "NotDispatched")
    return _NOISE.sub(lambda m: "string" if "&" in m[0] else "", text)


class Facts:
    """The catalogue: events with their fields (TypeScript types, as JSON), and the types that the fields name."""

    def __init__(self, folder: Path) -> None:
        """Read `events.json` and `types.json`."""
        self.events: dict[str, Any] = _plain(json.loads((folder / "events.json").read_text(encoding="utf-8")))
        self.types: dict[str, Any] = _plain(json.loads((folder / "types.json").read_text(encoding="utf-8")))
        self.types["MemoryType"]["type"] = (
            "'episodic' | 'semantic' | 'narrative' | 'causal'"  # its members stand in prose
        )
        scalar = {"type": "string", "optional": False}
        call = {"type": "object", "optional": False, "fields": {"toolCallId": scalar, "toolName": scalar}}
        self.types["NotDispatched"] = {"kind": "interface", "fields": {"pausedCall": call}}

    def fields(self, event: dict[str, Any]) -> dict[str, Any]:
        """Return the fields of a payload, those of the types that it extends or is made of included."""
        fields = dict(event.get("fields") or {})
        for text in [*event.get("extends", []), event.get("type", "")]:
            for name in re.findall(r"[A-Z]\w+", text):
                fields.update(self.types.get(name, {}).get("fields") or {})
        if "Partial<ToolCallEventIdentity>" in event.get("extends", []):
            for name, kind in (("toolName", "string"), ("toolCallId", "string"), ("iteration", "number")):
                fields.setdefault(name, {"type": kind, "optional": True})
        inline = re.search(r"& \{ (\w+)\?: (\w+); \}$", event.get("type", ""))
        if inline:
            fields[inline[1]] = {"type": inline[2], "optional": True}
        return fields

    def expand(self, text: str, depth: int = 0) -> str:
        """Return a type with the names of enumerations replaced by their members."""
        if depth > 3:
            return text
        for name in set(re.findall(r"\b[A-Z]\w+\b", _MEMBER.sub("", text))):
            known = self.types.get(name)
            if known is not None and known["kind"] in {"type", "inferred"} and "{" not in known["type"]:
                text = re.sub(rf"\b{name}\b", lambda _, t=known["type"]: f"({self.expand(t, depth + 1)})", text)
        return text

    def members(self, text: str) -> set[str]:
        """Return the members of an enumeration type, empty for every other type."""
        flat = self.expand(text)
        return set() if "{" in flat else set(_MEMBER.findall(flat))

    def nested(self, field: dict[str, Any]) -> dict[str, Any] | None:
        """Return the fields of the object that a field holds (itself or in a list), None for other types."""
        if "fields" in field:
            return dict(field["fields"])
        names = [n for n in re.findall(r"[A-Z]\w+", field["type"]) if (self.types.get(n) or {}).get("fields")]
        return dict(self.types[names[0]]["fields"]) if len(names) == 1 and "{" not in field["type"] else None


@pytest.fixture(scope="session")
def facts(shared: Path) -> Facts:
    """Return the catalogue as the facts folder has it."""
    return Facts(shared / "reference")
