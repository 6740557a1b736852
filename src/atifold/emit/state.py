"""Hold what is open: runs, the agents and compositions in them, their model calls and tools."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from atifold import semconv
from atifold.emit.history import History, JsonMessage
from atifold.emit.record import Facts, Moment, Record, no_facts
from atifold.emit.tally import Calls, Offers
from atifold.events.stream import LLMUsage

Path = tuple[str, ...]
"""A runner's branch: the nested subflows that lead to it."""


class Asked(NamedTuple):
    """One call that a model asked for; ids are the model's own and may repeat."""

    id: str | None
    name: str
    arguments: Any


@dataclass(slots=True, eq=False)
class Chat:
    """One inference, until its span is sealed; `settling` says that more is told of it after its end."""

    record: Record
    path: Path
    stage_id: str
    provider: str
    messages_count: int | None
    ended: bool = False
    failed: bool = False
    settling: bool = False
    text: str | None = None
    finish: str | None = None
    reasoning: list[dict[str, Any]] = field(default_factory=list)
    told: list[Asked] = field(default_factory=list)
    started: list[Asked] = field(default_factory=list)
    usage: LLMUsage | None = None
    chunks: int = 0
    cost_usd: float | None = None

    @property
    def iteration(self) -> int | None:
        """Return the number of the agent's round, None where it was not told."""
        found: int | None = self.record.attributes.get(semconv.ITERATION)
        return found

    @property
    def response_id(self) -> str | None:
        """Return the provider's id of the answer, None where it was not told."""
        found: str | None = self.record.attributes.get(semconv.RESPONSE_ID)
        return found

    def awaited(self) -> set[str]:
        """Return the ids of calls that were asked for and have not started."""
        started = {call.id for call in self.started}
        return {call.id for call in self.told if call.id and call.id not in started}

    def asked(self) -> list[Asked]:
        """Return the calls in the order of asking: those that were told of, then others that started."""
        told = {call.id for call in self.told}
        if len(told) == len(self.told) and told.issuperset([call.id for call in self.started]):
            return self.told
        left = Counter(call.id for call in self.told)
        calls = list(self.told)
        for call in self.started:
            if left[call.id]:
                left[call.id] -= 1
            else:
                calls.append(call)
        return calls


@dataclass(slots=True, eq=False)
class Tool:
    """One execution of a tool, until its span is sealed; `called` says that an agent was found to run inside it."""

    owner: Owner
    record: Record
    call_id: str
    name: str
    arguments: Any
    stage_id: str = ""
    ended: bool = False
    refused: bool = False
    called: bool = False


@dataclass(slots=True, eq=False)
class Talk:
    """What is known of one branch's conversation, and what its next request was filled with.

    `hidden` are the places of answers that a policy kept back; `lacking` names the attributes of the
    next request from which a redaction withheld something; `forked` says that the last request was
    made while another one was not answered. `told` is how many messages the history of the last
    iteration had, `told_last` the last of them: a request may show a part of it, or more.
    """

    history: History = field(default_factory=History)
    known: list[JsonMessage] = field(default_factory=list)
    injected: dict[int, JsonMessage] = field(default_factory=dict)
    system: list[str] = field(default_factory=list)
    prompt: str | None = None
    hidden: set[int] = field(default_factory=set)
    lacking: tuple[str, ...] = ()
    forked: bool = False
    told: int = 0
    told_last: JsonMessage | None = None


@dataclass(slots=True, eq=False)
class Owner:
    """An agent's turn or a composition, until its span is sealed.

    `waiting` and `coming` are facts of the next inference; `discoveries` are open, by provider;
    `asked` are ids of calls that sealed inferences asked for and that have not started.
    `record` is None for the stand-in that holds the model calls of a run without an agent.
    """

    kind: Literal["agent", "workflow", "none"]
    path: Path
    name: str
    record: Record | None
    run: RunState
    talks: dict[Path, Talk] = field(default_factory=dict)
    chats: list[Chat] = field(default_factory=list)
    tools: list[Tool] = field(default_factory=list)
    held: list[Record] = field(default_factory=list)
    waiting: list[Moment] = field(default_factory=list)
    calls: Calls = field(default_factory=Calls)
    coming: Facts = field(default_factory=no_facts)
    discoveries: dict[str, Record] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    stage_id: str = ""
    ended: bool = False

    def talk(self, path: Path) -> Talk:
        """Return the conversation of one branch; an agent's own is that of its path."""
        found = self.talks.get(path)
        if found is None:
            found = self.talks[path] = Talk()
        return found

    def carry_on(self, paused: Owner) -> None:
        """Count on where a paused leg stopped: the turn is one, and its tools are what that leg offered."""
        self.calls.inference_calls = paused.calls.inference_calls
        self.calls.tool_calls = paused.calls.tool_calls
        self.calls.model = paused.calls.model
        self.run.offers.add_all(paused.run.offers)

    def chat(self, path: Path | None = None) -> Chat | None:
        """Return the newest unsealed inference, of one branch where a path is given."""
        for chat in reversed(self.chats):
            if path is None or chat.path == path:
                return chat
        return None

    def chat_of(self, iteration: object, path: Path | None = None) -> Chat | None:
        """Return the unsealed inference of an iteration, else the newest: inferences may overlap."""
        if iteration is not None and len(self.chats) > 1:
            for chat in reversed(self.chats):
                if chat.iteration == iteration and (path is None or chat.path == path):
                    return chat
        return self.chat(path)

    def asker(self, call_id: str) -> Chat | None:
        """Return the unsealed inference that a call is of: that which asked for it, else the newest that can have.

        None where a sealed one asked for it.
        """
        chats = self.chats
        awaited = call_id in self.asked
        if len(chats) == 1 and not awaited:
            return chats[0]
        if awaited or chats:
            for chat in reversed(chats):
                if any(call.id == call_id for call in chat.told):
                    return chat
            if awaited:
                self.asked.discard(call_id)
                return None
        return next((chat for chat in reversed(chats) if chat.ended), chats[-1] if chats else None)


