"""Give calls the results that only their agent's own span tells: those of tools that ended its run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from atifold.calls import AgentCall
from atifold.fold.messages import plain_id, responses_of
from atifold.fold.toolcalls import Step


def put_late_results(steps: Sequence[Step], agents: Iterable[AgentCall]) -> None:
    """Attach results in what came out of agents to calls without any, by an id that one call alone has.

    No request follows the last answer of a run, so that no history shows the result of what it asked
    for; nor is there a span of a tool that does nothing but end the run (pydantic-ai's output tools).
    """
    asked = [asked for step in steps for asked in step.asked if asked.id]
    counts = Counter(plain_id(each.id or "") for each in asked)
    waiting = {
        plain_id(each.id or ""): each
        for each in asked
        if each.told is None and each.span is None and each.inline is None and counts[plain_id(each.id or "")] == 1
    }
    if not waiting:
        return
    for agent in agents:
        for response in (response for message in agent.output or () for response in responses_of(message)):
            found = waiting.get(plain_id(response.id)) if response.id else None
            if found is not None:
                found.told = response
