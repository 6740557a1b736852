"""Run a Jaeger that keeps traces in memory, and read them back by both of its APIs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from backends.backend import Backend, View, one_file_each
from backends.facts import Facts, of_requests
from backends.running import free_ports, get, program, running

_MIB = 64


@contextmanager
def jaeger(folder: Path) -> Iterator[Backend]:
    """Run a Jaeger in `folder`; give what a test needs of it."""
    grpc, http, query, query_grpc, health = free_ports(5)
    config = folder / "config.yaml"
    folder.mkdir(parents=True, exist_ok=True)
    config.write_text(json.dumps(_config(grpc, http, query, query_grpc, health)))  # JSON is YAML
    # Else it traces itself, to port 4317, wherever that is, and takes 10 s to stop.
    environment = {"OTEL_TRACES_SAMPLER": "always_off"}
    with running([program("jaeger"), "--config", config], folder, f"http://127.0.0.1:{health}/status", environment):
        web, api = f"http://127.0.0.1:{http}", f"http://127.0.0.1:{query}/api"
        yield Backend(
            urls={"grpc": f"http://127.0.0.1:{grpc}", "http/protobuf": web, "http/json": web},
            # In this order: a read that is not raw changes the store.
            views={
                "v3 raw": _v3(f"{api}/v3/traces/{{}}?raw_traces=true"),
                "v3": _v3(f"{api}/v3/traces/{{}}"),
                "classic": _classic(f"{api}/traces/{{}}"),
            },
            seen=_v3_count(f"{api}/v3/traces/{{}}?raw_traces=true"),
        )


def _config(grpc: int, http: int, query: int, query_grpc: int, health: int) -> dict[str, Any]:
    def at(port: int) -> dict[str, Any]:
        return {"endpoint": f"127.0.0.1:{port}"}

    return {
        "extensions": {
            "jaeger_storage": {"backends": {"some": {"memory": {"max_traces": 10000}}}},
            "jaeger_query": {"storage": {"traces": "some"}, "http": at(query), "grpc": at(query_grpc)},
            "healthcheckv2": {"use_v2": True, "http": at(health)},
        },
        "receivers": {
            "otlp": {"protocols": {"grpc": {**at(grpc), "max_recv_msg_size_mib": _MIB}, "http": at(http)}},
        },
        "exporters": {"jaeger_storage_exporter": {"trace_storage": "some"}},
        "service": {
            "extensions": ["jaeger_storage", "jaeger_query", "healthcheckv2"],
            "telemetry": {"metrics": {"level": "none"}},
            "pipelines": {"traces": {"receivers": ["otlp"], "exporters": ["jaeger_storage_exporter"]}},
        },
    }


def _v3(url: str) -> View:
    def facts(trace_id: str) -> list[Facts]:
        return of_requests([json.loads(get(url.format(trace_id)))["result"]])

    return View(facts, one_file_each(lambda trace_id: get(url.format(trace_id)), ".json"))


def _v3_count(url: str) -> Any:
    def count(trace_id: str) -> int:
        try:
            return len(_v3(url).facts(trace_id))
        except OSError:  # 404: not there yet
            return 0

    return count


def _classic(url: str) -> View:
    def facts(trace_id: str) -> list[Facts]:
        (trace,) = json.loads(get(url.format(trace_id)))["data"]
        return [_of_span(span, trace["processes"][span["processID"]]) for span in trace["spans"]]

    return View(facts, one_file_each(lambda trace_id: get(url.format(trace_id)), ".json"))


_STATUSES = {"OK": 1, "ERROR": 2}
_KINDS = {"internal": 1, "server": 2, "client": 3, "producer": 4, "consumer": 5}
_SPECIAL = ("span.kind", "otel.status_code", "otel.status_description", "error", "w3c.tracestate")


def _of_span(span: dict[str, Any], process: dict[str, Any]) -> Facts:
    tags = _tags(span["tags"])
    parents = [r["spanID"] for r in span["references"] if r["traceID"] == span["traceID"]]
    return {
        "trace_id": span["traceID"],
        "span_id": span["spanID"],
        "parent_id": parents[0] if parents else "",
        "parent_by": [r["refType"] for r in span["references"]][:1],
        "name": span["operationName"],
        "kind": _KINDS.get(tags.get("span.kind", ""), 0),
        "status": _STATUSES.get(tags.get("otel.status_code", ""), 0),
        "status_message": tags.get("otel.status_description", ""),
        "start_ns": span["startTime"] * 1000,
        "end_ns": (span["startTime"] + span["duration"]) * 1000,
        "attributes": {k: v for k, v in tags.items() if k not in _SPECIAL and not k.startswith("otel.")},
        "events": [_event(log) for log in span.get("logs", ())],
        "links": [[r["traceID"], r["spanID"], {}] for r in span["references"] if r["spanID"] not in parents[:1]],
        "trace_state": tags.get("w3c.tracestate", ""),
        "scope": [tags.get("otel.scope.name", ""), tags.get("otel.scope.version", ""), {}],
        "resource": {**_tags(process["tags"]), "service.name": process["serviceName"]},
        "warnings": span["warnings"],
    }


def _tags(tags: list[dict[str, Any]]) -> dict[str, Any]:
    return {tag["key"]: tag["value"] for tag in tags}


def _event(log: dict[str, Any]) -> list[Any]:
    fields = _tags(log["fields"])
    return [fields.pop("event", ""), log["timestamp"] * 1000, fields]
