"""Map a trajectory to the fields of a run: who, when, how it ended, its tokens and what it cost.

ATIF counts inclusively (input with what came from the cache); the ledger's four counts do not overlap.
What a trajectory does not say is left out, so that it is unknown and never zero.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from atifold.kinds import field as field_of
from atifold.kinds import is_list, is_object
from atifold.runs.ecmascript import MOST_EXACT, time_ms, trim
from atifold.runs.fields import RUN_ID

_UNKNOWN: Final = "unknown"
"""What a trajectory says where it must name something that nobody knows."""

_WRITES: Final = ("cache_creation_input_tokens", "cache_write_tokens", "cache_write_input_tokens")
"""What `metrics.extra` calls tokens written to the cache: ours, and others' names."""

_PARTS: Final = ("prompt_tokens", "completion_tokens", "cached_tokens")
_DIGITS: Final = 8


class Said(NamedTuple):
    """What the caller says of a run and a trajectory cannot; None is not said."""

    harness: str | None = None
    by: str | None = None
    provider: str | None = None
    outcome: str | None = None
    cost_source: str | None = None


def fields_of(trajectory: Mapping[str, Any], said: Said = Said()) -> dict[str, Any]:  # noqa: B008 - it cannot change
    """Return the fields of a run's record, without its transcript and commits."""
    ours = field_of(field_of(trajectory, "extra"), "atifold")
    harness = field_of(ours, "harness") or said.harness or _agent(trajectory)
    steps = list(_steps(trajectory))
    whole, models = _Sum(), _by_model(steps)
    for step in steps:
        whole.add(step.value)
    source = said.cost_source or _source(steps, harness)
    found = {
        "id": _run_id(trajectory),
        **_times(steps),
        "harness": harness,
        "model": _text(field_of(trajectory.get("agent"), "model_name")) or _only([key[0] for key in models]),
        "provider": field_of(ours, "provider") or said.provider,
        "by": field_of(ours, "by") or said.by,
        "agent": _text(trajectory.get("session_id")),
        "outcome": said.outcome or _outcome(trajectory, ours),
        "usage": {"turns": _turns(trajectory), **_counts(whole, trajectory)},
        "models": [_model(key, summed, source) for key, summed in models.items()],
        "cost": _cost(_whole_cost(whole, trajectory), source),
    }
    return {key: value for key, value in found.items() if value not in (None, [])}


# ---- who and when ----------------------------------------------------------------------------------


def _text(value: object) -> str | None:
    """Return what can stand as one line of text, None for anything else."""
    plain = " ".join(trim(value).splitlines()) if isinstance(value, str) else ""
    return plain or None


def _agent(trajectory: Mapping[str, Any]) -> dict[str, str]:
    agent = trajectory.get("agent")
    version = _text(field_of(agent, "version"))
    name = {"name": _text(field_of(agent, "name")) or _UNKNOWN}
    return name if version in (None, _UNKNOWN) else {**name, "version": str(version)}


def _run_id(trajectory: Mapping[str, Any]) -> str | None:
    """Return the trajectory's own id as a run's; one that does not fit ends in digits of its hash."""
    name = _text(trajectory.get("trajectory_id"))
    if name is None or RUN_ID.fullmatch(name):
        return name
    safe = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "._-") else "_" for sign in name).lstrip("._-")
    return f"{safe[:90]}-{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:_DIGITS]}".lstrip("-")


def _times(steps: Iterable[_Step]) -> dict[str, str]:
    told = [text for step in steps if not step.copied for text in step.times]
    known = sorted((ms, text) for text in told if (ms := time_ms(text)) is not None)
    return {"startedAt": known[0][1], "endedAt": known[-1][1]} if known else {}


def _outcome(trajectory: Mapping[str, Any], ours: object) -> str | None:
    """Return `failed` or `not_done` where the trajectory says so; `done` only of our own, which say what is open."""
    if field_of(field_of(trajectory, "extra"), "error"):
        return "failed"
    if field_of(ours, "incomplete") or field_of(ours, "state"):
        return "not_done"
    return "done" if is_object(ours) else None


def _turns(trajectory: Mapping[str, Any]) -> int:
    """Return how often the user asked something: copied steps and a framework's own words are none.

    Where no step of the document itself is of a user (a workflow), it is what the member has that was asked most.
    """
    own = [step for step in _objects(trajectory.get("steps")) if step.get("source") == "user"]
    if not own:
        return max(map(_turns, _objects(trajectory.get("subagent_trajectories"))), default=0)
    return sum(not step.get("is_copied_context") and not _origin(step) for step in own)


def _origin(step: Mapping[str, Any]) -> object:
    return field_of(field_of(step.get("extra"), "atifold"), "origin")


# ---- steps -----------------------------------------------------------------------------------------


class _Step(NamedTuple):
    """A step and the agent's model of its document."""

    value: Mapping[str, Any]
    model: str | None

    @property
    def copied(self) -> bool:
        return bool(self.value.get("is_copied_context"))

    @property
    def times(self) -> list[str]:
        own = field_of(field_of(self.value.get("extra"), "atifold"), "time")
        return [text for text in (self.value.get("timestamp"), own) if isinstance(text, str)]

    @property
    def is_call(self) -> bool:
        """Tell whether a model was asked."""
        return self.value.get("source") == "agent" and not self.copied and self.value.get("llm_call_count") != 0


