"""Give calls whose parents were lost to the call within whose time they ran (a filter dropped what lay between).

Known by time alone, so only where it is plain: all calls of the trace that ran around an orphan stand one inside
the other, and none of them hangs under the very parent that the orphan names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from atifold.dialects.parents import Parent
from atifold.dialects.table import CallKind
from atifold.spans import Span, SpanKey


def adopted(
    spans: Mapping[SpanKey, Span], parents: Mapping[SpanKey, Parent], kinds: Mapping[SpanKey, CallKind]
) -> dict[SpanKey, Parent]:
    """Return the parent of each call; an orphan's is the innermost call around it, where there is one."""
    found = dict(parents)
    orphans = [key for key, parent in parents.items() if parent.orphan and key in kinds]
    hosts = _hosts(spans, kinds, {key[0] for key in orphans})
    for key in sorted(orphans, key=lambda key: (-_lasted(spans[key]), key)):  # what is around others first
        host = _innermost(key, hosts[key[0]], spans, found)
        if host is not None:
            found[key] = Parent(host, orphan=False)
    return found


def _hosts(
    spans: Mapping[SpanKey, Span], kinds: Mapping[SpanKey, CallKind], traces: set[str]
) -> dict[str, list[SpanKey]]:
    """Return by trace the agents and tools that ended, the shortest first."""
    found: dict[str, list[SpanKey]] = defaultdict(list)
    for key, kind in kinds.items():
        if key[0] in traces and kind is not CallKind.MODEL and spans[key].end_ns is not None:
            found[key[0]].append(key)
    return defaultdict(
        list, {trace: sorted(keys, key=lambda k: (_lasted(spans[k]), k)) for trace, keys in found.items()}
    )


def _innermost(
    key: SpanKey, hosts: list[SpanKey], spans: Mapping[SpanKey, Span], parents: Mapping[SpanKey, Parent]
) -> SpanKey | None:
    """Return the shortest call around an orphan, None where the calls around it do not enclose each other."""
    lost = _lost(key, spans)
    around = [host for host in hosts if _is_around(spans[host], spans[key]) and key not in _line(host, parents)]
    if not around or any(_lost(host, spans) == lost for host in around):
        return None
    line = set(_line(around[0], parents))
    return around[0] if line.issuperset(around) else None


def _lasted(span: Span) -> int:
    return (span.end_ns or span.start_ns) - span.start_ns


def _is_around(host: Span, span: Span) -> bool:
    end_ns = span.start_ns if span.end_ns is None else max(span.end_ns, span.start_ns)
    lasted = end_ns - span.start_ns
    return host.start_ns <= span.start_ns and end_ns <= (host.end_ns or 0) and lasted < _lasted(host)


def _line(key: SpanKey | None, parents: Mapping[SpanKey, Parent]) -> Iterator[SpanKey]:
    """Yield a call and all calls around it."""
    while key is not None and key in parents:
        yield key
        key = parents[key].key


def _lost(key: SpanKey, spans: Mapping[SpanKey, Span]) -> str | None:
    """Return the id of the parent at which the chain above a span breaks off, None where it does not."""
    seen: set[SpanKey] = set()
    while key in spans and key not in seen:
        seen.add(key)
        parent_id = spans[key].parent_id
        if parent_id is None:
            return None
        key = (key[0], parent_id)
    return None if key in seen else key[1]
