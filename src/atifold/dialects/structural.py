"""Tell the attributes that only name, identify or number something from those that may hold what was said."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from atifold.dialects.registry import DIALECTS

FIELDS: Final = frozenset(
    {
        "agent", "agent_id", "agent_name", "agent_version", "conversation", "cost_source", "cost_usd", "delegated",
        "dispatch", "finish_reasons", "id", "incomplete", "input_base", "model", "paused", "provider",
        "reasoning_effort", "response_id", "run_id", "sequence", "tool",
    }
)  # fmt: skip
"""Fields of calls whose attributes are names, ids and figures; so are those of `usage.*`."""

NAMES: Final = frozenset(
    {
        "atifold.inferred", "atifold.link", "atifold.omitted", "atifold.resumes.span_id", "atifold.resumes.trace_id",
        "atifold.withheld", "error.type",
        "exception.escaped", "exception.type", "gen_ai.operation.name", "gen_ai.output.type",
        "gen_ai.request.previous_response.id", "gen_ai.tool.type", "gen_ai.usage.cost.currency", "graph.node.id",
        "graph.node.name", "graph.node.parent_id", "input.mime_type", "openai.request.service_tier",
        "openai.response.service_tier", "openai.response.system_fingerprint", "openinference.span.kind",
        "output.mime_type", "server.address", "user.id",
    }
)  # fmt: skip
"""Further ones that stand in no row of a dialect."""

BODIES: Final = frozenset({"metadata"})
"""Attributes that feed one of `FIELDS` and hold much more."""

_FLAT: Final = re.compile(
    r".*\.\d+\.(?:.+\.)?(?:role|type|mime_type|finish_reason|tool_call_id|(?:tool_call|message|tool)\.(?:id|name)"
    r"|tool_calls?\.(?:\d+\.)?(?:id|name)|function\.name)"
)
"""How flattened lists of messages end where no text is: `llm.input_messages.0.message.role`."""


@lru_cache(maxsize=4096)
def is_structural(name: str) -> bool:
    """Tell whether an attribute of this name holds no content, by the tables of the dialects."""
    return name in _names() or _FLAT.fullmatch(name) is not None


@lru_cache(maxsize=1)
def _names() -> frozenset[str]:
    rows = (row for dialect in DIALECTS for row in dialect.rows)
    fed = {name for row in rows if row.field in FIELDS or row.field.startswith("usage.") for name in row.names}
    return NAMES | (fed - BODIES)
