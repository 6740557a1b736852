"""Find agents that were exported twice under other ids: all below them too, with the same times and words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from atifold.calls import AgentCall, Call
from atifold.spans import SpanKey


def copies(calls: Mapping[SpanKey, Call]) -> dict[SpanKey, SpanKey]:
    """Return, by the key of each call of a copied tree, the call that it is a copy of.

    Side by side two agents are one only if nothing differs in their whole trees but ids, and time passed in them.
    """
    alike: dict[Any, list[SpanKey]] = defaultdict(list)
    for call in calls.values():
        if isinstance(call, AgentCall) and call.end_ns is not None and call.end_ns > call.start_ns:
            alike[call.key[0], call.parent, call.name, call.start_ns, call.end_ns].append(call.key)
    found: dict[SpanKey, SpanKey] = {}
    several = [sorted(keys) for keys in alike.values() if len(keys) > 1]
    below = _below(calls.values()) if several else {}
    for keys in several:
        first: dict[str, list[SpanKey]] = {}
        for key in keys:
            told, tree = _tree(key, calls, below)
            original = first.setdefault(told, tree)
            if original is not tree and len(tree) > 1:
                found.update(zip(tree, original, strict=True))
    return found


def _below(calls: Iterable[Call]) -> dict[SpanKey, list[SpanKey]]:
    found: dict[SpanKey, list[SpanKey]] = defaultdict(list)
    for call in calls:
        if call.parent is not None:
            found[call.parent].append(call.key)
    return found


def _tree(
    root: SpanKey, calls: Mapping[SpanKey, Call], below: Mapping[SpanKey, list[SpanKey]]
) -> tuple[str, list[SpanKey]]:
    """Return (what a call and all below it tell, without ids; their keys in the order in which it is told)."""
    told: list[str] = []
    keys = [root]
    for key in keys:
        told.append(f"{len(below.get(key, ()))} {_words(calls[key])}")
        keys += sorted(below.get(key, ()), key=lambda each: (_words(calls[each]), each))
    return "\n".join(told), keys


def _words(call: Call) -> str:
    return repr(replace(call, key=("", ""), parent=None, links=(), sequence=None))
