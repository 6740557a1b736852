"""Model what happens between the agent and its model or its tools, as it happens."""

from __future__ import annotations

from typing import Any, Literal

from atifold.events.exchange import NotDispatched, ThinkingBlock, ToolStatus
from atifold.events.payload import Always, Body, Content, Flag, Nested, Number, Open, Payload, Structure, Whole


class OfferedTool(Nested):
    """One tool of the catalogue that a request showed to the model."""

    name: Always[Structure[str]] = None
    description: Content[str] = None


class Brain(Nested):
    """Which rule replaced the agent's default model for one call. Since 9.19."""

    via: Always[Structure[Open[Literal["skill", "escalation"]]]] = None
    skill_id: Structure[str] = None


ProviderName = Open[Literal["anthropic", "openai", "google", "cohere", "local", "custom", "mock"]]
"""The name of a provider object, wrappers included (`primary-llm+retry`): no name of the conventions."""


class LLMStart(Payload):
    """A request to a model begins. It names the tools and counts the messages; it does not hold them."""

    iteration: Always[Structure[Whole]] = None
    """The round of the agent's loop, from 1."""
    provider: Always[Structure[ProviderName]] = None
    model: Always[Structure[str]] = None
    system_prompt_chars: Always[Structure[Whole]] = None
    system_prompt_text: Content[str] = None
    """The whole system prompt; None unless the run was told to record it. Since 9.50."""
    messages_count: Always[Structure[Whole]] = None
    """How many messages the request holds: where in the history this iteration's own begin."""
    tools_count: Always[Structure[Whole]] = None
    tools: Structure[list[OfferedTool]] = None
    """In the request's order; None where no tool was offered."""
    estimated_prompt_tokens: Structure[Whole] = None
    temperature: Structure[Number] = None
    provider_request_ref: Structure[str] = None
    brain: Structure[Brain] = None
    """None: the agent's default model answers."""


class LLMUsage(Nested):
    """Tokens of one inference as the provider counts them.

    Whether `input` includes the cache figures, and `output` the thinking, differs by provider.
    """

    input: Always[Structure[Whole]] = None
    output: Always[Structure[Whole]] = None
    cache_read: Structure[Whole] = None
    cache_write: Structure[Whole] = None
    thinking: Structure[Whole] = None
    """None: not reported, which is not none spent. Since 9.29."""


class LLMEnd(Payload):
    """A request to a model is answered. The calls that the model asks for are counted, not named."""

    iteration: Always[Structure[Whole]] = None
    content: Always[Content[str]] = None
    """The answer's text, empty where `content_withheld`."""
    content_withheld: Structure[Flag] = None
    """True where a policy kept the text back; the model did say something."""
    tool_call_count: Always[Structure[Whole]] = None
    usage: Always[Structure[LLMUsage]] = None
    stop_reason: Always[Structure[str]] = None
    """The provider's own word."""
    duration_ms: Always[Structure[Number]] = None
    """Milliseconds, all attempts of a retried request together."""
    provider_response_ref: Structure[str] = None
    """The provider's id of the response."""


class LLMToken(Payload):
    """One chunk of the answer came. The answer's `content` repeats all of them."""

    iteration: Always[Structure[Whole]] = None
    token_index: Always[Structure[Whole]] = None
    """From 0 in each answer."""
    content: Always[Content[str]] = None


class ToolStart(Payload):
    """A tool call begins."""

    tool_name: Always[Structure[str]] = None
    tool_call_id: Always[Structure[str]] = None
    args: Always[Content[Body]] = None
    """The arguments that the model proposed, an object; the tool may run with others (`changed_arg_keys`)."""
    parallel_count: Structure[Whole] = None
    """How many calls the batch has. They run one after the other all the same."""
    protocol: Structure[Open[Literal["native", "mcp", "http", "python-fn"]]] = None
    not_dispatched: Structure[NotDispatched] = None
    """Given for a call that never runs: start and end are then a mere bracket in the record."""


class ToolProgress(Payload):
    """A running tool reports on itself. Since 9.52."""

    tool_call_id: Always[Structure[str]] = None
    tool_name: Always[Structure[str]] = None
    iteration: Always[Structure[Whole]] = None
    """0 where the tool runs outside a loop."""
    payload: Always[Content[Any]] = None
    """What the tool said, of any shape."""


class ToolEnd(Payload):
    """A tool call ends. It has no tool name: the start with the same id has it."""

    tool_call_id: Always[Structure[str]] = None
    result: Always[Content[Any]] = None
    """Any JSON value; with `error` the error's text."""
    error: Structure[Flag] = None
    """True where the tool raised, does not exist, or refused its arguments."""
    duration_ms: Always[Structure[Number]] = None
    status: Structure[ToolStatus] = None
    """The outcome by the tool's own word, whatever `error` says; None: the tool said nothing."""
    not_dispatched: Structure[NotDispatched] = None
    model_result: Content[Any] = None
    """What the model read instead of `result` (rewritten, refused or cut); not given where it is the same."""
    changed_arg_keys: Structure[list[str]] = None
    """Names of the arguments whose value differs from the proposed one, or was hidden."""
    not_executed: Structure[Flag] = None
    """True where a rule refused the call; `result` is then the refusal, and `error` is not set."""


class StreamThinkingDelta(Payload):
    """One chunk of the model's thinking came."""

    iteration: Always[Structure[Whole]] = None
    token_index: Always[Structure[Whole]] = None
    content: Always[Content[str]] = None
    """This chunk alone."""


class StreamThinkingEnd(Payload):
    """The thinking of one answer is complete. It comes after the answer's `llm_end`."""

    iteration: Always[Structure[Whole]] = None
    block_count: Always[Structure[Whole]] = None
    total_chars: Always[Structure[Whole]] = None
    tokens: Structure[Whole] = None
    """As the thinking reader counted them; `LLMUsage.thinking` is the provider's figure and wins."""
    blocks: Content[list[ThinkingBlock]] = None
