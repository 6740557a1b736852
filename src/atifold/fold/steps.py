"""Turn a thread into steps: one per inference, the news of each request before it.

Replayed history is no step. A tool that ran without a model's asking is an agent step of its own
without an inference; a subagent that no tool call ran for is referred to from a system step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from atifold.calls import AgentCall, Message, ModelCall, Text, ToolCall, ToolRequest, ToolResponse, Usage
from atifold.fold.figures import metrics, metrics_of
from atifold.fold.history import History, News, Unit
from atifold.fold.messages import requests_of, system_texts
from atifold.fold.order import by_history
from atifold.fold.report import Words
from atifold.fold.threads import Child, Thread
from atifold.fold.toolcalls import Asked, Binding, Results, Step, take_replay, unasked
from atifold.spans import SpanKey

NameOf = Callable[[SpanKey], "str | None"]
"""Return the name of the agent that owns a call, None where none is named."""


@dataclass(slots=True)
class Steps:
    """The steps of a thread, in order, and the call that each tool span was bound to."""

    steps: list[Step] = field(default_factory=list)
    bound: dict[SpanKey, Asked] = field(default_factory=dict)


def steps_of(thread: Thread, name_of: NameOf, words: Words) -> Steps:
    """Return the steps of a thread; references to subagents are put in by the document."""
    if thread.workflow is not None:
        return Steps(_told_input((thread.workflow, *thread.outer)))
    walk = _Walk(name_of, words)
    for call in by_history(thread.models):
        walk.take(call)
    blocks = walk.blocks
    _put_told_input(blocks, thread, words)
    bound, after = _bind(blocks, thread, name_of)
    words.say("merged", "a tool call told by two spans is one call", len(bound) - len(set(map(id, bound.values()))))
    steps = [*after.get(-1, [])]
    for at, block in enumerate(blocks):
        steps += [*block, *after.get(at, [])]
    if not thread.models:
        steps = [*_told_input((*thread.agents, *thread.outer)), *steps]
        words.say("missing", "no model call was traced: only tool calls and what the agent's span tells")
    _put_told_output(steps, thread, words)
    return Steps(steps, bound)


class _Walk:
    """Follow the model calls of a thread and note the steps that each brings: its block."""

    def __init__(self, name_of: NameOf, words: Words) -> None:
        self._history: History[Step] = History()
        self._results = Results()
        self._name_of = name_of
        self._words = words
        self.blocks: list[list[Step]] = []

    def take(self, call: ModelCall) -> None:
        """Add the block of one model call; its last step is the inference."""
        news = self._history.read(call)
        if news.replay and self._history.askers:
            self._replay(news.replay)
        block = [Step("system", call.start_ns, (Message("system", (Text(text),)),)) for text in news.system]
        for at, unit in enumerate(news.units):
            block += self._unit(unit, call, copied=at < news.copied)
        step = _inference(call, self._name_of(call.key) or call.agent_name)
        self._history.answer(call, step, asked_anew=bool(news.units) or call.input is None)
        self._results.know(step)
        self._note(call, news)
        self.blocks.append([*block, step])

    def _replay(self, units: Sequence[Unit]) -> None:
        """Complete the last answer by its replay, with results that stand inside it."""
        askers = self._history.askers
        take_replay(askers, [message for unit in units for message in unit.messages])
        if len(units) > 1:
            self._results.give(askers, [response for unit in units for response in unit.responses])
            self._words.say("unsure", "one model span stands for several rounds of the model")

    def _unit(self, unit: Unit, call: ModelCall, *, copied: bool) -> list[Step]:
        """Return the steps of one new turn; results go to the calls that they answer."""
        match unit.kind:
            case "results":
                lost = self._results.give(self._history.askers, unit.responses)
                self._words.say("left_out", "a tool result whose call is not in the trace", lost)
                return []
            case "model":
                return [self._untraced(unit, call, copied=copied)]
            case "user" | "system":
                message = unit.messages[0]
                step = Step(unit.kind, call.start_ns, unit.messages, copied=copied or message.origin == "copied")
                if message.origin and message.origin != "copied":
                    step.extra["atifold"] = {"origin": message.origin}
                if message.name:
                    step.extra["name"] = message.name
                if message.role != unit.kind:
                    step.extra["role"] = message.role
                return [step]

    def _untraced(self, unit: Unit, call: ModelCall, *, copied: bool) -> Step:
        """Return the step of a turn of the model whose call is not among the spans."""
        step = Step("agent", call.start_ns, unit.messages, copied=True)
        step.asked = [Asked.of(request) for request in requests_of(unit.messages)]
        self._history.copied_answer(step)
        self._results.know(step)
        if not copied:
            self._words.say("unsure", "an answer stands in the history whose model call is not in the trace")
        return step

    def _note(self, call: ModelCall, news: News) -> None:
        """Say what a model call leaves open."""
        if call.input is None and call.output is None:
            why = "is under names that are not read" if call.content_unread else "was not captured"
            self._words.say("missing", f"content {why}: model call")
        if news.copied:
            self._words.say("inferred", "history from before the first call is copied context: step", news.copied)


def _inference(call: ModelCall, agent: str | None) -> Step:
    """Return the agent step of a model call, with results that stand in its output."""
    output = tuple(call.output or ())
    step = Step("agent", call.start_ns, output, call=call, counted=1, agent=agent)
    by_id: dict[str | None, list[Asked]] = {}
    for message in output:
        for part in message.parts:
            if isinstance(part, ToolRequest):
                step.asked.append(Asked.of(part))
                by_id.setdefault(part.id, []).append(step.asked[-1])
            elif isinstance(part, ToolResponse) and part.id:
                for asked in by_id.get(part.id, ()):
                    asked.inline = part
    return step


def _bind(
    blocks: Sequence[Sequence[Step]], thread: Thread, name_of: NameOf
) -> tuple[dict[SpanKey, Asked], dict[int, list[Step]]]:
    """Bind every tool span of a thread; return (the calls by span, new steps by the block they follow)."""
    copied = [step for block in blocks for step in block if step.copied and step.asked]
    binding = Binding([block[-1] for block in blocks], copied)
    rest = binding.bind([tool for tool in thread.tools if tool.key not in thread.twins])
    bound = dict(binding.bound)
    after = _place_rest(blocks, rest, binding, bound, name_of)
    for tool in thread.tools:
        outer = thread.twins.get(tool.key)
        if outer in bound:
            bound[outer].bind(tool)
            bound[tool.key] = bound[outer]
    return bound, after


def _place_rest(
    blocks: Sequence[Sequence[Step]],
    tools: Sequence[ToolCall],
    binding: Binding,
    bound: dict[SpanKey, Asked],
    name_of: NameOf,
) -> dict[int, list[Step]]:
    """Place tool spans that no step asked for: into a step that may have, else as steps of their own.

    Returns the own steps by the block that they follow, -1 for the front.
    """
    after: dict[int, list[Step]] = {}
    open_steps = [block[-1].may_have_asked_more for block in blocks]
    told: dict[tuple[str, str, int | None], Asked] = {}
    for tool in tools:
        at = binding.home(tool)
        known = told.get((tool.id, tool.tool, at)) if tool.id else None
        bound[tool.key] = known or unasked(tool)
        if known is not None:
            known.bind(tool)  # a paused call and its end, or two instrumentations
            continue
        if tool.id:
            told[tool.id, tool.tool, at] = bound[tool.key]
        if at is not None and open_steps[at]:
            blocks[at][-1].asked.append(bound[tool.key])
            continue
        name = name_of(tool.key) or tool.agent_name
        step = Step("agent", tool.start_ns, asked=[bound[tool.key]], counted=0, agent=name)
        after.setdefault(-1 if at is None else at, []).append(step)
    return after


# ---- what only the agent's own span tells --------------------------------------------------------


def _told_input(agents: Sequence[AgentCall]) -> list[Step]:
    """Return the system and user steps of what went into agents, each message once."""
    steps: list[Step] = []
    for agent in agents:
        told = [Message("system", (Text(agent.system),))] if agent.system else []
        told += [message for message in agent.input or () if message.role in ("system", "user")]
        steps += [Step(m.role, agent.start_ns, (m,)) for m in told if not _said(steps, m)]
    return steps


def _said(steps: Sequence[Step], message: Message) -> bool:
    """Tell whether a message stands among the steps already."""
    return any(message in step.messages for step in steps)


def _put_told_input(blocks: Sequence[list[Step]], thread: Thread, words: Words) -> None:
    """Put what went into the agent before its first inference, as far as no request tells it."""
    if not blocks:
        return
    untold = {"user"} if all(call.input is None for call in thread.models) else set()
    if not any(system_texts(call) for call in thread.models):
        untold.add("system")
    told = [step for step in _told_input((*thread.agents, *thread.outer)) if step.source in untold]
    blocks[0][:0] = told
    for source in sorted({step.source for step in told}):
        words.say("inferred", f"the {source} step is what the agent's span tells: no model call tells its own")


def _put_told_output(steps: list[Step], thread: Thread, words: Words) -> None:
    """Give the agent's answer to its last inference where that does not tell its own, else a step."""
    agent = next((a for a in reversed((*thread.outer[::-1], *thread.agents)) if a.output), None)
    answer = tuple(m for m in (agent.output or () if agent else ()) if m.role == "assistant")[-1:]
    claimed = claimed_metrics(thread)
    last = next((s for s in reversed(steps) if s.call), None)
    if last is None and (answer or claimed):
        end = max((a.end_ns or a.start_ns for a in (*thread.agents, *thread.outer)), default=0)
        last = Step("agent", end, answer)
        steps.append(last)
        words.say("inferred", "the last step is what the agent's span tells of model calls that were not traced")
    elif last is not None and answer and _tells_nothing(last):
        last.messages = answer
        words.say("inferred", "the last message is the agent span's output: the model call does not tell its own")
    if last is not None and claimed:
        last.claimed = claimed
        words.say("unsure", "usage only on the container (the agent's span): it stands on the last step, for all")


