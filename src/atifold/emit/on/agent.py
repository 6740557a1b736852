"""Handle the events of agents' turns and of what they inject into a request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from opentelemetry.context import Context

from atifold import semconv
from atifold.emit.caller import calling_tool
from atifold.emit.facts import facts_of, held
from atifold.emit.history import from_injection, text_part
from atifold.emit.machine import Machine
from atifold.emit.messages import learn_calls, learn_history
from atifold.emit.on.tools import name_cut_tools
from atifold.emit.reasons import ABANDONED, STOPPED, STOPS
from atifold.emit.record import Record, add
from atifold.emit.redaction import is_redacted, withheld_names
from atifold.emit.state import Owner, RunState, branch_name
from atifold.events.agent import AgentIterationEnd, AgentTurnEnd, AgentTurnStart
from atifold.events.context import ContextInjected
from atifold.events.envelope import Event
from atifold.jsontext import to_json_text, words
from atifold.kinds import field, is_list

_TURN_TOTALS = frozenset(
    {"turnIndex", "finalContent", "totalInputTokens", "totalOutputTokens", "durationMs", "iterationCount"}
)


def run_configured(machine: Machine, event: Event[Any]) -> None:
    """Hold a run's configuration until its agent's span is there."""
    run = machine.run(event.meta)
    run.ends_with_disposition = True
    add(run.configured, facts_of(event))
    run.flavors.update(_flavors(event))
    name = run.configured.structure.get("agentfootprint.agent.agent_id")
    run.agent_name = str(name) if name else run.agent_name


def _flavors(event: Event[Any]) -> Iterator[tuple[str, str]]:
    """Yield the id and the flavor of each memory that tells both: recall or retrieval."""
    memories = field(event.payload.to_wire(), "memories")
    for memory in memories if is_list(memories) else ():
        told = field(memory, "id"), field(memory, "flavor")
        if isinstance(told[0], str) and isinstance(told[1], str):
            yield told[0], told[1]


def turn_start(machine: Machine, event: Event[AgentTurnStart]) -> None:
    """Open the agent's span: under its composition, under the tool that called it, or on its own."""
    payload = event.payload
    meta = event.meta
    run = machine.run(meta)
    path = meta.subflow_path
    prompt = payload.user_prompt
    extra = payload.__pydantic_extra__ or {}
    parent, inferred = _parent(machine, run, event, extra) if run.owner(path) is None else (None, False)
    owner = machine.open_agent(run, path, _name(run, event), meta.time_ns, parent=parent)
    owner.stage_id = meta.runtime_stage_id
    record = owner.record
    if record is None:
        return
    if meta.runtime_stage_id:
        machine.by_stage[run.run_id, meta.runtime_stage_id] = record
    if inferred:
        record.attributes[semconv.INFERRED] = ("parent: the prompt equals an argument of the tool call above",)
    if parent is not None or "atifold.callerRun" in extra:
        record.attributes[semconv.DELEGATED] = True
    version = extra.get("atifold.agentVersion")
    if version is not None:
        record.attributes[semconv.AGENT_VERSION] = words(version)
    if not path:
        record.take(run.take_configuration())
    record.lack(withheld_names(event))
    if prompt is not None:
        owner.talk(path).prompt = prompt
        record.content[semconv.INPUT_MESSAGES] = to_json_text([{"role": "user", "parts": [text_part(prompt)]}])


def _parent(
    machine: Machine, run: RunState, event: Event[AgentTurnStart], extra: dict[str, Any]
) -> tuple[Record | Context | None, bool]:
    run_id, call_id = extra.get("atifold.callerRun"), extra.get("atifold.callerTool")
    caller = (run_id, call_id) if isinstance(run_id, str) and run_id != run.run_id else None
    # what a redaction wrote there may stand in any other place too
    prompt = None if is_redacted(event, "userPrompt") else event.payload.user_prompt
    return calling_tool(machine, event.meta, prompt, caller)


