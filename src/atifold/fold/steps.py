"""Turn a thread into steps: one per inference, the news of each request before it.

Replayed history is no step. A tool that ran without a model's asking is an agent step of its own
without an inference; a subagent that no tool call ran for is referred to from a system step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from atifold.calls import AgentCall, Message, ModelCall, Text, ToolCall, ToolRequest, ToolResponse
from atifold.fold.binding import Binding
from atifold.fold.compaction import boundary
from atifold.fold.history import History, News
from atifold.fold.late_results import put_late_results
from atifold.fold.messages import plain_id, requests_of
from atifold.fold.order import by_history
from atifold.fold.report import Words
from atifold.fold.threads import Child, Thread
from atifold.fold.told import OwnerOf, Turns, put_openings_first, put_told_input, put_told_output, told_input
from atifold.fold.toolcalls import Asked, Results, Step, take_replay, unasked
from atifold.fold.twice import Retellings
from atifold.fold.units import Unit
from atifold.spans import SpanKey


def _name_of(owner: AgentCall | None) -> str | None:
    """Return an agent's name; a workflow is none."""
    return owner.agent if owner is not None and not owner.workflow else None


@dataclass(slots=True)
class Steps:
    """The steps of a thread, in order, and the call that each tool span was bound to."""

    steps: list[Step] = field(default_factory=list)
    bound: dict[SpanKey, Asked] = field(default_factory=dict)
    answer: str | None = None


def steps_of(thread: Thread, owner_of: OwnerOf, words: Words) -> Steps:
    """Return the steps of a thread; references to subagents are put in by the document."""
    if thread.workflow is not None:
        return Steps(told_input((thread.workflow, *thread.outer)))
    walk = _Walk(thread, owner_of, words)
    for call in by_history(thread.models):
        walk.take(call)
    blocks = walk.blocks
    put_told_input(blocks, thread, owner_of, words)
    bound, after = _bind(blocks, thread, owner_of)
    put_openings_first(blocks, after, owner_of)
    words.say("merged", "a tool call told by two spans is one call", len(bound) - len(set(map(id, bound.values()))))
    steps = [*after.get(-1, [])]
    for at, block in enumerate(blocks):
        steps += [*block, *after.get(at, [])]
    if not thread.models:
        steps = [*told_input((*thread.agents, *thread.outer)), *steps]
        words.say("missing", "no model call was traced: only tool calls and what the agent's span tells")
    put_late_results(steps, (*thread.agents, *thread.outer))
    answer = put_told_output(steps, thread, words)
    return Steps(steps, bound, answer)


class _Walk:
    """Follow the model calls of a thread and note the steps that each brings: its block."""

    def __init__(self, thread: Thread, owner_of: OwnerOf, words: Words) -> None:
        self._history: History[Step] = History()
        self._results = Results()
        self._turns = Turns(owner_of)
        self._owner_of = owner_of
        self._words = words
        self._own = {agent.key for agent in thread.agents}
        self._ran = {plain_id(tool.id) for tool in thread.tools if tool.id}
        self.blocks: list[list[Step]] = []

    def take(self, call: ModelCall) -> None:
        """Add the block of one model call; its last step is the inference."""
        prompt, after = self._turns.prompt(call)
        news = self._history.read(call, prompt, opens=after)
        if news.replay and self._history.askers:
            self._replay(news.replay)
        shortened: list[Step] = []
        if call.compacted:
            step, news = boundary(call, news, prompt, self._words, before=bool(self.blocks))
            shortened.append(step)
        block = [Step("system", call.start_ns, (Message("system", (Text(text),)),)) for text in news.system]
        block += shortened
        for at, unit in enumerate(news.units):
            block += self._unit(unit, call, copied=at < news.copied)
        step = _inference(call, self._name(call))
        self._history.answer(call, step, asked_anew=bool(news.units) or call.input is None)
        self._results.know(step)
        self._note(call, news)
        self.blocks.append([*block, step])

    def _name(self, call: ModelCall) -> str | None:
        """Return the agent of a call: the one around it, unless that is another thread's and the call names its own."""
        owner = self._owner_of(call.key)
        if call.agent_name and owner is not None and owner.key not in self._own:
            return call.agent_name
        return _name_of(owner) or call.agent_name

    def _replay(self, units: Sequence[Unit]) -> None:
        """Complete the last answer by its replay, with results that stand inside it."""
        askers = self._history.askers
        messages = [message for unit in units for message in unit.messages]
        self._results.note(take_replay(askers, messages, self._results.is_known))
        if len(units) > 1:
            self._results.give(askers, [response for unit in units for response in unit.responses])
            self._words.say("unsure", "one model span stands for several rounds of the model")

    def _unit(self, unit: Unit, call: ModelCall, *, copied: bool) -> list[Step]:
        """Return the steps of one new turn; results go to the calls that they answer."""
        match unit.kind:
            case "results":
                strays = [] if self._history.askers else [r.id for r in unit.responses]
                lost = self._results.give(self._history.askers, unit.responses)
                lost -= sum(1 for call_id in strays if call_id and plain_id(call_id) in self._ran)
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
    blocks: Sequence[Sequence[Step]], thread: Thread, owner_of: OwnerOf
) -> tuple[dict[SpanKey, Asked], dict[int, list[Step]]]:
    """Bind every tool span of a thread; return (the calls by span, new steps by the block they follow)."""
    copied = [step for block in blocks for step in block if step.copied and step.asked]
    binding = Binding([block[-1] for block in blocks], copied)
    rest = binding.bind([tool for tool in thread.tools if tool.key not in thread.twins])
    bound = dict(binding.bound)
    after = _place_rest(blocks, rest, binding, bound, owner_of)
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
    owner_of: OwnerOf,
) -> dict[int, list[Step]]:
    """Place tool spans that no step asked for: into a step that may have, else as steps of their own.

    Returns the own steps by the block that they follow, -1 for the front.
    """
    after: dict[int, list[Step]] = {}
    open_steps = [block[-1].may_have_asked_more for block in blocks]
    owners = [owner_of(block[-1].call.key) if block[-1].call else None for block in blocks]
    retellings = Retellings(binding.bound.values() if tools else ())
    for tool in tools:
        at = binding.home(tool)
        known = retellings.again(tool, at)
        bound[tool.key] = known or unasked(tool)
        if known is not None:
            known.bind(tool)  # a paused call and its end, two instrumentations, or one span exported twice
            continue
        retellings.add(tool, at, bound[tool.key])
        owner = owner_of(tool.key)
        if at is not None and open_steps[at] and (owner not in owners or owner is owners[at]):
            blocks[at][-1].asked.append(bound[tool.key])
            continue
        name = _name_of(owner) or tool.agent_name
        step = Step("agent", tool.start_ns, asked=[bound[tool.key]], counted=0, agent=name)
        after.setdefault(-1 if at is None else at, []).append(step)
    return after


# ---- subagents -----------------------------------------------------------------------------------


def child_step(child: Child, name: str, trajectory_id: str) -> Step:
    """Return the system step that refers to a subagent which no tool call ran for."""
    extra = {"atifold": {"member": name}}
    return Step("system", child.thread.piece.start_ns, subagents=(trajectory_id,), extra=extra)


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
