"""Hold the rules between the fields of a document, each a row of one table.

Source: what the reference models and validator (Harbor) enforce beyond the JSON schema. A rule looks
at one object and yields a `Fault` for each breach: the place, seen from that object, and the words.
It meets objects of any shape and is silent about what the shape check finds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import TypeAdapter, ValidationError

from atifold.atif.findings import Severity, shown
from atifold.atif.models import audio_type
from atifold.atif.timestamps import moment
from atifold.atif.walk import Scope, Visit, objects, results
from atifold.kinds import field, is_list

AGENT_ONLY: Final = ("model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics")
"""Fields that say something about an inference, so no other source has them."""

NO_INFERENCE: Final = ("metrics", "reasoning_content")
"""Fields that a step without an inference (`llm_call_count` 0) cannot have."""

_LISTED_IDS: Final = 5
_WHOLE: Final = TypeAdapter(int)


class Fault(NamedTuple):
    """Say where, seen from the object that was looked at, and what was found and wanted."""

    where: str
    message: str


class Rule(NamedTuple):
    """Tie a rule's name to the kind of object it looks at, how it looks and how grave a breach is."""

    name: str
    scope: Scope
    faults: Callable[[Visit], Iterator[Fault]]
    severity: Severity = "error"


def whole(value: object) -> int | None:
    """Return the whole number that the models read from a value (they read "1" too); None if none."""
    if type(value) is int:
        return value
    try:
        return _WHOLE.validate_python(value)
    except ValidationError:
        return None


def step_ids(visit: Visit) -> Iterator[Fault]:
    """Want 1, 2, 3 … in order; only the first break is told, those after it mostly follow from it."""
    steps = visit.value.get("steps")
    for index, step in enumerate(steps if is_list(steps) else ()):
        found = whole(field(step, "step_id"))
        if found not in (None, index + 1):
            wanted = f"{index + 1}: steps count 1, 2, 3 … in order"
            yield Fault(f"steps[{index}].step_id", f"found {shown(found)}, wanted {wanted}")
            return


def embedded_ids(visit: Visit) -> Iterator[Fault]:
    """Want an id on each embedded document, and no id twice in one list."""
    seen: set[str] = set()
    for path, embedded in objects(visit.value, "subagent_trajectories"):
        found = embedded.get("trajectory_id")
        if found is None:
            yield Fault(f"{path}.trajectory_id", "found none, wanted the id by which results refer to this document")
        elif isinstance(found, str):
            if found in seen:
                yield Fault(f"{path}.trajectory_id", f"found {shown(found)} again, wanted an id of its own")
            seen.add(found)


def timestamp(visit: Visit) -> Iterator[Fault]:
    """Want a time that can be read."""
    found = visit.value.get("timestamp")
    if isinstance(found, str):
        try:
            moment(found)
        except ValueError:
            yield Fault("timestamp", f"found {shown(found)}, wanted a time in ISO 8601, such as 2026-01-31T08:30:00Z")


def agent_only(visit: Visit) -> Iterator[Fault]:
    """Want fields about an inference on agent steps alone; an empty string counts as present."""
    source = visit.value.get("source")
    if source in ("system", "user"):
        for name in AGENT_ONLY:
            if visit.value.get(name) is not None:
                yield Fault(name, f"found {name} on a {source} step, wanted it on agent steps only")


def no_inference(visit: Visit) -> Iterator[Fault]:
    """Want nothing of an inference where none took place."""
    step = visit.value
    if step.get("source") == "agent" and step.get("llm_call_count") is not None and whole(step["llm_call_count"]) == 0:
        for name in NO_INFERENCE:
            if step.get(name) is not None:
                yield Fault(name, f"found {name} on a step with llm_call_count 0, wanted none: no model was asked")


def call_ids(visit: Visit) -> Iterator[Fault]:
    """Want each result on the step that made the call."""
    ids = [call.get("tool_call_id") for _, call in objects(visit.value, "tool_calls")]
    known = {found for found in ids if isinstance(found, str)}
    for path, result in results(visit.value):
        found = result.get("source_call_id")
        if isinstance(found, str) and found not in known:
            wanted = f"a tool_call_id of the same step ({_listed(ids)})"
            yield Fault(f"{path}.source_call_id", f"found {shown(found)}, wanted {wanted}")


def resolvable_ref(visit: Visit) -> Iterator[Fault]:
    """Want something by which the subagent's document can be found."""
    if visit.value.get("trajectory_id") is None and visit.value.get("trajectory_path") is None:
        only = " (session_id alone finds no document)" if visit.value.get("session_id") is not None else ""
        yield Fault("", f"found neither, wanted trajectory_id or trajectory_path{only}")


def part_fields(visit: Visit) -> Iterator[Fault]:
    """Want text on text parts, a source on media parts, and never the other's field."""
    kind = visit.value.get("type")
    wanted, unwanted = ("text", "source") if kind == "text" else ("source", "text")
    if kind in ("text", "image", "audio"):
        if visit.value.get(wanted) is None:
            yield Fault(wanted, f"found none, wanted {wanted} on a part of type {kind}")
        if visit.value.get(unwanted) is not None:
            yield Fault(unwanted, f"found {unwanted} on a part of type {kind}, wanted {wanted} only")


def part_source(visit: Visit) -> Iterator[Fault]:
    """Want a source of the kind that the part's type says."""
    kind, media_type = visit.value.get("type"), field(visit.value.get("source"), "media_type")
    if kind in ("image", "audio") and isinstance(media_type, str):
        found = "audio" if str(audio_type(media_type)).startswith("audio/") else "image"
        if found != kind:
            yield Fault("source.media_type", f"found {shown(media_type)}, wanted a media type of {kind}, as type says")


def media_file(visit: Visit) -> Iterator[Fault]:
    """Want local files where the document says they are; URLs are not fetched."""
    path = field(visit.value.get("source"), "path")
    if visit.directory is None or visit.value.get("type") not in ("image", "audio"):
        return
    if isinstance(path, str) and path and "://" not in path and not _exists(visit.directory / path):
        yield Fault("source.path", f"found no file {shown(path)}, wanted one there, seen from the document's folder")


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a name too long for the system, or with a null byte in it
        return False


def _listed(ids: list[Any]) -> str:
    """Return the ids of a step's calls in few words."""
    if not ids:
        return "the step has no calls"
    more = f" and {len(ids) - _LISTED_IDS} more" if len(ids) > _LISTED_IDS else ""
    return "it has " + ", ".join(shown(one) for one in ids[:_LISTED_IDS]) + more


REFERENCE: Final[tuple[Rule, ...]] = (
    Rule("step-ids", "trajectory", step_ids),
    Rule("embedded-ids", "trajectory", embedded_ids),
    Rule("timestamp", "step", timestamp),
    Rule("agent-only", "step", agent_only),
    Rule("no-inference", "step", no_inference),
    Rule("call-ids", "step", call_ids),
    Rule("resolvable-ref", "ref", resolvable_ref),
    Rule("part-fields", "part", part_fields),
    Rule("part-source", "part", part_source),
    Rule("media-file", "part", media_file),
)
"""The rules of the reference validator."""