@dataclass(slots=True, eq=False)
class Leg:
    """What a paused run leaves for the run that resumes it: what was open, owners outermost first."""

    run_id: str
    session_id: str | None
    route: Path
    owners: list[Owner]
    tools: dict[str, Tool]
    paused_ns: int = 0
    said: list[Moment] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class RunState:
    """One run id: everything of it that is open."""

    run_id: str
    first_ns: int
    last_ns: int
    route: Path = ()
    owners: list[Owner] = field(default_factory=list)
    configured: Facts = field(default_factory=no_facts)
    flavors: dict[str, str] = field(default_factory=dict)  # of its memories, by id
    agent_name: str | None = None
    session_id: str | None = None
    identity: dict[str, str] = field(default_factory=dict)
    owner_identity: dict[str, str] = field(default_factory=dict)
    waiting: dict[str, list[Moment]] = field(default_factory=dict)
    coming: dict[str, Facts] = field(default_factory=dict)
    told_once: set[tuple[str, str]] = field(default_factory=set)
    resumed: dict[str, Tool] = field(default_factory=dict)
    offers: Offers = field(default_factory=Offers)
    sequence: int = 0
    ends_with_disposition: bool = False

    def take_configuration(self) -> Facts:
        """Return what the run was configured with, once: for the span of its outermost agent."""
        facts, self.configured = self.configured, no_facts()
        return facts

    def owner(self, path: Path) -> Owner | None:
        """Return the open agent or composition whose path is the longest prefix of `path`."""
        owners = self.owners
        if len(owners) == 1 and not owners[0].path:
            return owners[0]
        best: Owner | None = None
        for owner in owners:
            size = len(owner.path)
            if path[:size] == owner.path and (best is None or size >= len(best.path)):
                best = owner
        return best

    def open_tools(self) -> Iterator[Tool]:
        """Yield the tools that were started and have not ended."""
        for owner in self.owners:
            for tool in owner.tools:
                if not tool.ended:
                    yield tool

    def unended(self, call_id: str, stage_id: str, path: Path) -> Tool | None:
        """Return the execution of a call that an end ends: of its own stage, else the newest as in `tool`.

        Ids may repeat: of a call that was started twice the end names the stage.
        """
        newest = self.tool(call_id, path)
        if newest is None or (newest.stage_id == stage_id and not newest.ended):
            return newest
        open_ones = [tool for tool in self.open_tools() if tool.call_id == call_id]
        own = [tool for tool in open_ones if tool.stage_id == stage_id]
        found = own or [tool for tool in open_ones if tool.owner is newest.owner]
        return found[-1] if found else None

    def tool(self, call_id: str, path: Path = ()) -> Tool | None:
        """Return the newest unsealed execution of a call: on the event's own branch, else on any.

        Parallel branches may use one id each, for calls of their own.
        """
        own = self.owner(path)
        if own is not None:
            for tool in reversed(own.tools):
                if tool.call_id == call_id:
                    return tool
        for owner in reversed(self.owners):
            for tool in reversed(owner.tools):
                if tool.call_id == call_id:
                    return tool
        return None


def base_path(path: Path) -> Path:
    """Return a branch without the parts that are stages of a runner, not runners (`final`, `sf-…`)."""
    for index, part in enumerate(path):
        if part == "final" or part.startswith("sf-"):
            return path[:index]
    return path


def branch_name(path: Path) -> str:
    """Return the name of the runner on a branch: its last part, without the sequence's `step-`."""
    return path[-1].removeprefix("step-") if path else ""
