"""Write documents where they go: a folder with a file each, or JSON Lines."""

from __future__ import annotations

from atifold.sinks.directory import DirectorySink
from atifold.sinks.files import write_file
from atifold.sinks.json_lines import JsonLinesSink

__all__ = ["DirectorySink", "JsonLinesSink", "write_file"]
