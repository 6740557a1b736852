"""Write attributes by names that other readers know: older ones, foreign ones of cost, those of OpenInference.

Only what the tracing backend gets is spelled so; side doors, log events and metrics are not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

from atifold import semconv
from atifold.emit.openinference import shown

Attributes = Mapping[str, Any]
Names = Literal["latest", "compat", "both"]


class Older(NamedTuple):
    """A name that an attribute had before, and until which version of the conventions.

    `values` are values that were spelled otherwise then, `kind` the type that it had. `operation`: on
    spans of this one only. Where `instead` is False the new name is written beside it under `compat`
    too: every reader since 1.27 knows that one, and the older is for those before and for OpenLLMetry's.
    """

    name: str
    older: str
    until: str
    values: tuple[tuple[str, str], ...] = ()
    kind: type[Any] | None = None
    operation: str | None = None
    instead: bool = True


OLDER: Final = (
    Older(semconv.PROVIDER, "gen_ai.system", "1.36", values=(("x_ai", "xai"),)),
    Older(semconv.USAGE_CACHE_WRITE, "gen_ai.usage.cache_creation.input_tokens", "1.41"),
    Older(semconv.RETRIEVAL_TOP_K, "gen_ai.request.top_k", "1.41", kind=float, operation="retrieval"),
    Older(semconv.USAGE_INPUT, "gen_ai.usage.prompt_tokens", "1.26", instead=False),
    Older(semconv.USAGE_OUTPUT, "gen_ai.usage.completion_tokens", "1.26", instead=False),
    Older(semconv.USAGE_CACHE_READ, "gen_ai.usage.cache_read_input_tokens", "", instead=False),
    Older(semconv.USAGE_CACHE_WRITE, "gen_ai.usage.cache_creation_input_tokens", "", instead=False),
)
"""`until` is empty where a name was never one of the conventions."""


class Cost(NamedTuple):
    """A foreign name of what an inference cost: taken from an attribute, or fixed."""

    name: str
    source: str | None = None
    fixed: str | None = None


COSTS: Final[dict[str, tuple[Cost, ...]]] = {
    "proposal": (  # semantic-conventions-genai#443, not merged
        Cost("gen_ai.usage.cost.amount", semconv.COST_USD),
        Cost("gen_ai.usage.cost.currency", fixed="USD"),
        Cost("gen_ai.usage.cost.source", semconv.COST_SOURCE),
    ),
    "openinference": (Cost("llm.cost.total", semconv.COST_USD),),
    "openlit": (Cost("gen_ai.usage.cost", semconv.COST_USD),),
    "logfire": (Cost("operation.cost", semconv.COST_USD),),
}
"""By the setting `cost_names`. What is not known has no name, and no zero."""


class Spelling:
    """Write a span's attributes by the wanted names; what is given is left as it is.

    `tells_exceptions` says that a failure is told as an `exception` event too.
    """

    __slots__ = ("_costs", "_names", "_openinference", "tells_exceptions")

    def __init__(self, names: Names, costs: tuple[Cost, ...], *, openinference: bool) -> None:
        """Take which names of the conventions, which of cost, and whether OpenInference's are wanted."""
        self._names = names
        self._costs = costs
        self._openinference = openinference
        self.tells_exceptions = openinference

    def __call__(self, attributes: Attributes) -> dict[str, Any]:
        """Return the attributes by these names."""
        spelled = dict(attributes)
        if self._names != "latest":
            _add_older(spelled, instead=self._names == "compat")
        if semconv.COST_USD in spelled:
            _add_costs(spelled, self._costs)
        if self._openinference:
            # of the names of the conventions, whichever are written
            spelled.update(shown(attributes))
        return spelled


def spelling(
    names: Names = "latest",
    cost_names: Literal["none", "proposal", "openinference", "openlit", "logfire"] = "none",
    *,
    openinference: bool = False,
) -> Spelling | None:
    """Return how the settings `attributes`, `cost_names` and `openinference` want spans spelled; None: as they are."""
    costs = COSTS.get(cost_names, ())
    if names == "latest" and not costs and not openinference:
        return None
    return Spelling(names, costs, openinference=openinference)


def _add_older(attributes: dict[str, Any], *, instead: bool) -> None:
    replaced = []
    for row in OLDER:
        value = attributes.get(row.name)
        if value is None or row.operation not in (None, attributes.get(semconv.OPERATION)):
            continue
        attributes[row.older] = dict(row.values).get(value, value) if row.kind is None else row.kind(value)
        if row.instead:
            replaced.append(row.name)
    if instead:
        for name in replaced:
            del attributes[name]


def _add_costs(attributes: dict[str, Any], costs: tuple[Cost, ...]) -> None:
    for row in costs:
        value = row.fixed if row.source is None else attributes.get(row.source)
        if value is not None:
            attributes[row.name] = value
