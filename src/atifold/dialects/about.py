"""Hold what people are told of a dialect: whose it is, what it carries and what it cannot say."""

from __future__ import annotations

from typing import NamedTuple

from atifold.spans import Span


class Generation(NamedTuple):
    """Versions of a dialect that a span can show: by one of some attributes or events.

    A sign that ends in a dot is the beginning of a name.
    """

    versions: str
    signs: tuple[str, ...]

    def shows_in(self, span: Span) -> bool:
        """Tell whether a span bears one of the signs."""
        plain = [sign for sign in self.signs if not sign.endswith(".")]
        heads = tuple(sign for sign in self.signs if sign.endswith("."))
        return (
            any(sign in span.attributes for sign in plain)
            or any(event.name in plain for event in span.events)
            or (bool(heads) and any(name.startswith(heads) for name in span.attributes))
        )


class About(NamedTuple):
    """A dialect in words, each a phrase without a full stop, as a cell of a table.

    `title` says whose it is, `versions` which of them are read, `carries` what a trace of it can tell,
    `lacks` what it never or seldom does. Of `generations` the first that shows in a span is its own.
    """

    title: str = ""
    versions: str = ""
    carries: str = ""
    lacks: str = ""
    generations: tuple[Generation, ...] = ()

    def generation_of(self, span: Span) -> str:
        """Return the versions that a span shows, "" where it does not tell."""
        return next((found.versions for found in self.generations if found.shows_in(span)), "")
