"""Hold finished telemetry against the pinned GenAI conventions."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from opentelemetry.sdk.metrics.export import InMemoryMetricReader, MetricsData
from opentelemetry.sdk.trace import ReadableSpan

from atifold.spans import Span
from atifold.testing import log_checks, metric_checks, span_checks
from atifold.testing.attributes import Wanted
from atifold.testing.conventions import CONTENT, row_name
from atifold.testing.fault import Fault
from atifold.testing.log_checks import Logged
from atifold.testing.taking import log_from, metrics_from, span_from


def faults(
    *,
    spans: Iterable[ReadableSpan | Span] = (),
    metrics: MetricsData | InMemoryMetricReader | None = None,
    logs: Iterable[Any] = (),
    content: bool | None = None,
    sessions: Collection[str] | None = None,
    namespaces: Collection[str] | None = None,
    compat: bool = False,
) -> list[Fault]:
    """Return everything that is wrong, in the order of the items; nothing for telemetry that conforms.

    `spans` are finished spans of the SDK or of atifold, `metrics` what was collected (or an in-memory
    reader), `logs` log records of the SDK. A span, metric or log line that says nothing of GenAI or
    MCP is passed over.

    `content` False: no text of a person, model or tool may be there; True: at least one has to be;
    None: as it comes. What is there has to have the conventions' shape in each case.
    `sessions`: the conversation ids that there are; None: not known, so any will do.
    `namespaces`: how names of attributes may begin that are not the conventions' (`("myapp.",)`);
    None: anyhow, except under `gen_ai.` and `mcp.`.
    `compat`: the older names of metrics and attributes are accepted too.
    """
    wanted = Wanted(content, sessions, namespaces, compat)
    told = [span_from(span) for span in spans]
    logged = [log_from(record) for record in logs]
    found = [fault for span in told for fault in span_checks.faults_of(span, wanted)]
    found += [fault for metric in metrics_from(metrics) for fault in metric_checks.faults_of(metric, wanted)]
    found += [fault for event in logged for fault in log_checks.faults_of(event, wanted)]
    items: list[Span | Logged] = [*told, *logged]
    if content and items and not any(row_name(name) in CONTENT for item in items for name in item.attributes):
        found.append(Fault("spans and logs", "", "no content was found, some was wanted [capture of content]"))
    return found


def assert_conforms(
    *,
    spans: Iterable[ReadableSpan | Span] = (),
    metrics: MetricsData | InMemoryMetricReader | None = None,
    logs: Iterable[Any] = (),
    content: bool | None = None,
    sessions: Collection[str] | None = None,
    namespaces: Collection[str] | None = None,
    compat: bool = False,
) -> None:
    """Raise AssertionError with all faults, one a line, unless everything conforms; see `faults`."""
    found = faults(
        spans=spans,
        metrics=metrics,
        logs=logs,
        content=content,
        sessions=sessions,
        namespaces=namespaces,
        compat=compat,
    )
    if found:
        raise AssertionError("\n".join((f"faults: {len(found)}", *map(str, found))))
