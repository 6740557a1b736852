"""Tell one small story in several dialects: spans as each of them writes a model call, a tool and an agent."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from atifold.spans import Span

TRACE: Final = "0af7651916cd43dd8448eb211c80319c"
BASE_NS: Final = 1_790_000_000_000_000_000
MS: Final = 1_000_000


class Ask(NamedTuple):
    """One tool call that a model asks for."""

    id: str | None
    name: str
    arguments: Any


class Turn(NamedTuple):
    """One message: of a system, a user, a model (with calls) or a tool (the answer to `id`)."""

    role: str
    text: str = ""
    asks: tuple[Ask, ...] = ()
    id: str | None = None


def user(text: str) -> Turn:
    """Return what a user says."""
    return Turn("user", text)


def model(text: str = "", *asks: Ask) -> Turn:
    """Return what a model says and asks for."""
    return Turn("assistant", text, asks)


def tool(call_id: str | None, result: str) -> Turn:
    """Return a result as the next request shows it."""
    return Turn("tool", result, id=call_id)


class Inference(NamedTuple):
    """What one model call is told with; `used` is (tokens in, tokens out), None for unknown."""

    history: Sequence[Turn]
    said: Turn | None
    used: tuple[int, int] | None = None
    model: str = "atlas-2"
    response_id: str | None = None


class Run(NamedTuple):
    """What one tool's span is told with."""

    id: str | None
    name: str
    arguments: Any = None
    result: str | None = None


class Tongue(NamedTuple):
    """How a dialect writes the attributes of a model call, a tool and an agent, and what it calls a model's span."""

    name: str
    infer: Callable[[Inference], dict[str, Any]]
    run: Callable[[Run], dict[str, Any]]
    agent: Callable[[str], dict[str, Any]]
    span_name: str = "chat atlas-2"


def _known(found: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if value is not None}


def _openai(turn: Turn) -> dict[str, Any]:
    """Return a message as OpenAI's chat completions write it."""
    calls = [
        {"id": a.id, "type": "function", "function": {"name": a.name, "arguments": json.dumps(a.arguments)}}
        for a in turn.asks
    ]
    found: dict[str, Any] = {"role": turn.role, "content": turn.text}
    if calls:
        found["tool_calls"] = calls
    if turn.role == "tool" and turn.id is not None:
        found["tool_call_id"] = turn.id
    return found


# ---- the conventions -----------------------------------------------------------------------------


def parts(turn: Turn) -> dict[str, Any]:
    """Return a message as the conventions write it."""
    if turn.role == "tool":
        found = [_known({"type": "tool_call_response", "id": turn.id, "response": turn.text})]
    else:
        found = [{"type": "text", "content": turn.text}] if turn.text else []
        found += [
            _known({"type": "tool_call", "id": a.id, "name": a.name, "arguments": a.arguments}) for a in turn.asks
        ]
    return {"role": turn.role, "parts": found}


def _genai_infer(told: Inference) -> dict[str, Any]:
    return _known(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": told.model,
            "gen_ai.response.id": told.response_id,
            "gen_ai.input.messages": json.dumps([parts(turn) for turn in told.history]) if told.history else None,
            "gen_ai.output.messages": json.dumps([parts(told.said)]) if told.said else None,
            "gen_ai.usage.input_tokens": told.used[0] if told.used else None,
            "gen_ai.usage.output_tokens": told.used[1] if told.used else None,
        }
    )


def _genai_run(told: Run) -> dict[str, Any]:
    return _known(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": told.name,
            "gen_ai.tool.call.id": told.id,
            "gen_ai.tool.call.arguments": None if told.arguments is None else json.dumps(told.arguments),
            "gen_ai.tool.call.result": told.result,
        }
    )


def _genai_agent(name: str) -> dict[str, Any]:
    return {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}


# ---- OpenInference -------------------------------------------------------------------------------


def _flat(prefix: str, turn: Turn) -> dict[str, Any]:
    found: dict[str, Any] = {f"{prefix}.message.role": turn.role}
    if turn.text:
        found[f"{prefix}.message.content"] = turn.text
    if turn.id is not None:
        found[f"{prefix}.message.tool_call_id"] = turn.id
    for at, ask in enumerate(turn.asks):
        at_call = f"{prefix}.message.tool_calls.{at}.tool_call"
        found[f"{at_call}.function.name"] = ask.name
        found[f"{at_call}.function.arguments"] = json.dumps(ask.arguments)
        if ask.id is not None:
            found[f"{at_call}.id"] = ask.id
    return found


def _openinference_infer(told: Inference) -> dict[str, Any]:
    found: dict[str, Any] = {"openinference.span.kind": "LLM", "llm.model_name": told.model}
    for at, turn in enumerate(told.history):
        found |= _flat(f"llm.input_messages.{at}", turn)
    if told.said:
        found |= _flat("llm.output_messages.0", told.said)
    if told.used:
        found |= {"llm.token_count.prompt": told.used[0], "llm.token_count.completion": told.used[1]}
    return found


