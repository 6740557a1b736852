"""Give people who write agents in Python context managers that emit the right events."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from atifold.bus.block import Block, error_type, reset
from atifold.bus.clock import now_ns
from atifold.bus.inputs import arguments_of, calls_of, count_of, figure_of, identity_of, messages_of, text_of
from atifold.bus.model_block import ModelBlock
from atifold.bus.requests import Requests
from atifold.bus.tool_block import ToolBlock, current_tool
from atifold.bus.totals import Totals
from atifold.events.envelope import Meta
from atifold.jsontext import words

if TYPE_CHECKING:
    from atifold.bus.bus import EventBus

_CURRENT: ContextVar[Run | None] = ContextVar("atifold_run", default=None)


def current_run() -> Run | None:
    """Return the innermost `bus.run(...)` of this thread or task, None outside of one."""
    return _CURRENT.get()


class Run(Block):
    """One turn of an agent, from a prompt to an answer.

    Use it as a context manager (`with` or `async with`); inside, `llm(...)`, `tool(...)` and
    `agent(...)` give context managers for what the agent does. They may be used from other threads
    and tasks. An exception that leaves the block ends the run as failed and goes on to the caller.

    >>> from atifold import EventBus
    >>> bus = EventBus()
    >>> with bus.run("bookings", "Table for two", session_id="s-1") as run:
    ...     with run.llm("gpt-4o", provider="openai") as call:
    ...         call.respond("Booked.", input_tokens=30, output_tokens=6)
    """

    def __init__(  # noqa: PLR0913  what identifies a run
        self,
        bus: EventBus,
        agent: str,
        prompt: str | None = None,
        *,
        session_id: str | None = None,
        principal: str | None = None,
        tenant: str | None = None,
        run_id: str | None = None,
        version: str | None = None,
        caller: Run | None = None,
    ) -> None:
        """Take the agent's name, the user's prompt and what identifies the run.

        `session_id` ties the runs of one conversation; without one no conversation id is written.
        `run_id` is made up where none is given. Names and ids of other types than text (a UUID, say) are
        written as `str()` writes them. `caller` is the run that this one works for, where no
        span of it is the current one (in a thread of its own, say).
        """
        super().__init__(bus)
        agent = identity_of(agent) or ""
        self.agent_name = agent
        self.prompt = None if prompt is None else text_of(prompt, "prompt")
        self.run_id = identity_of(run_id) or _new_run_id()
        self.answer: str | None = None
        self._version = identity_of(version)
        self._caller = caller
        self._envelope = Meta(
            run_id=self.run_id,
            composition_path=(f"Agent:{agent}",),
            session_id=identity_of(session_id),
            principal=identity_of(principal),
            tenant=identity_of(tenant),
        )
        self._stages = itertools.count(1)
        self._iterations = itertools.count(1)
        self.requests = Requests()
        self.totals = Totals()
        self._started_ns = 0
        self._token: Any = None

    # ---- what an agent does ----------------------------------------------------------------------

    def llm(  # noqa: PLR0913  a request has that many settings
        self,
        model: str,
        *,
        provider: str,
        messages: Iterable[Any] | None = None,
        system: str | None = None,
        tools: Iterable[Any] | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
        top_p: float | None = None,
        reasoning_effort: str | None = None,
    ) -> ModelBlock:
        """Return a context manager for one inference.

        `messages` is the history as it is sent, in the conventions' shape (`role`, `parts`) or in
        that of chat completions (`role`, `content`, `tool_calls`, `tool_call_id`). A message that
        was sent once must not be changed afterwards: send a new object instead.
        `tools` are definitions with `name`, `description` and `parameters`.
        """
        request: dict[str, Any] = {}
        if system is not None:
            request["system_prompt_text"] = text_of(system, "system")
        if temperature is not None and (warmth := figure_of("temperature", temperature)) is not None:
            request["temperature"] = warmth
        more: dict[str, Any] = {}
        if max_tokens is not None and (most := count_of("max_tokens", max_tokens)) is not None:
            more["atifold.maxTokens"] = most
        if top_p is not None and (share := figure_of("top_p", top_p)) is not None:
            more["atifold.topP"] = share
        if reasoning_effort is not None:
            more["atifold.reasoningEffort"] = identity_of(reasoning_effort)
        history = messages_of(messages)
        if history is not None:
            more["atifold.messages"] = history
        if tools is not None:
            more["atifold.toolDefinitions"] = calls_of(tools)
        return ModelBlock(self, identity_of(model) or "", identity_of(provider) or "", request, more)

    def tool(self, name: str, arguments: Any = None, *, id: object = None) -> ToolBlock:  # noqa: A002  the field's own word
        """Return a context manager for one execution of a tool.

        `arguments` are a mapping, or the JSON text that a model gave. `id` is the id of the model's
        request: a text, or what is written as one. Where none is given, it is that of the open request
        with this name and these arguments, else a new one.
        """
        given_arguments = arguments_of(arguments)
        return ToolBlock(self, name, given_arguments, self.requests.claim(name, given_arguments, id))

    def agent(self, name: str, prompt: str | None = None, *, version: str | None = None) -> Run:
        """Return a context manager for a turn of another agent that this one (or its tool) calls."""
        given = self._envelope
        identity = {"session_id": given.session_id, "principal": given.principal, "tenant": given.tenant}
        return Run(self.bus, name, prompt, version=version, caller=self, **identity)

    def emit(self, name: str, payload: Mapping[str, Any]) -> None:
        """Emit any other event of the catalogue as part of this run."""
        self.bus.emit(name, payload, meta=self.meta())

    def finish(self, answer: str) -> None:
        """State the final answer; without it the last inference's text is the answer."""
        self.answer = answer

    # ---- what the blocks need --------------------------------------------------------------------

    def meta(self, stage_id: str = "", time_ns: int | None = None) -> Meta:
        """Return the envelope of an event of this run, at the given time or now."""
        now = now_ns() if time_ns is None else time_ns
        return self._envelope.at(now, (now - self._started_ns) // 1_000_000, stage_id)

    def next_stage(self, name: str) -> str:
        """Return a runtime stage id that this run has not used yet."""
        return f"{name}#{next(self._stages)}"

    def next_iteration(self) -> int:
        """Return the number of the next inference, from 1."""
        return next(self._iterations)

    # ---- entering and leaving --------------------------------------------------------------------

    def _enter(self) -> None:
        self._started_ns = now_ns()
        caller = None if self._caller is None else self._caller.run_id
        payload = _given(
            {
                "turnIndex": 0,
                "userPrompt": self.prompt,
                "atifold.agentVersion": self._version,
                "atifold.callerRun": caller,
                "atifold.callerTool": current_tool() if caller is not None else None,
            }
        )
        self.bus.emit("agentfootprint.agent.turn_start", payload, meta=self.meta("agent#0", self._started_ns))
        self._token = _CURRENT.set(self)
        self._release = self.bus.activate(self.run_id, "agent#0")

    def _leave(self, error: BaseException | None) -> None:
        self._deactivate()
        reset(self._token)
        ended_ns = now_ns()
        if error is not None and not isinstance(error, GeneratorExit):
            payload = {"error": words(error), "stage": "run", "scope": "run", "atifold.errorType": error_type(error)}
            self.bus.emit("agentfootprint.error.fatal", payload, meta=self.meta("agent#0", ended_ns))
            return
        totals = {
            "turnIndex": 0,
            "finalContent": self.totals.last_text if self.answer is None else self.answer,
            "totalInputTokens": self.totals.input_tokens,
            "totalOutputTokens": self.totals.output_tokens,
            "iterationCount": self.totals.calls,
            "durationMs": (ended_ns - self._started_ns) // 1_000_000,
        }
        if error is not None and self.answer is None:
            totals["atifold.errorType"] = error_type(error)
        self.bus.emit("agentfootprint.agent.turn_end", totals, meta=self.meta("agent#0", ended_ns))


def _new_run_id() -> str:
    """Return an id in the producer's form whose last part no other process makes too."""
    return f"run-{now_ns() // 1_000_000}-{secrets.token_hex(4)}"


def _given(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that have a value: on the wire, absent is what None is here."""
    return {name: value for name, value in fields.items() if value is not None}
