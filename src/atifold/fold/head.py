"""Tell what stands at the head of a document: names, ids, and what its agent and the fold say of the whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from atifold.calls import AgentCall, Call
from atifold.filename import file_stem
from atifold.fold.beside import lookups_and_scores
from atifold.fold.render import failure_fact
from atifold.fold.scopes import Scopes
from atifold.fold.threads import Thread, calls_of


class Head:
    """What stands at the head of a document: names, ids and the facts of its agent."""

    def __init__(self, thread: Thread, scopes: Scopes) -> None:
        """Take the thread that the document is written of."""
        self.thread = thread
        self._scopes = scopes
        everyone = list(thread.agents)
        everyone += [thread.workflow] if thread.workflow else []
        everyone += thread.outer
        self.agents: list[AgentCall] = everyone
        calls = sorted(thread.calls, key=lambda call: scopes.rank[call.key])
        calls = calls or [thread.children[0].thread.calls[0]]
        self.root: Call = calls[0]
        named = [a.agent for a in everyone]
        named += [m.agent_name for m in thread.models] + [t.agent_name for t in thread.tools]
        spans = [a.name for a in thread.agents if not a.workflow]
        fallbacks = [*spans, thread.hint, *(call.service for call in calls), "unknown"]
        self.agent_name = next(name for name in (*named, *fallbacks) if name)
        versions = [a.agent_version for a in everyone] + [call.service_version for call in calls] + ["unknown"]
        self.agent_version = next(version for version in versions if version)
        models = [a.model for a in everyone if not thread.models] + [m.model for m in thread.models]
        self.model = next((model for model in (*(a.model for a in everyone), *models) if model), None)
        self.conversation = next((c.conversation for c in (*everyone, *calls) if c.conversation), None)
        here = {agent.key for agent in everyone}  # a later leg's run is not the one that started it all
        begun = (a for a in (*thread.outer[::-1], *everyone) if a.resumes not in here)
        self.run_id = next((a.run_id for a in begun if a.run_id), None)

    def trajectory_id(self, taken: set[str], outer_run_id: str | None) -> str:
        """Return the document's id and take it: by run where it has one of its own, else by span."""
        by_span = file_stem(f"{self.root.key[0]}-{self.root.key[1]}")
        by_run = file_stem(f"{self.run_id}-{self.root.key[0][:8]}")
        chosen = by_run if self.run_id and self.run_id != outer_run_id and by_run not in taken else by_span
        while chosen in taken:
            chosen = file_stem(f"{chosen}_")
        taken.add(chosen)
        return chosen

    def extra(self) -> dict[str, Any]:
        """Return the document's `extra`: the facts of its agent, and ours under `atifold`."""
        found: dict[str, Any] = {}
        first = self.thread.workflow or (self.thread.agents[0] if self.thread.agents else None)
        legs = {first.key, *(leg.key for leg in self._scopes.legs.get(first.key, ()))} if first else set()
        own = (self.thread.workflow,) if self.thread.workflow else ()
        later = tuple(a for a in self.thread.outer if own and a.key in legs)
        around = (a for a in self.thread.outer[::-1] if a not in later)
        for agent in (*around, *own, *later, *self.thread.agents):
            found.update(agent.extra if agent.key in legs else {k: v for k, v in agent.extra.items() if k not in found})
        found.update(lookups_and_scores(self.agents))
        failed = next((a.failure for a in self.agents[::-1] if a.failure), None)
        if failed:
            found["error"] = failure_fact(failed)
        return {**found, "atifold": {**found.get("atifold", {}), **self._own_facts()}}

    def _own_facts(self) -> dict[str, Any]:
        """Return what the fold itself has to say in the document."""
        calls = list(calls_of(self.thread))
        facts: dict[str, Any] = {
            "trace_ids": sorted({call.key[0] for call in calls}),
            "dialects": sorted({call.dialect for call in calls}),
        }
        reasons = reasons_of(calls)
        if reasons:
            facts["incomplete"] = reasons
        if is_paused(self.thread):
            facts["state"] = "paused"
        resumed = next((a.resumes for a in self.agents if a.resumes and a.resumes not in self._scopes.calls), None)
        if resumed:
            facts["resumes"] = {"trace_id": resumed[0], "span_id": resumed[1]}
        if self.conversation:
            facts["conversation_id"] = self.conversation
        return facts


def reasons_of(calls: Sequence[Call]) -> list[str]:
    """Return why the calls are unfinished, each reason once, in alphabetical order."""
    reasons = {reason for call in calls for reason in call.incomplete}
    reasons |= {f"never ended: {call.name}" for call in calls if call.end_ns is None}
    return sorted(reasons)


def is_paused(thread: Thread) -> bool:
    """Tell whether the last leg of a thread's agent, or of the workflow around it, waits."""
    resumed = {agent.resumes for agent in thread.outer}
    own = [thread.workflow] if thread.workflow and thread.workflow.key not in resumed else []
    last = [group[-1] for group in (thread.agents, thread.outer, own) if group]
    return any(agent.paused for agent in last) or any(is_paused(child.thread) for child in thread.children)
