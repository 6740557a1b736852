"""Model answers that others stand in for, since they do not fit the schema they should have."""

from __future__ import annotations

from typing import Literal

from atifold.events.payload import Always, Content, Open, Payload, Structure, Whole


class ResilienceOutputFallbackTriggered(Payload):
    """The app's own function is about to make the value that the model's answer does not hold."""

    stage: Always[Structure[Open[Literal["json-parse", "schema-validate"]]]] = None
    """Whether the answer was no JSON at all, or JSON of the wrong shape."""
    raw_output_preview: Always[Content[str]] = None
    """The answer's first 200 characters."""
    primary_error_message: Always[Content[str]] = None
    retries_spent: Structure[Whole] = None
    """How often the model was asked again; None is unknown, not never."""


class ResilienceOutputCannedUsed(Payload):
    """That function failed too: the run returns a value fixed beforehand."""

    raw_output_preview: Always[Content[str]] = None
    """The answer's first 200 characters."""
    fallback_error_message: Always[Content[str]] = None
    retries_spent: Structure[Whole] = None
    """How often the model was asked again; None is unknown, not never."""