def _tells_nothing(step: Step) -> bool:
    """Tell whether an inference succeeded and its output is not known."""
    return step.call is not None and step.call.output is None and step.call.failure is None and not step.messages


def claimed_metrics(thread: Thread) -> dict[str, Any]:
    """Return what containers say of tokens and cost; empty where a model call below says anything."""
    if any(metrics_of(call) for call in thread.models) or _child_tells(thread):
        return {}
    claims = [a for a in thread.agents if a.usage or a.cost_usd]
    claims = claims or [a for a in thread.outer if a.usage or a.cost_usd][:1]
    costs = [a.cost_usd for a in claims if a.cost_usd]
    told = metrics(_sum([a.usage for a in claims if a.usage]), math.fsum(costs) if costs else None, "container")
    if told:
        told["extra"] = {**told.get("extra", {}), "covers": "agent run"}
    return told


def _child_tells(thread: Thread) -> bool:
    """Tell whether a model call of a subagent says anything of its usage."""
    return any(
        any(metrics_of(call) for call in child.thread.models) or _child_tells(child.thread) for child in thread.children
    )


def _sum(usages: Sequence[Usage]) -> Usage | None:
    """Return the sum of usages, a count that none of them has being unknown; None for none."""
    if not usages:
        return None

    def total(counts: Iterable[int | None]) -> int | None:
        known = [count for count in counts if count is not None]
        return sum(known) if known else None

    return Usage(
        prompt=total(u.prompt for u in usages),
        completion=total(u.completion for u in usages),
        cached=total(u.cached for u in usages),
        cache_write=total(u.cache_write for u in usages),
        reasoning=total(u.reasoning for u in usages),
    )


def child_step(child: Child, name: str, trajectory_id: str) -> Step:
    """Return the system step that refers to a subagent which no tool call ran for."""
    message = Message("system", (Text(f"Ran {name}."),))
    return Step("system", child.thread.piece.start_ns, (message,), subagents=(trajectory_id,))


def insert(steps: Sequence[Step], late: Sequence[Step]) -> list[Step]:
    """Return the steps with others, given in order of time, put in where they began.

    Each goes before the first agent step that began after it, with what its request brought; a step
    goes never before the user's first message when that is as old.
    """
    waiting = list(reversed(late))
    done: list[Step] = []
    block: list[Step] = []
    for step in steps:
        block.append(step)
        if step.source != "agent":
            continue
        opening = [] if done else [s for s in block[:-1] if waiting and s.time_ns <= waiting[-1].time_ns]
        done += opening
        while waiting and waiting[-1].time_ns < step.time_ns:
            done.append(waiting.pop())
        done += block[len(opening) :]
        block = []
    return [*done, *block, *reversed(waiting)]
