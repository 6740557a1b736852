"""Tell whether a span failed, and why."""

from __future__ import annotations

from atifold.calls import Failure
from atifold.dialects.values import word
from atifold.spans import Attributes, Span, Status


def failure(span: Span) -> Failure | None:
    """Return why a span failed, None when it did not.

    Its status says so, or `error.type`, or, unless the status is OK, an exception event.
    """
    exceptions = [event.attributes for event in span.events if event.name == "exception"]
    error_type = word(span.attributes.get("error.type"))
    is_error = span.status is Status.ERROR or error_type is not None
    if not is_error and (span.status is Status.OK or not exceptions):
        return None
    raised: Attributes = exceptions[-1] if exceptions else {}
    message = span.status_message or word(raised.get("exception.message"))
    return Failure(error_type or word(raised.get("exception.type")), message or None)
