"""Check a document: its shape against the models, then every rule on every object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, get_args

from atifold.atif.findings import Finding, inside, shown
from atifold.atif.reading import parse_file
from atifold.atif.rules import REFERENCE, Rule
from atifold.atif.shape import misfits
from atifold.atif.walk import Scope, visits
from atifold.kinds import is_object

_RULES: Final[Mapping[Scope, tuple[Rule, ...]]] = {
    scope: tuple(rule for rule in REFERENCE if rule.scope == scope) for scope in get_args(Scope)
}


def check(document: object, *, file: Path | None = None) -> list[Finding]:
    """Return what is wrong with a document of any version, by the reference rules; empty if nothing.

    First what does not fit the models, then which rules are broken, each in the document's order.
    With `file`, local images and audio files of the document's own steps must exist, seen from that
    file's folder. Raise nothing, whatever the document is.
    """
    if not is_object(document):
        return [Finding("", f"found {shown(document)}, wanted a JSON object")]
    directory = None if file is None else Path(file).parent
    return [*misfits(document), *_breaches(document, directory)]


def check_file(path: str | Path) -> list[Finding]:
    """Return what is wrong with the document in a file, its media files included.

    Raise InputError for a file that cannot be read or is not JSON.
    """
    return check(parse_file(path), file=Path(path))


def _breaches(document: dict[str, Any], directory: Path | None) -> Iterator[Finding]:
    for visit in visits(document, directory):
        for rule in _RULES[visit.scope]:
            for fault in rule.faults(visit):
                yield Finding(inside(visit.path, fault.where), fault.message, rule.severity)
