"""Write a thread, with its subagents, as one ATIF-v1.7 document and its report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from atifold.atif.versions import WRITTEN
from atifold.calls import AgentCall, ModelCall, ToolCall
from atifold.fold.definitions import definitions
from atifold.fold.doubts import Doubts
from atifold.fold.figures import final_metrics, holds_cost, holds_tokens
from atifold.fold.head import Head, is_paused, reasons_of
from atifold.fold.kinship import Kinship
from atifold.fold.pictures import Pictures
from atifold.fold.render import Writer
from atifold.fold.report import Words
from atifold.fold.scopes import ScopeKey, Scopes
from atifold.fold.steps import child_step, insert, steps_of
from atifold.fold.threads import Child, Thread, calls_of
from atifold.fold.told import untold_answer
from atifold.spans import SpanKey

_NO_SUM: Final = "total cost: a step with tokens has no cost, so there is no sum"
_TWIN_MODEL: Final = "a model call may be the one around it or beside it, told twice: nothing tells them apart"
_TWIN_TOOL: Final = "a tool call may be one that a model asked for elsewhere, told again"
_SURPLUS: Final = "a model call may count too many tokens: its writer estimates them, or counts some of a stream twice"
_CHOICES: Final = "the answers of a model call may be alternatives of which one was taken: nothing tells"
_STAND_IN: Final = "what the agent's span tells may be the answer of a model call that no agent owns"


@dataclass(frozen=True, slots=True)
class Document:
    """One trajectory, and what the fold has to say about it.

    `name` is the file's stem and the trajectory's id. `trajectory` is a plain dict of JSON values
    in ATIF's order of keys. `incomplete` says that something was still open. `files` are those that it
    names, by their path seen from its folder. `kinship` gives, by trace id, the facts by which other traces are found
    that its own carry on, where anybody asked for them.
    """

    name: str
    trajectory: dict[str, Any]
    trace_ids: tuple[str, ...]
    report: dict[str, Any]
    incomplete: bool
    files: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    kinship: Mapping[str, Kinship] = field(default_factory=dict[str, Kinship])


def write(
    thread: Thread, scopes: Scopes, doubts: Doubts, taken: set[str], pictures: Pictures | None = None
) -> Document | None:
    """Return the document of a root thread, None when no step came of it; `taken` are names in use.

    `pictures` takes the images that the trace holds as data.
    """
    author = _Author(scopes, doubts, pictures)
    trajectory = author.document(thread, taken, session=None, run_id=None)
    if trajectory is None:
        return None
    everything = list(calls_of(thread))
    trace_ids = tuple(sorted({call.key[0] for call in everything}))
    reasons = reasons_of(everything)
    counts = Counter(_KINDS[type(call)] for call in everything)
    report: dict[str, Any] = {
        "name": trajectory["trajectory_id"],
        "trace_ids": list(trace_ids),
        "dialects": dict(sorted(Counter(call.dialect for call in everything).items())),
        "calls": dict(sorted(counts.items())),
    }
    if author.subagents:
        report["subagents"] = author.subagents
    if reasons:
        report["incomplete"] = reasons
    report.update(author.words.as_lists())
    incomplete = bool(reasons) or is_paused(thread)
    files = pictures.files if pictures else {}
    return Document(trajectory["trajectory_id"], trajectory, trace_ids, report, incomplete, files)


_KINDS: Final[Mapping[type, str]] = {ModelCall: "model", ToolCall: "tool", AgentCall: "agent"}


class _Author:
    """Write one root document; the words of its subagents are its own too."""

    def __init__(self, scopes: Scopes, doubts: Doubts, pictures: Pictures | None) -> None:
        self._scopes = scopes
        self._doubts = doubts
        self._pictures = pictures
        self._owners: dict[ScopeKey, AgentCall | None] = {}
        self.words = Words()
        self.subagents = 0

    def document(
        self, thread: Thread, taken: set[str], *, session: str | None, run_id: str | None
    ) -> dict[str, Any] | None:
        """Return the trajectory of a thread, None when it has no step.

        `session` and `run_id` are those of the document around it.
        """
        head = Head(thread, self._scopes)
        trajectory_id = head.trajectory_id(taken, run_id)
        if self._pictures is not None and not self._pictures.folder:
            self._pictures.folder = trajectory_id
        session = head.conversation or session or head.run_id or head.root.key[0]
        below = [
            (child, self.document(child.thread, taken, session=session, run_id=head.run_id or run_id))
            for child in self._in_order(thread.children)
        ]
        made = steps_of(thread, self._owner, self.words)
        self.words.say("unsure", _TWIN_MODEL, self._doubts.models(thread.models))
        self.words.say("unsure", _SURPLUS, self._doubts.surplus(thread.models))
        self.words.say("unsure", _CHOICES, self._doubts.choices(thread.models))
        self.words.say("unsure", _TWIN_TOOL, self._doubts.tools(made.steps))
        self.words.say("unsure", _STAND_IN, self._doubts.stand_ins(made.steps))
        references: dict[int, list[str]] = {}
        late = []
        for child, sub in below:
            asked = made.bound.get(child.under) if child.under else None
            if sub is None:
                continue
            if asked is not None:
                references.setdefault(id(asked), []).append(sub["trajectory_id"])
            else:
                late.append(child_step(child, sub["agent"]["name"], sub["trajectory_id"]))
        subs = [sub for _, sub in below if sub is not None]
        if thread.workflow is not None:
            made.answer = untold_answer(thread.workflow, list(_said_in(subs)), self.words)
        self.subagents += len(subs)
        steps = Writer(head.model, head.agent_name, references, self.words, self._pictures).write(
            insert(made.steps, late)
        )
        if not steps:
            taken.discard(trajectory_id)
            return None
        return self._whole(head, trajectory_id, session, steps, subs, answer=made.answer)

    def _whole(
        self,
        head: Head,
        trajectory_id: str,
        session: str,
        steps: list[dict[str, Any]],
        subs: list[dict[str, Any]],
        *,
        answer: str | None,
    ) -> dict[str, Any]:
        """Return the trajectory's fields, in ATIF's order."""
        agent: dict[str, Any] = {"name": head.agent_name, "version": head.agent_version}
        if head.model:
            agent["model_name"] = head.model
        offers = [call.tools for call in head.thread.models] + [a.tools for a in head.thread.agents]
        tools, unread = definitions([offer for offer in offers if offer])
        if tools:
            agent["tool_definitions"] = tools
        self.words.say("left_out", "a tool definition that has no name", unread)
        document: dict[str, Any] = {
            "schema_version": WRITTEN,
            "session_id": session,
            "trajectory_id": trajectory_id,
            "agent": agent,
            "steps": steps,
            "final_metrics": final_metrics(steps, subs),
        }
        if subs:
            document["subagent_trajectories"] = subs
        document["extra"] = head.extra()
        if answer is not None:
            document["extra"]["atifold"]["answer"] = answer
        self._say(head, document)
        return document

    def _say(self, head: Head, document: Mapping[str, Any]) -> None:
        """Say what a document leaves open."""
        if head.agent_name == "unknown":
            self.words.say("missing", "no span names the agent")
        if head.agent_version == "unknown":
            self.words.say("missing", "no span gives the agent's version")
        if "total_cost_usd" not in document["final_metrics"] and holds_tokens(document):
            priced = holds_cost(document)
            self.words.say("missing", _NO_SUM if priced else "no span tells a cost")
        orphans = sum(call.orphan for call in head.thread.calls)
        self.words.say("unsure", "the parent of a call is not among the spans", orphans)
        self.words.say("missing", "no model call tells its tokens", int(_lacks_tokens(head.thread, document)))

    def _owner(self, key: SpanKey) -> AgentCall | None:
        """Return the agent around a call, or the workflow."""
        place = self._scopes.place[key]
        if place not in self._owners:
            self._owners[place] = self._scopes.owner(key)
        return self._owners[place]

    def _in_order(self, children: Sequence[Child]) -> list[Child]:
        """Return children in order of their start."""
        return sorted(children, key=lambda c: min(self._scopes.rank[call.key] for call in c.thread.calls))


def _said_in(documents: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the texts that the agents of documents said, those of the embedded ones included."""
    for document in documents:
        yield from _said_in(document.get("subagent_trajectories", ()))
        told = (step["message"] for step in document["steps"] if step["source"] == "agent")
        yield from (text for text in told if isinstance(text, str))


def _lacks_tokens(thread: Thread, document: Mapping[str, Any]) -> bool:
    """Tell whether a thread has model calls and none of them counts tokens."""
    return bool(thread.models) and "total_prompt_tokens" not in document["final_metrics"]