def _openinference_run(told: Run) -> dict[str, Any]:
    return _known(
        {
            "openinference.span.kind": "TOOL",
            "tool.name": told.name,
            "tool_call.id": told.id,
            "input.value": None if told.arguments is None else json.dumps(told.arguments),
            "output.value": told.result,
        }
    )


def _openinference_agent(name: str) -> dict[str, Any]:
    return {"openinference.span.kind": "AGENT", "agent.name": name}


# ---- OpenLLMetry, flat ---------------------------------------------------------------------------


def _traceloop_message(prefix: str, turn: Turn) -> dict[str, Any]:
    found: dict[str, Any] = {f"{prefix}.role": turn.role}
    if turn.text:
        found[f"{prefix}.content"] = turn.text
    if turn.id is not None:
        found[f"{prefix}.tool_call_id"] = turn.id
    for at, ask in enumerate(turn.asks):
        found |= _known(
            {
                f"{prefix}.tool_calls.{at}.id": ask.id,
                f"{prefix}.tool_calls.{at}.name": ask.name,
                f"{prefix}.tool_calls.{at}.arguments": json.dumps(ask.arguments),
            }
        )
    return found


def _traceloop_infer(told: Inference) -> dict[str, Any]:
    found: dict[str, Any] = {"llm.request.type": "chat", "gen_ai.system": "OpenAI", "gen_ai.request.model": told.model}
    if told.response_id is not None:
        found["gen_ai.response.id"] = told.response_id
    for at, turn in enumerate(told.history):
        found |= _traceloop_message(f"gen_ai.prompt.{at}", turn)
    if told.said:
        found |= _traceloop_message("gen_ai.completion.0", told.said)
    if told.used:
        found |= {"gen_ai.usage.prompt_tokens": told.used[0], "gen_ai.usage.completion_tokens": told.used[1]}
    return found


def _traceloop_run(told: Run) -> dict[str, Any]:
    return _known(
        {
            "traceloop.span.kind": "tool",
            "traceloop.entity.name": told.name,
            "traceloop.entity.input": None if told.arguments is None else json.dumps({"inputs": told.arguments}),
            "traceloop.entity.output": None if told.result is None else json.dumps(told.result),
        }
    )


def _traceloop_agent(name: str) -> dict[str, Any]:
    return {"traceloop.span.kind": "agent", "traceloop.entity.name": name}


# ---- Vercel's AI SDK 5 ---------------------------------------------------------------------------


def _vercel_message(turn: Turn) -> dict[str, Any]:
    if turn.role == "tool":
        part = {"type": "tool-result", "toolCallId": turn.id, "output": {"type": "text", "value": turn.text}}
        return {"role": "tool", "content": [_known(part)]}
    if turn.role == "system":
        return {"role": "system", "content": turn.text}
    content: list[Any] = [{"type": "text", "text": turn.text}] if turn.text else []
    content += [
        _known({"type": "tool-call", "toolCallId": a.id, "toolName": a.name, "input": a.arguments}) for a in turn.asks
    ]
    return {"role": turn.role, "content": content}


def _vercel_infer(told: Inference) -> dict[str, Any]:
    asks = told.said.asks if told.said else ()
    calls = [_known({"toolCallId": a.id, "toolName": a.name, "input": json.dumps(a.arguments)}) for a in asks]
    return _known(
        {
            "ai.operationId": "ai.generateText.doGenerate",
            "ai.model.id": told.model,
            "ai.model.provider": "openai.chat",
            "ai.response.id": told.response_id,
            "ai.prompt.messages": json.dumps([_vercel_message(turn) for turn in told.history])
            if told.history
            else None,
            "ai.response.text": told.said.text if told.said and told.said.text else None,
            "ai.response.toolCalls": json.dumps(calls) if calls else None,
            "ai.usage.inputTokens": told.used[0] if told.used else None,
            "ai.usage.outputTokens": told.used[1] if told.used else None,
        }
    )


def _vercel_run(told: Run) -> dict[str, Any]:
    return _known(
        {
            "ai.operationId": "ai.toolCall",
            "ai.toolCall.name": told.name,
            "ai.toolCall.id": told.id,
            "ai.toolCall.args": None if told.arguments is None else json.dumps(told.arguments),
            "ai.toolCall.result": None if told.result is None else json.dumps(told.result),
        }
    )


def _vercel_agent(name: str) -> dict[str, Any]:
    return {"ai.operationId": "ai.generateText", "ai.telemetry.functionId": name}


# ---- input and output as JSON: MLflow, Langfuse --------------------------------------------------


