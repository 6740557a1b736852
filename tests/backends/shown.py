"""Ask Phoenix and MLflow what their pages show of a trace: sums, session, state, what went in and came out."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from backends.backend import Backend
from backends.running import get


class Shown(NamedTuple):
    """What is shown of one trace; None where nothing is."""

    tokens: int
    input_tokens: int
    output_tokens: int
    cost: float
    session: str | None
    failed: bool
    input: str | None
    output: str | None

    @property
    def sums(self) -> tuple[int, int, int, float]:
        """Return what could be counted twice."""
        return self.tokens, self.input_tokens, self.output_tokens, self.cost


_QUERY: Final = """
query ($id: String!) {
  getTraceByOtelId(traceId: $id) {
    session { sessionId }
    costSummary { total { cost } }
    rootSpan {
      statusCode
      input { value }
      output { value }
      cumulativeTokenCountTotal
      cumulativeTokenCountPrompt
      cumulativeTokenCountCompletion
    }
  }
}
"""


def phoenix_shows(backend: Backend, trace_id: str) -> Shown:
    """Return what Phoenix's page asks its server for."""
    body = json.dumps({"query": _QUERY, "variables": {"id": trace_id}}).encode()
    url = f"{backend.urls['http/json']}/graphql"
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})  # noqa: S310  loopback
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(request, timeout=30) as answer:
        trace = json.load(answer)["data"]["getTraceByOtelId"]
    root = trace["rootSpan"]
    return Shown(
        int(root["cumulativeTokenCountTotal"]),
        int(root["cumulativeTokenCountPrompt"]),
        int(root["cumulativeTokenCountCompletion"]),
        round(trace["costSummary"]["total"]["cost"] or 0.0, 9),
        (trace["session"] or {}).get("sessionId"),
        root["statusCode"] == "ERROR",
        (root["input"] or {}).get("value"),
        (root["output"] or {}).get("value"),
    )


def mlflow_shows(backend: Backend, trace_id: str) -> Shown:
    """Return what MLflow keeps for its table of traces; its input and output are JSON texts."""
    url = f"{backend.urls['http/json']}/ajax-api/3.0/mlflow/traces/tr-{trace_id}"
    info: dict[str, Any] = json.loads(get(url))["trace"]["trace_info"]
    told = info["trace_metadata"]
    tokens = json.loads(told.get("mlflow.trace.tokenUsage", "{}"))
    return Shown(
        tokens.get("total_tokens", 0),
        tokens.get("input_tokens", 0),
        tokens.get("output_tokens", 0),
        round(json.loads(told.get("mlflow.trace.cost", "{}")).get("total_cost", 0.0), 9),
        told.get("mlflow.trace.session"),
        info["state"] == "ERROR",
        info.get("request_preview"),
        info.get("response_preview"),
    )


SHOWS: Final[Mapping[str, Callable[[Backend, str], Shown]]] = {"phoenix": phoenix_shows, "mlflow": mlflow_shows}
