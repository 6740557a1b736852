"""Tell by which facts the traces of one history are known to each other, before anything folds them together.

Whatever a fold of many traces joins, or lets refer to one another, shares such a fact; most that share one are
joined, but not all: that the fold of them decides.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from atifold.calls import Call, ModelCall, ToolCall
from atifold.fold.messages import plain_id, requests_of
from atifold.fold.succession import openings_and_ends


class Kinship(NamedTuple):
    """Facts of one trace, as hashes of this process: one trace `gives` what another, related one `takes`."""

    gives: frozenset[int]
    takes: frozenset[int]


_TOLD_TWICE: Final = frozenset({"codex"})
"""Dialects of programs whose spans are calls only where no log records tell of its calls, which name a conversation."""


def kinship_of(calls: Iterable[Call]) -> dict[str, Kinship]:
    """Return the facts of each trace, by its id: a conversation's name, how its history begins and ends, ids.

    A name both gives and takes. A history's end gives what a beginning takes. Who asked for a tool call gives its
    id to a trace of tool calls alone; a response gives its id to a trace that takes it for a conversation's. Of a
    program that tells its calls twice, records give what spans take.
    """
    by_trace: dict[str, list[Call]] = defaultdict(list)
    for call in calls:
        by_trace[call.key[0]].append(call)
    told = openings_and_ends(by_trace)
    found: dict[str, Kinship] = {}
    for trace, own in by_trace.items():
        names = {("conversation", call.conversation) for call in own if call.conversation}
        opening, end = told.get(trace, ((), ()))
        spans = {("program", call.dialect, call.service) for call in own if call.dialect in _TOLD_TWICE}
        told_by_records = any(call.conversation for call in own)
        gives = {*names, *(spans if told_by_records else ()), *(("told", fact) for fact in end), *_given_ids(own)}
        takes = {*names, *(() if told_by_records else spans), *(("told", fact) for fact in opening), *_taken_ids(own)}
        found[trace] = Kinship(frozenset(map(hash, gives)), frozenset(map(hash, takes)))
    return found


def _given_ids(calls: Sequence[Call]) -> Iterator[tuple[str, str]]:
    """Yield the ids of responses, and those of the calls that were asked for."""
    for call in calls:
        if isinstance(call, ModelCall):
            if call.response_id:
                yield "response", call.response_id
            requests = requests_of(call.output or ())
            yield from (("request", plain_id(request.id)) for request in requests if request.id)


def _taken_ids(calls: Sequence[Call]) -> Iterator[tuple[str, str]]:
    """Yield the names of conversations, which may be ids of responses, and the ids of tool calls that stand alone."""
    yield from (("response", call.conversation) for call in calls if call.conversation)
    tools = [call for call in calls if isinstance(call, ToolCall)]
    if len(tools) == len(calls):
        yield from (("request", plain_id(tool.id)) for tool in tools if tool.id)
