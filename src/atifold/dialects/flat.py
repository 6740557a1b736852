"""Rebuild nested values out of flat attribute names with indices (`a.0.b.1.c`)."""

from __future__ import annotations

from typing import Any

from atifold.kinds import is_object
from atifold.spans import Attributes


class Tree(dict[str, Any]):
    """Name parts to subtrees or to values; indices are still text.

    A class of its own tells a subtree from an attribute's value that is a dict, which nobody may change.
    """


def trees(attributes: Attributes, prefixes: tuple[str, ...]) -> dict[str, Tree]:
    """Return for each prefix (which ends in a dot) the tree of the attributes below it, in one pass."""
    found = {prefix: Tree() for prefix in prefixes}
    for name, value in attributes.items():
        if not name.startswith(prefixes):
            continue
        prefix = next(prefix for prefix in prefixes if name.startswith(prefix))
        _put(found[prefix], name[len(prefix) :].split("."), value)
    return found


def _put(tree: Tree, path: list[str], value: Any) -> None:
    for part in path[:-1]:
        tree = _below(tree, part)
    last = path[-1]
    below = tree.get(last)
    if isinstance(below, Tree):
        below[""] = value
    else:
        tree[last] = value


def _below(tree: Tree, part: str) -> Tree:
    """Return the subtree of a name; a value that stands there already becomes its nameless part."""
    below = tree.get(part)
    if not isinstance(below, Tree):
        below = tree[part] = Tree() if below is None else Tree({"": below})
    return below


def entries(tree: Any) -> list[Any]:
    """Return what stands under the indices of a tree, in their order; gaps and other names are passed over."""
    if not is_object(tree):
        return []
    indices = (key for key in tree if key.isdecimal())
    return [tree[index] for index in sorted(indices, key=lambda index: (len(index), index))]


def at(tree: Any, *path: str) -> Any:
    """Return the value or subtree at a path, None where there is none."""
    for part in path:
        if not is_object(tree):
            return None
        tree = tree.get(part)
    return tree
