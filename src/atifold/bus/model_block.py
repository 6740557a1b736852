"""Emit the events of one inference."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from atifold.bus.block import Block, error_type
from atifold.bus.clock import now_ns
from atifold.bus.inputs import calls_of, identity_of, money_of, text_of, usage_of
from atifold.jsontext import words

if TYPE_CHECKING:
    from atifold.bus.run import Run

_NO_CALLS: Final[tuple[Any, ...]] = ()


class ModelBlock(Block):
    """One inference: say with `respond(...)` what the model answered."""

    def __init__(self, run: Run, model: str, provider: str, request: dict[str, Any], more: dict[str, Any]) -> None:
        """Take the run, what was asked of whom, the request's fields by Python names and its extension fields."""
        super().__init__(run.bus)
        self._run = run
        self._model = model
        self._provider = provider
        self._request = request
        self._more = more
        self._stage_id = run.next_stage("call-llm")
        self._iteration = run.next_iteration()
        self._started_ns = 0
        self._chunks = 0
        self._end: dict[str, Any] = {}
        self._end_more: dict[str, Any] = {}
        self._reasoning: list[dict[str, Any]] = []
        self._cost: float | None = None

    def respond(  # noqa: PLR0913  an answer has that many figures
        self,
        content: Any = "",
        *,
        tool_calls: Iterable[Any] = _NO_CALLS,
        reasoning: str | None = None,
        model: str | None = None,
        id: str | None = None,  # noqa: A002  the field's own word
        finish_reason: str | None = None,
        input_tokens: int | None = None,
        output_tokens: int | None = None,
        cached_tokens: int | None = None,
        cache_write_tokens: int | None = None,
        reasoning_tokens: int | None = None,
        cost_usd: float | None = None,
    ) -> None:
        """State the answer; of several the last counts.

        `content` is its text (or content blocks, or a message of an SDK). `tool_calls` are what the
        model asked for: `{id, name, arguments}` each, or as an SDK gives them. Token counts are as
        the conventions count them: `input_tokens` includes cached and cache-write tokens,
        `output_tokens` includes reasoning. None is unknown, which is not zero, and so is what is no count
        (below 0, beyond 64 bits). More cached and cache-write tokens than input tokens can only be counted
        apart: then they are added to the input.
        """
        text = content if type(content) is str else text_of(content)
        calls = calls_of(tool_calls) if tool_calls is not _NO_CALLS else []
        self._run.requests.add(calls, instead_of=self._end_more.get("atifold.toolCalls", ()))
        self._end = end = {
            "content": text,
            "tool_call_count": len(calls),
            "stop_reason": (finish_reason and identity_of(finish_reason)) or ("tool_calls" if calls else "stop"),
        }
        usage = usage_of(
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            cached_tokens=cached_tokens,
            cache_write_tokens=cache_write_tokens,
            reasoning_tokens=reasoning_tokens,
        )
        if usage:
            end["usage"] = usage
        if id is not None:
            end["provider_response_ref"] = identity_of(id)
        more: dict[str, Any] = {}
        if model is not None:
            more["atifold.responseModel"] = identity_of(model)
        if calls:
            more["atifold.toolCalls"] = calls
        self._end_more = more
        self._cost = money_of("cost_usd", cost_usd)
        if reasoning is not None:
            self._reasoning = [{"type": "thinking", "content": text_of(reasoning, "reasoning")}]

    def token(self, content: str) -> None:
        """Report a streamed chunk; only its time matters, its text is never written to a span."""
        fields = {"iteration": self._iteration, "token_index": self._chunks, "content": content}
        self._chunks += 1
        self.bus.emit_made("agentfootprint.stream.token", fields, {}, self._run.meta(self._stage_id))

    def _enter(self) -> None:
        self._started_ns = now_ns()
        fields = {
            "iteration": self._iteration,
            "provider": self._provider,
            "model": self._model,
            "system_prompt_chars": len(self._request.get("system_prompt_text") or ""),
            "messages_count": len(self._more.get("atifold.messages", ())),
            "tools_count": len(self._more.get("atifold.toolDefinitions", ())),
            **self._request,
        }
        meta = self._run.meta(self._stage_id, self._started_ns)
        self.bus.emit_made("agentfootprint.stream.llm_start", fields, dict(self._more), meta)
        self._release = self.bus.activate(self._run.run_id, self._stage_id)

    def _leave(self, error: BaseException | None) -> None:
        self._deactivate()
        ended_ns = now_ns()
        duration_ms = (ended_ns - self._started_ns) // 1_000_000
        end = {"iteration": self._iteration, "duration_ms": duration_ms, **self._end}
        more = self._end_more.copy()
        if isinstance(error, GeneratorExit):
            if not self._end:
                more["atifold.errorType"] = error_type(error)
        elif error is not None:
            more["atifold.errorType"] = error_type(error)
            more["atifold.error"] = words(error)
        self._run.totals.add(end.get("usage"), end.get("content"))
        after = self._after()
        named = "atifold.toolCalls" in more  # all calls are named: nothing that follows belongs to this inference
        if after:
            more["atifold.last"] = False  # other threads' inferences may start before all of these are out
            after[-1][1]["atifold.last"] = named
        elif named:
            more["atifold.last"] = True
        meta = self._run.meta(self._stage_id, ended_ns)
        self.bus.emit_made("agentfootprint.stream.llm_end", end, more, meta)
        for name, payload in after:
            self.bus.emit(name, payload, meta=meta)

    def _after(self) -> list[tuple[str, dict[str, Any]]]:
        """Return what is said of an inference after its end: what it thought, and what it cost."""
        events = []
        if self._reasoning:
            events.append(("agentfootprint.stream.thinking_end", self._thinking()))
        if self._cost is not None:
            events.append(("agentfootprint.cost.tick", self._tick(self._cost)))
        return events

    def _thinking(self) -> dict[str, Any]:
        chars = sum(len(block["content"]) for block in self._reasoning)
        return {
            "iteration": self._iteration,
            "blockCount": len(self._reasoning),
            "totalChars": chars,
            "blocks": self._reasoning,
        }

    def _tick(self, cost_usd: float) -> dict[str, Any]:
        usage = self._end.get("usage") or {}
        return {
            "scope": "iteration",
            "model": self._model,
            "provider": self._provider,
            "tokensInput": usage.get("input", 0),
            "tokensOutput": usage.get("output", 0),
            "estimatedUsd": cost_usd,
            "cumulative": self._run.totals.add_cost(usage, cost_usd),
        }