def _name(run: RunState, event: Event[Any]) -> str:
    path = event.meta.subflow_path
    if path:
        return branch_name(path)
    kind, _, name = (event.meta.composition_path or ("",))[0].partition(":")
    return run.agent_name or (name if kind == "Agent" else "") or "agent"


def turn_end(machine: Machine, event: Event[AgentTurnEnd]) -> None:
    """End the agent's span.

    A run that began with `run_configured` ends with `integrity.disposition`, which seals it; of any
    other nothing follows, and it is sealed now.
    """
    payload = event.payload
    owner = machine.agent(event)
    record = owner.record
    if record is None:
        return
    owner.ended = True
    record.end_ns = max(record.start_ns, event.meta.time_ns)
    record.take(facts_of(event, without=_TURN_TOTALS))
    if payload.iteration_count is not None:
        record.attributes["agentfootprint.agent.iteration_count"] = held(payload.iteration_count)
    if (payload.__pydantic_extra__ or {}).get("atifold.errorType") == STOPS:
        record.unfinished(STOPPED)
    if payload.final_content is not None and payload.refused is None:
        parts = [text_part(payload.final_content)] if payload.final_content else []
        record.content[semconv.OUTPUT_MESSAGES] = to_json_text([{"role": "assistant", "parts": parts}])
    machine.seal_ended(owner)
    if owner.run.ends_with_disposition and not owner.path:
        machine.to_seal = True
    else:
        machine.close_owner(owner, record.end_ns)
        machine.forget(owner.run)


def iteration_start(machine: Machine, event: Event[Any]) -> None:
    """Make sure that the agent is known; the iteration itself is an attribute of its inference."""
    machine.agent(event)


def iteration_end(machine: Machine, event: Event[AgentIterationEnd]) -> None:
    """Learn the calls that the model asked for, and seal what the iteration did."""
    payload = event.payload
    owner = machine.agent(event)
    if event.redacted is not None:
        owner.talk(owner.path).lacking += withheld_names(event)
    if isinstance(payload.history, list):
        talk = owner.talk(owner.path)
        before = learn_history(talk, payload.history)
        chat = owner.chat_of(payload.iter_index, owner.path)
        if chat is not None and chat.messages_count is not None:
            learn_calls(chat, talk.known[chat.messages_count if before is None else before :])
        name_cut_tools(machine, owner)
    _abandon(machine, owner, payload.iter_index, event.meta.time_ns)
    machine.seal_ended(owner)
    owner.asked.clear()  # what has not started by now was not dispatched, and ids may repeat


def _abandon(machine: Machine, owner: Owner, iteration: int | None, end_ns: int) -> None:
    """Seal inferences that have not ended and whose iteration has; those of later ones may go on."""
    for chat in [c for c in owner.chats if not c.ended and c.path == owner.path]:
        if iteration is not None and chat.iteration is not None and chat.iteration <= iteration:
            machine.seal_chat(owner, chat, at_ns=end_ns, incomplete=ABANDONED)


def route_decided(machine: Machine, event: Event[Any]) -> None:
    """Put the agent's next move on its newest inference."""
    owner = machine.agent(event)
    chat = owner.chat_of(event.payload.iter_index)
    if chat is None:
        machine.unplaced.tell(event)
        return
    chat.record.take(facts_of(event, without=frozenset({"turnIndex", "iterIndex"})))


def injected(machine: Machine, event: Event[ContextInjected]) -> None:
    """Remember what a slot of the next request was filled with."""
    payload = event.payload
    if not machine.writer.wants_content:
        return
    owner = machine.owner(event)
    talk = owner.talk(event.meta.subflow_path[:-1])
    if event.redacted is not None:
        talk.lacking += withheld_names(event)
    text = payload.raw_content if payload.raw_content is not None else payload.content_summary
    if text is None:
        return
    if payload.slot == "system-prompt":
        talk.system.append(text)
    elif payload.slot == "messages" and payload.position is not None:
        talk.injected[payload.position] = from_injection(payload.as_role or "user", text, payload.source_id)
