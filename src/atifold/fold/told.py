"""Use what only the agents' own spans tell: what went in, what came out, usage and cost of the whole run."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from atifold.calls import AgentCall, Message, ModelCall, Reasoning, Text, Usage
from atifold.fold.figures import metrics, metrics_of
from atifold.fold.messages import Mark, spoken, system_texts, text_of, user_marks
from atifold.fold.report import Words
from atifold.fold.threads import Thread
from atifold.fold.toolcalls import Step
from atifold.spans import SpanKey

OwnerOf = Callable[[SpanKey], "AgentCall | None"]
"""Return the agent that a call belongs to, None where there is none."""

_ANSWER: Final = "the agent's answer is not what its model calls said: it stands in `extra.atifold.answer`"


class Turns:
    """Tell where a new turn of a thread begins, in order of its model calls: with an agent's own input."""

    def __init__(self, owner_of: OwnerOf) -> None:
        """Start before the first call."""
        self._owner_of = owner_of
        self._known: set[SpanKey] = set()
        self._last: AgentCall | None = None

    def prompt(self, call: ModelCall) -> tuple[Mark | None, bool]:
        """Return (the mark of the prompt that the agent's span tells, whether it opens a turn after another).

        Both only at an agent's first call; None where the agent tells none or carries on a paused one.
        """
        owner = self._owner_of(call.key)
        if owner is None or owner.key in self._known:
            return None, False
        after = is_next_run(self._last, owner)
        self._known.add(owner.key)
        self._last = owner
        message = prompt_of(owner)
        if message is None or owner.resumes:
            return None, False
        return next(iter(user_marks(message))), after


def is_next_run(before: AgentCall | None, agent: AgentCall) -> bool:
    """Tell whether an agent is another run than the one before it, begun when that had ended.

    Within one run, agents that hand over to each other may be told the same prompt.
    """
    if before is None or before.end_ns is None or before.end_ns > agent.start_ns or agent.handoff:
        return False
    return before.key[0] != agent.key[0] or bool(before.run_id and agent.run_id and before.run_id != agent.run_id)


def prompt_of(agent: AgentCall) -> Message | None:
    """Return the last user's message of what went into an agent, None where it is not known."""
    return next((message for message in reversed(agent.input or ()) if message.role == "user"), None)


# ---- what went in --------------------------------------------------------------------------------


def told_input(agents: Sequence[AgentCall]) -> list[Step]:
    """Return the system and user steps of what went into agents, each message once."""
    steps: list[Step] = []
    for agent in agents:
        steps += [step for step in _steps_of(agent) if not _said(steps, step)]
    return steps


def _steps_of(agent: AgentCall) -> list[Step]:
    """Return the system and user steps of what went into one agent."""
    told = [Message("system", (Text(agent.system),))] if agent.system else []
    told += [message for message in agent.input or () if message.role in ("system", "user")]
    return [Step(message.role, agent.start_ns, (message,)) for message in told]


def _said(steps: Sequence[Step], step: Step) -> bool:
    """Tell whether a step's message stands among the steps already."""
    return any(step.messages == other.messages for other in steps)


def put_told_input(blocks: Sequence[list[Step]], thread: Thread, owner_of: OwnerOf, words: Words) -> None:
    """Put what went into each agent before its first inference, as far as no request tells it."""
    if not blocks:
        return
    first, silent = _first_calls(blocks, owner_of)
    untold = {"system"} if not any(system_texts(call) for call in thread.models) else set()
    all_silent = all(call.input is None for call in thread.models)
    said: list[Step] = []
    places: Counter[int] = Counter()
    before: AgentCall | None = None
    for agent in (*thread.agents, *thread.outer):
        wanted = untold | {"user"} if all_silent or agent.key in silent else untold
        known = [step for step in said if step.source == "system"] if is_next_run(before, agent) else said
        told = [step for step in _steps_of(agent) if step.source in wanted and not _said(known, step)]
        at = first.get(agent.key, 0)
        blocks[at][places[at] : places[at]] = told
        places[at] += len(told)
        said += told
        before = agent
    for source in sorted({step.source for step in said}):
        words.say("inferred", f"the {source} step is what the agent's span tells: no model call tells its own")


def _first_calls(blocks: Sequence[Sequence[Step]], owner_of: OwnerOf) -> tuple[dict[SpanKey, int], set[SpanKey]]:
    """Return (the place of each agent's first model call, the agents none of whose requests is known)."""
    first: dict[SpanKey, int] = {}
    heard: set[SpanKey] = set()
    for at, block in enumerate(blocks):
        call = block[-1].call
        owner = owner_of(call.key) if call else None
        if call is None or owner is None:
            continue
        first.setdefault(owner.key, at)
        if call.input is not None:
            heard.add(owner.key)
    return first, first.keys() - heard


def put_openings_first(blocks: Sequence[list[Step]], after: Mapping[int, list[Step]], owner_of: OwnerOf) -> None:
    """Let an agent's prompt stand before the tools that it ran before its first inference.

    `after` holds the tools' own steps by the block that they follow, -1 for the front. The prompt is the
    agent's own input: where the first request tells another, that one stays where it is.
    """
    begun: set[SpanKey] = set()
    for at, block in enumerate(blocks):
        call = block[-1].call
        owner = owner_of(call.key) if call else None
        prompt = prompt_of(owner) if owner and owner.key not in begun and after.get(at - 1) else None
        begun |= {owner.key} if owner else set()
        if owner is None or prompt is None or owner.resumes:
            continue
        before = after[at - 1]
        place = next((n for n, step in enumerate(before) if _ran_in(step, owner, owner_of)), None)
        if place is None:
            continue
        opening = _opening(block, prompt)
        del block[: len(opening)]
        if not any(user_marks(message) == user_marks(prompt) for step in opening for message in step.messages):
            opening.append(Step("user", owner.start_ns, (prompt,)))
        for step in opening:
            step.time_ns = min(step.time_ns, owner.start_ns)
        before[place:place] = opening


