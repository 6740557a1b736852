"""Keep one span from its start until it is sealed: what it says, and what happened on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import SpanKind

from atifold import semconv
from atifold.emit.tally import Calls, Gaps, Offers
from atifold.jsontext import scrub

DENIED: Final = "deny"
"""The result of a permission check that refuses."""

MOST_MOMENTS: Final = 128  # on one span: the SDK's own default
_MOST_KEPT: Final = 1_024  # for the log and for side doors


class Facts(NamedTuple):
    """An event's fields as attributes: what may leave without leave, and what may not."""

    structure: dict[str, Any]
    content: dict[str, Any]


def no_facts() -> Facts:
    """Return facts that others can be added to."""
    return Facts({}, {})


def add(facts: Facts, more: Facts) -> None:
    """Add facts to others; of one name the later value counts, and what either was denied is named."""
    withheld = (*facts.content.get(semconv.WITHHELD, ()), *more.content.get(semconv.WITHHELD, ()))
    facts.structure.update(more.structure)
    facts.content.update(more.content)
    if withheld:
        facts.content[semconv.WITHHELD] = tuple(dict.fromkeys(withheld))


@dataclass(slots=True, eq=False)
class Moment:
    """A span event or log event in the making; `logged` is what the log has beside it, where the span has it itself."""

    name: str
    time_ns: int
    attributes: dict[str, Any]
    content: dict[str, Any]
    logged: Facts | None = None

    @property
    def denies(self) -> bool:
        """Tell whether this is a permission check that refused its call."""
        return self.attributes.get(semconv.PERMISSION_RESULT) == DENIED


class Record:
    """One span from its start until it is sealed.

    `attributes` are structure, `content` is what leaves only where capture is on, `door` what only a
    side door gets, over `content`: of a history the new part. Sequences are tuples. `incomplete`
    says why the span is not whole. `begun` and `ended` say that a tool's own start and end event came,
    `lost` how many moments were too many to keep. `tally` and `timed` are for metrics: what no
    attribute says, and whether what ends here is over and how long it took is known.
    """

    __slots__ = (
        "_context", "at", "attributes", "begun", "content", "door", "end_ns", "ended", "error_text", "error_type",
        "incomplete", "kind", "links", "lost", "moments", "name", "parent_id", "span", "start_ns", "tally", "timed",
    )  # fmt: skip

    def __init__(
        self,
        span: trace.Span,
        parent_id: int | None,
        name: str,
        kind: SpanKind,
        start_ns: int,
        attributes: dict[str, Any],
        links: Sequence[trace.Link],
    ) -> None:
        """Take a started span, the id of its parent, and what it was started with."""
        self.span = span
        self.at = span.get_span_context()
        self.parent_id = parent_id
        self.name = name
        self.kind = kind
        self.start_ns = start_ns
        self.attributes = attributes
        self.content: dict[str, Any] = {}
        self.door: dict[str, Any] = {}
        self.moments: list[Moment] = []
        self.links = links
        self.lost = 0
        self.end_ns: int | None = None
        self.begun = False
        self.ended = False
        self.error_type: str | None = None
        self.error_text: str | None = None
        self.incomplete: tuple[str, ...] = ()
        self.tally: Calls | Gaps | Offers | None = None
        self.timed = True
        self._context: Context | None = None

    @property
    def context(self) -> Context:
        """Return the context in which this span is the current one."""
        if self._context is None:
            self._context = trace.set_span_in_context(self.span, Context())
        return self._context

    def note(self, moment: Moment) -> None:
        """Add a span event; what is too much for a span is for the log, where there is one, and for side doors."""
        if semconv.WITHHELD in moment.content:
            self.lack(moment.content.pop(semconv.WITHHELD))
        if len(self.moments) < _MOST_KEPT:
            self.moments.append(moment)
        else:
            self.lost += 1

    def take(self, facts: Facts) -> None:
        """Put an event's fields on the span."""
        before = self.content.get(semconv.WITHHELD, ())
        self.attributes.update(facts.structure)
        self.content.update(facts.content)
        self.lack(before)

    def lack(self, names: tuple[str, ...]) -> None:
        """Name attributes from which a redaction withheld something."""
        if names:
            before = self.content.get(semconv.WITHHELD, ())
            self.content[semconv.WITHHELD] = tuple(dict.fromkeys((*before, *names)))

    def lacks(self, name: str) -> bool:
        """Tell whether something was withheld from an attribute."""
        return name in self.content.get(semconv.WITHHELD, ())

    def rename(self, name: str) -> None:
        """Give the span its full name, which a later event told."""
        self.name = name
        self.span.update_name(name)

    def fail(self, error_type: str, text: str | None) -> None:
        """Mark the span as failed; the first reason stays."""
        if self.error_type is None:
            self.error_type = scrub(error_type)
            self.error_text = None if text is None else scrub(text)

    def unfinished(self, reason: str) -> None:
        """Say why this span is not complete."""
        if reason not in self.incomplete:
            self.incomplete = (*self.incomplete, reason)
