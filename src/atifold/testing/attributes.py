"""Apply the rules that attributes have on every signal: names, namespaces, types, shapes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from atifold.testing.conventions import INVENTED_UNDER, RENAMED, TYPES, is_governed, row_name
from atifold.testing.shapes import misfits
from atifold.testing.values import FITS, is_structured, shown


class Wanted(NamedTuple):
    """What items are held against, as `faults` takes it."""

    content: bool | None = None
    sessions: Collection[str] | None = None
    namespaces: Collection[str] | None = None
    compat: bool = False


def current(attributes: Mapping[str, Any], *, compat: bool) -> dict[str, Any]:
    """Return attributes under their current names where older ones are accepted, else as they are."""
    if not compat:
        return dict(attributes)
    renamed = {row.new: attributes[name] for name, row in RENAMED.items() if row.same and name in attributes}
    return {**renamed, **{name: value for name, value in attributes.items() if not _is_same(name)}}


def _is_same(name: str) -> bool:
    return name in RENAMED and RENAMED[name].same


def of_attribute(
    name: str, value: Any, wanted: Wanted, allowed: Collection[str] | None, where: str, *, as_json: bool
) -> Iterator[str]:
    """Yield what is wrong with one attribute of an item.

    `allowed` are the names of the conventions that the item may have (None: all of them), `where` is
    the part of the conventions that says so, `as_json` whether structured content may be JSON text.
    """
    row = row_name(name)
    if name in RENAMED:
        yield f"deprecated, {RENAMED[name].new} was wanted [{where}]"
    elif is_governed(row) and (row not in TYPES or name == "gen_ai.prompt.variable"):
        yield f"no name of the conventions [{where}]"
    elif is_governed(row) and allowed is not None and row not in allowed:
        yield f"not an attribute of this item [{where}]"
    elif row in TYPES:
        yield from _of_type(row, value, where, as_json=as_json)
    else:
        yield from _of_namespace(name, wanted.namespaces)
        if not is_structured(value):
            yield f"no attribute value: {shown(value)} [common]"


def _of_namespace(name: str, namespaces: Collection[str] | None) -> Iterator[str]:
    """Yield that a name of no convention is in none of the namespaces that were named."""
    if namespaces is None or name in TYPES or name.startswith((*INVENTED_UNDER, *namespaces)):
        return
    yield f"in none of the namespaces {', '.join(sorted(namespaces))} [common]"


def _of_type(row: str, value: Any, where: str, *, as_json: bool) -> Iterator[str]:
    kind = TYPES[row]
    if not FITS[kind](value):
        yield f"{shown(value)} was found, {kind} was wanted [{where}]"
        return
    for misfit in misfits(row, value, as_json=as_json):
        yield f"{misfit} [message schemas]"