def _ran_in(step: Step, owner: AgentCall, owner_of: OwnerOf) -> bool:
    """Tell whether the tool of a step of its own belongs to an agent."""
    return any(asked.span is not None and owner_of(asked.span.key) is owner for asked in step.asked)


def _opening(block: Sequence[Step], prompt: Message) -> list[Step]:
    """Return the steps of a block up to the prompt; where it is not among them, the instructions that lead it."""
    marks = user_marks(prompt)
    until = next((n for n in range(len(block) - 1, 0, -1) if _tells(block[n - 1], marks)), None)
    if until is None:
        until = next((n for n, step in enumerate(block) if step.source != "system"), 0)
    return list(block[:until])


def _tells(step: Step, marks: set[Mark]) -> bool:
    """Tell whether a step is the user's message of these marks."""
    return step.source == "user" and any(user_marks(message) == marks for message in step.messages)


# ---- what came out -------------------------------------------------------------------------------


def put_told_output(steps: list[Step], thread: Thread, words: Words) -> str | None:
    """Give the agent's answer to its last inference where that does not tell its own, else a step.

    Returns the answer where the steps say another one.
    """
    agent = next((a for a in reversed((*thread.outer[::-1], *thread.agents)) if a.output), None)
    answer = _answer_of(agent)
    claimed = claimed_metrics(thread)
    last = next((s for s in reversed(steps) if s.call), None)
    if last is None and (answer or claimed):
        end = max((a.end_ns or a.start_ns for a in (*thread.agents, *thread.outer)), default=0)
        last = Step("agent", end, (*_earlier_thoughts(agent), *answer))
        steps.append(last)
        words.say("inferred", "the last step is what the agent's span tells of model calls that were not traced")
    elif last is not None and answer and _tells_nothing(last):
        last.messages = answer
        words.say("inferred", "the last message is the agent span's output: the model call does not tell its own")
    if last is not None and claimed:
        last.claimed = claimed
        words.say("unsure", "usage only on the container (the agent's span): it stands on the last step, for all")
    said = [text_of(step.messages) for step in steps if step.source == "agent"]
    _put_earlier_answers(steps, [a for a in thread.agents if a is not agent], said, words)
    return untold_answer(agent, said, words)


def _put_earlier_answers(steps: Sequence[Step], agents: Sequence[AgentCall], said: Sequence[str], words: Words) -> None:
    """Keep the answers of turns before the last one, where no step says them, on the last step of their time."""
    for agent in agents:
        answer = untold_answer(agent, said, words) if agent.output and agent.end_ns is not None else None
        own = (s for s in reversed(steps) if s.call and agent.start_ns <= s.time_ns <= (agent.end_ns or 0))
        last = next(own, None) if answer is not None else None
        if last is not None:
            last.extra["atifold"] = {**last.extra.get("atifold", {}), "answer": answer}


def _answer_of(agent: AgentCall | None) -> tuple[Message, ...]:
    """Return the last message of the model in what came out of an agent, as a tuple of none or one."""
    return tuple(m for m in (agent.output or () if agent else ()) if m.role == "assistant" and m.parts)[-1:]


def _earlier_thoughts(agent: AgentCall | None) -> tuple[Message, ...]:
    """Return what the model thought before its answer, as an agent's span tells it: none or one message."""
    earlier = [m for m in (agent.output or () if agent else ()) if m.role == "assistant" and m.parts][:-1]
    thoughts = tuple(part for message in earlier for part in message.parts if isinstance(part, Reasoning))
    return (Message("assistant", thoughts),) if thoughts else ()


def untold_answer(agent: AgentCall | None, said: Sequence[str], words: Words) -> str | None:
    """Return an agent's answer where it is not what was said, white space folded; None where it is.

    An answer that is a part of what was said is told, and so is one of which the last message, or all
    of them together, are a part.
    """
    answer = text_of(_answer_of(agent))
    told = spoken(answer)
    texts = [spoken(text) for text in said]
    last, joined = (texts[-1] if texts else ""), " ".join(text for text in texts if text)
    if not told or any(text and (_holds(text, told) or _holds(told, text)) for text in (last, joined)):
        return None
    words.say("unsure", _ANSWER)
    return answer


def _holds(text: str, part: str) -> bool:
    """Tell whether a part stands in a text, not as a piece of a word: `4` does not stand in `42`."""
    at = text.find(part)
    while at >= 0:
        end = at + len(part)
        if not (text[at - 1 : at].isalnum() or text[end : end + 1].isalnum()):
            return True
        at = text.find(part, at + 1)
    return False


def _tells_nothing(step: Step) -> bool:
    """Tell whether an inference succeeded and its output is not known."""
    return step.call is not None and step.call.output is None and step.call.failure is None and not step.messages


# ---- usage of the whole run ----------------------------------------------------------------------


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
