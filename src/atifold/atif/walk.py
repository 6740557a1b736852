"""Visit the parts of a document that rules look at, whatever shape the rest of it is in.

Only objects are visited; where a document has something else in their place, the shape check
complains and the walk goes by.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

from atifold.atif.findings import inside
from atifold.kinds import is_list, is_object

Scope = Literal["trajectory", "step", "part", "ref"]
"""A document or embedded document, a step, a content part, a reference to a subagent."""


class Visit(NamedTuple):
    """One object of a document.

    `path` is empty for the document itself. `directory` is where its media files are looked for; None
    where they are not: the document came from no file, or the object belongs to an embedded document.
    """

    scope: Scope
    path: str
    value: dict[str, Any]
    directory: Path | None


def visits(document: dict[str, Any], directory: Path | None) -> Iterator[Visit]:
    """Yield the document, its steps and what they hold, then the embedded documents likewise.

    An object that holds itself (a dict in memory can) is visited once.
    """
    waiting: list[tuple[str, dict[str, Any]]] = [("", document)]
    seen: set[int] = set()
    while waiting:
        path, trajectory = waiting.pop()
        if id(trajectory) in seen:
            continue
        seen.add(id(trajectory))
        yield from _within(path, trajectory, None if path else directory)
        waiting += reversed(list(objects(trajectory, "subagent_trajectories", path)))


def objects(owner: dict[str, Any], field: str, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the path and value of each object in a list field; nothing where the field is no list."""
    items = owner.get(field)
    if is_list(items):
        prefix = inside(path, field)
        for index, item in enumerate(items):
            if is_object(item):
                yield f"{prefix}[{index}]", item


def results(step: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the path and value of each result in a step's observation."""
    observation = step.get("observation")
    if is_object(observation):
        yield from objects(observation, "results", inside(path, "observation"))


def _within(path: str, trajectory: dict[str, Any], directory: Path | None) -> Iterator[Visit]:
    yield Visit("trajectory", path, trajectory, directory)
    for step_path, step in objects(trajectory, "steps", path):
        yield Visit("step", step_path, step, directory)
        for part_path, part in objects(step, "message", step_path):
            yield Visit("part", part_path, part, directory)
        for result_path, result in results(step, step_path):
            for part_path, part in objects(result, "content", result_path):
                yield Visit("part", part_path, part, directory)
            for ref_path, ref in objects(result, "subagent_trajectory_ref", result_path):
                yield Visit("ref", ref_path, ref, directory)
