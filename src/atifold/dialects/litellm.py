"""Read LiteLLM's callback: a span for each raw request, and what it puts onto the span around it.

The callback writes the conventions' attributes onto the span that happens to be open, where the last
call wins; the raw spans hold each provider's own request and response, as Python reprs or JSON.
"""

from __future__ import annotations

import re
from typing import Any, Final

from atifold.dialects import exchange, values
from atifold.dialects.about import About
from atifold.dialects.entity import restored
from atifold.dialects.table import MODELS, CallKind, Dialect, Fields, Row, Verdict
from atifold.dialects.usage_objects import put_usage
from atifold.dialects.values import Note
from atifold.jsontext import text_of
from atifold.kinds import is_object
from atifold.spans import Span

_RAW: Final = re.compile(r"llm\.([\w-]+)\.(?:messages|choices|contents|candidates|content)")
_AMBIENT: Final = ("litellm.", "hidden_params", "metadata.user_api_key", "metadata.usage_object")

ROWS: Final = (
    Row("cost_usd", ("gen_ai.cost.total_cost",), values.money, MODELS),
    Row("conversation", ("metadata.session_id", "metadata.litellm_session_id"), kinds=MODELS),
)


def _provider(span: Span) -> str | None:
    """Return the provider whose raw request a span is, as its attributes name it."""
    return next((found[1] for name in span.attributes if (found := _RAW.fullmatch(name))), None)


def marks(span: Span) -> bool:
    """Tell whether the callback left a raw request here, or facts of its own."""
    return any(name.startswith(_AMBIENT) or _RAW.fullmatch(name) for name in span.attributes)


def classify(span: Span) -> Verdict:
    """Say that a raw request is a model call; of the span around it the conventions' attributes tell."""
    return CallKind.MODEL if _provider(span) is not None else None


def complete(span: Span, kind: CallKind, fields: Fields, note: Note) -> None:
    """Fill in what the raw request and response hold."""
    provider = _provider(span)
    if provider is None or kind is not CallKind.MODEL:
        return
    prefix = f"llm.{provider}."
    found = {
        name.removeprefix(prefix): restored(value, note)
        for name, value in span.attributes.items()
        if name.startswith(prefix)
    }
    exchange.put(fields, "provider", values.provider(provider, note))
    exchange.complete_exchange(_request(found), _response(found), kind, fields, note)
    usage = found.get("usage", found.get("usageMetadata"))
    put_usage(usage, fields)


def _request(found: dict[str, Any]) -> dict[str, Any]:
    """Return the raw request among what stands in one map with its response."""
    names = ("messages", "contents", "input", "tools", "system", *exchange.PARAMETERS)
    return {name: found[name] for name in names if name in found}


def _response(found: dict[str, Any]) -> Any:
    """Return the raw response among what stands in one map with its request."""
    candidates = found.get("candidates")
    if isinstance(candidates, list):
        contents = [each.get("content") for each in candidates if is_object(each)]
        return {"messages": [content for content in contents if is_object(content)]}
    names = ("choices", "output", "content", "stop_reason", "model", "id")
    response = {name: found[name] for name in names if name in found}
    if "content" in response:
        response["role"] = "assistant"
    if "id" in response:
        response["id"] = text_of(response["id"])
    return response


LITELLM: Final = Dialect(
    name="litellm",
    marks=marks,
    rows=ROWS,
    classify=classify,
    complete=complete,
    known_prefixes=("litellm.", "metadata.", "llm.", "gen_ai.cost.", "hidden_params"),
    about=About(
        title="LiteLLM's OTel callback",
        versions="1.x",
        carries="each provider's raw request and response, tokens, cost",
        lacks="tools' executions; agents; of calls on one span all but the last, save their raw requests",
    ),
)
