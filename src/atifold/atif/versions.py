"""Hold what came into ATIF with which version, as data.

Source: the version history of RFC 0001 (Harbor), and for 1.8 the reference models. A row names the
field that is new; where the field itself is older, the row says which value or which use of it is.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, get_args

SchemaVersion = Literal[
    "ATIF-v1.0",
    "ATIF-v1.1",
    "ATIF-v1.2",
    "ATIF-v1.3",
    "ATIF-v1.4",
    "ATIF-v1.5",
    "ATIF-v1.6",
    "ATIF-v1.7",
    "ATIF-v1.8",
]
"""The values that `schema_version` can have."""

VERSIONS: Final[tuple[SchemaVersion, ...]] = get_args(SchemaVersion)
"""All versions, oldest first."""

WRITTEN: Final[SchemaVersion] = "ATIF-v1.7"
"""The version that atifold writes unless asked: the newest that other readers accept."""


class Since(NamedTuple):
    """Say with which version a field, one value of it, or one use of it came in.

    `value` is the one new member of an older enumeration, `use` the new way, in words, to fill an
    older field. Both None: the field itself is new.
    """

    version: SchemaVersion
    model: str
    field: str
    value: str | None = None
    use: Literal["on system steps", "a list of parts", "absent"] | None = None


SINCE: Final[tuple[Since, ...]] = (
    Since("ATIF-v1.1", "Trajectory", "extra"),
    Since("ATIF-v1.2", "Step", "observation", use="on system steps"),
    Since("ATIF-v1.3", "Metrics", "completion_token_ids"),
    Since("ATIF-v1.4", "Metrics", "prompt_token_ids"),
    Since("ATIF-v1.5", "Agent", "tool_definitions"),
    Since("ATIF-v1.5", "Step", "is_copied_context"),
    Since("ATIF-v1.6", "Step", "message", use="a list of parts"),
    Since("ATIF-v1.6", "ObservationResult", "content", use="a list of parts"),
    Since("ATIF-v1.6", "ContentPart", "type"),
    Since("ATIF-v1.6", "ContentPart", "text"),
    Since("ATIF-v1.6", "ContentPart", "source"),
    Since("ATIF-v1.6", "ImageSource", "media_type"),
    Since("ATIF-v1.6", "ImageSource", "path"),
    Since("ATIF-v1.7", "Trajectory", "session_id", use="absent"),
    Since("ATIF-v1.7", "Trajectory", "trajectory_id"),
    Since("ATIF-v1.7", "Trajectory", "subagent_trajectories"),
    Since("ATIF-v1.7", "Step", "llm_call_count"),
    Since("ATIF-v1.7", "ToolCall", "extra"),
    Since("ATIF-v1.7", "ObservationResult", "extra"),
    Since("ATIF-v1.7", "SubagentTrajectoryRef", "trajectory_id"),
    Since("ATIF-v1.8", "ContentPart", "type", value="audio"),
    Since("ATIF-v1.8", "AudioSource", "media_type"),
    Since("ATIF-v1.8", "AudioSource", "path"),
    Since("ATIF-v1.8", "AudioSource", "duration_sec"),
)
"""Everything newer than 1.0, oldest first."""


def newer_than(version: SchemaVersion) -> tuple[Since, ...]:
    """Return the rows of what a document of `version` cannot hold."""
    place = VERSIONS.index(version)
    return tuple(row for row in SINCE if VERSIONS.index(row.version) > place)