def _objects(value: object) -> Iterator[dict[str, Any]]:
    yield from (item for item in value if is_object(item)) if is_list(value) else ()


def _steps(trajectory: Mapping[str, Any]) -> Iterator[_Step]:
    """Yield the steps of a document and of all that it embeds."""
    waiting: list[Mapping[str, Any]] = [trajectory]
    for document in waiting:
        model = _text(field_of(document.get("agent"), "model_name"))
        yield from (_Step(step, _text(step.get("model_name")) or model) for step in _objects(document.get("steps")))
        waiting += _objects(document.get("subagent_trajectories"))


# ---- sums ------------------------------------------------------------------------------------------


def _number(value: object) -> int | None:
    fits = isinstance(value, (int, float)) and not isinstance(value, bool)
    return int(value) if fits and isinstance(value, (int, float)) and 0 <= value <= MOST_EXACT else None


@dataclass(slots=True)
class _Sum:
    """Counts summed up; None as long as nobody told one. `unpriced`: a step with tokens has no cost."""

    prompt: int | None = None
    completion: int | None = None
    cached: int | None = None
    written: int | None = None
    costs: list[float] = field(default_factory=list[float])
    unpriced: bool = False

    def add(self, step: Mapping[str, Any]) -> None:
        """Add what a step tells; a copied one tells nothing of this run."""
        told = step.get("metrics")
        if not is_object(told) or step.get("is_copied_context"):
            return
        prompt, completion, cached = (_number(told.get(name)) for name in _PARTS)
        extra = told.get("extra")
        written = next((n for name in _WRITES if (n := _number(field_of(extra, name))) is not None), None)
        self.prompt, self.completion = _plus(self.prompt, prompt), _plus(self.completion, completion)
        self.cached, self.written = _plus(self.cached, cached), _plus(self.written, written)
        cost = told.get("cost_usd")
        if isinstance(cost, (int, float)) and not isinstance(cost, bool) and 0 <= cost < math.inf:
            self.costs.append(cost)
        elif any((prompt, completion, cached, written)):
            self.unpriced = True

    @property
    def cost(self) -> float | None:
        """Return what all of it cost, None where that is not known whole."""
        return None if self.unpriced or not self.costs else math.fsum(self.costs)

    @property
    def input(self) -> int | None:
        """Return the tokens that came from no cache and went into none."""
        return None if self.prompt is None else max(self.prompt - (self.cached or 0) - (self.written or 0), 0)

    @property
    def counts(self) -> dict[str, int]:
        """Return the four counts that the ledger has, each where it is known."""
        told = (self.input, self.completion, self.cached, self.written)
        names = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
        return {name: count for name, count in zip(names, told, strict=True) if count is not None}


def _plus(total: int | None, more: int | None) -> int | None:
    return total if more is None else (total or 0) + more


def _counts(whole: _Sum, trajectory: Mapping[str, Any]) -> dict[str, int]:
    """Return the counts of all steps, where no step has one the totals that the document tells."""
    if whole.counts:
        return whole.counts
    totals = trajectory.get("final_metrics")
    prompt, completion, cached = (_number(field_of(totals, f"total_{name}")) for name in _PARTS)
    return _Sum(prompt, completion, cached).counts


def _whole_cost(whole: _Sum, trajectory: Mapping[str, Any]) -> float | None:
    """Return the cost of all steps, where no step has one the total that the document tells."""
    if whole.costs:
        return whole.cost
    told = field_of(trajectory.get("final_metrics"), "total_cost_usd")
    fits = isinstance(told, (int, float)) and not isinstance(told, bool) and 0 <= told < math.inf
    return told if fits else None


def _by_model(steps: Iterable[_Step]) -> dict[tuple[str, str | None], _Sum]:
    """Return what each model had, by its name and provider, in the order of their first calls."""
    found: dict[tuple[str, str | None], _Sum] = {}
    for step in steps:
        if step.is_call:
            key = (step.model or _UNKNOWN, _text(field_of(step.value.get("extra"), "provider")))
            found.setdefault(key, _Sum()).add(step.value)
    return found


def _model(key: tuple[str, str | None], summed: _Sum, source: str) -> dict[str, Any]:
    model, provider = key
    found = {"model": model, "provider": provider, **summed.counts, "cost": _cost(summed.cost, source)}
    return {name: value for name, value in found.items() if value is not None}


def _only(names: list[str]) -> str | None:
    """Return the one name of a list that holds no other, None for `unknown`."""
    return names[0] if len(set(names)) == 1 and names[0] != _UNKNOWN else None


def _cost(amount: float | None, source: str) -> dict[str, Any] | None:
    return None if amount is None else {"amount": amount, "currency": "USD", "source": source}


def _source(steps: Iterable[_Step], harness: object) -> str:
    """Return what priced a run: the harness's own report, or the price lists that its steps name."""
    name = harness if isinstance(harness, str) else field_of(harness, "name")
    told = (field_of(field_of(step.value.get("metrics"), "extra"), "cost_source") for step in steps)
    lists = sorted({text for value in told if (text := _text(value))})
    return f"{name}:{'+'.join(lists)}" if lists else f"harness:{name}"
