"""Model judgements about a run, which may come from anywhere and at any time."""

from __future__ import annotations

from typing import Literal

from atifold.events.payload import Always, Body, Content, Number, Open, Payload, Structure


class EvalScore(Payload):
    """An evaluator scored something."""

    metric_id: Always[Structure[str]] = None
    value: Always[Structure[Number]] = None
    threshold: Structure[Number] = None
    """Which side of it is good only the evaluator knows."""
    target: Always[Structure[Open[Literal["iteration", "turn", "run", "toolCall"]]]] = None
    target_ref: Always[Structure[str]] = None
    """A run id for `run` and `turn`, an iteration's index for `iteration`, a call's id for `toolCall`."""
    evaluator: Structure[Open[Literal["llm", "fn", "heuristic"]]] = None
    evidence: Content[Body] = None
    """An object of the evaluator."""
    label: Content[str] = None
    """The evaluator's own word for the score (`pass`); never derived from the figures."""
    explanation: Content[str] = None


class EvalThresholdCrossed(Payload):
    """A metric went over or under its threshold."""

    metric_id: Always[Structure[str]] = None
    direction: Always[Structure[Open[Literal["above", "below"]]]] = None
    value: Always[Structure[Number]] = None
    threshold: Always[Structure[Number]] = None
    action_taken: Content[str] = None