def _mlflow(found: Mapping[str, Any]) -> dict[str, Any]:
    return {name: json.dumps(value) for name, value in found.items() if value is not None}


def _mlflow_infer(told: Inference) -> dict[str, Any]:
    usage = dict(zip(("input_tokens", "output_tokens"), told.used or (), strict=False))
    return _mlflow(
        {
            "mlflow.spanType": "CHAT_MODEL",
            "mlflow.llm.model": told.model,
            "mlflow.spanInputs": {"messages": [_openai(turn) for turn in told.history]} if told.history else None,
            "mlflow.spanOutputs": {"choices": [{"index": 0, "message": _openai(told.said)}]} if told.said else None,
            "mlflow.chat.tokenUsage": usage or None,
        }
    )


def _mlflow_run(told: Run) -> dict[str, Any]:
    found = {"mlflow.spanType": "TOOL", "mlflow.spanInputs": told.arguments, "mlflow.spanOutputs": told.result}
    return _mlflow({**found, "tool_call_id": told.id})


def _mlflow_agent(name: str) -> dict[str, Any]:
    return _mlflow({"mlflow.spanType": "AGENT", "mlflow.agent.name": name})


def _langfuse_infer(told: Inference) -> dict[str, Any]:
    usage = dict(zip(("prompt_tokens", "completion_tokens"), told.used or (), strict=False))
    return _known(
        {
            "langfuse.observation.type": "generation",
            "langfuse.observation.model.name": told.model,
            "langfuse.observation.input": json.dumps([_openai(t) for t in told.history]) if told.history else None,
            "langfuse.observation.output": json.dumps(_openai(told.said)) if told.said else None,
            "langfuse.observation.usage_details": json.dumps(usage) if usage else None,
        }
    )


def _langfuse_run(told: Run) -> dict[str, Any]:
    return _known(
        {
            "langfuse.observation.type": "tool",
            "langfuse.observation.input": None if told.arguments is None else json.dumps(told.arguments),
            "langfuse.observation.output": told.result,
            "langfuse.observation.metadata.tool_call_id": told.id,
        }
    )


def _langfuse_agent(_name: str) -> dict[str, Any]:
    return {"langfuse.observation.type": "agent"}


GENAI: Final = Tongue("genai", _genai_infer, _genai_run, _genai_agent)
OPENINFERENCE: Final = Tongue(
    "openinference", _openinference_infer, _openinference_run, _openinference_agent, "ChatCompletion"
)
TRACELOOP: Final = Tongue("openllmetry", _traceloop_infer, _traceloop_run, _traceloop_agent, "openai.chat")
VERCEL: Final = Tongue("vercel-ai", _vercel_infer, _vercel_run, _vercel_agent, "ai.generateText.doGenerate")
MLFLOW: Final = Tongue("mlflow", _mlflow_infer, _mlflow_run, _mlflow_agent, "Completions")
LANGFUSE: Final = Tongue("langfuse", _langfuse_infer, _langfuse_run, _langfuse_agent, "OpenAI-generation")
TONGUES: Final = (GENAI, OPENINFERENCE, TRACELOOP, VERCEL, MLFLOW, LANGFUSE)


# ---- spans ---------------------------------------------------------------------------------------


def span(
    number: int,
    attributes: Mapping[str, Any],
    parent: int | None,
    at: tuple[float, float | None],
    name: str,
    trace: str = TRACE,
    **more: Any,
) -> Span:
    """Return a span; `number` is its id, `at` its start and end in milliseconds (None: it never ended)."""
    return Span(
        trace_id=trace,
        span_id=f"{number:016x}",
        parent_id=None if parent is None else f"{parent:016x}",
        name=name,
        start_ns=BASE_NS + int(at[0] * MS),
        end_ns=None if at[1] is None else BASE_NS + int(at[1] * MS),
        attributes=attributes,
        **{"resource": {"service.name": "shop"}, **more},
    )


QUESTION: Final = "Where is order 7?"
ANSWER: Final = "It ships today."
FIND: Final = Ask("call_1", "find_order", {"id": 7})
ASKED: Final = (user(QUESTION),)
FOUND: Final = (*ASKED, model("", FIND), tool("call_1", "packed"))


def order(tongue: Tongue) -> list[Span]:
    """Return the story: an agent is asked for an order, looks it up with a tool, and answers (130 and 15 tokens)."""
    return [
        span(1, tongue.agent("a1"), None, (0, 100), "a1"),
        span(2, tongue.infer(Inference(ASKED, model("", FIND), (50, 9))), 1, (10, 20), tongue.span_name),
        span(3, tongue.run(Run("call_1", "find_order", {"id": 7}, "packed")), 1, (30, 40), "find_order"),
        span(4, tongue.infer(Inference(FOUND, model(ANSWER), (80, 6))), 1, (50, 60), tongue.span_name),
    ]
