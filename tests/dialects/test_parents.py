"""The nearest enclosing call, however the tree of spans is broken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from atifold import dialects
from atifold.calls import AgentCall, Reading
from atifold.spans import Span, SpanKey

MakeSpan = Callable[..., Span]


def parents(reading: Reading) -> dict[SpanKey, SpanKey | None]:
    """Return the parent of each call."""
    return {call.key: call.parent for call in reading.calls}


def test_spans_that_are_no_calls_are_stepped_over(span: MakeSpan, chat: MakeSpan) -> None:
    """HTTP spans, chains and graph nodes between two calls do not part them, and are counted by what they are."""
    agent = span({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a"})
    chain = span({"openinference.span.kind": "CHAIN"}, agent)
    node = span({}, chain)
    http = span({"http.request.method": "POST"}, node)
    model = chat({}, http)
    reading = dialects.read([model, http, node, chain, agent])
    assert parents(reading) == {agent.key: None, model.key: agent.key}
    assert not any(call.orphan for call in reading.calls)
    assert reading.ignored == {"CHAIN span": 1, "http": 1, "no dialect": 1}


def test_a_chain_that_breaks_off_leaves_an_orphan(span: MakeSpan, chat: MakeSpan) -> None:
    """A parent that is not at hand, near or far, makes a root that is marked; a true root is not."""
    lost = span()
    near, node = chat({}, lost), span({}, lost)
    far, root = chat({}, node), chat()
    found = {call.key: (call.parent, call.orphan) for call in dialects.read([near, node, far, root]).calls}
    assert found == {near.key: (None, True), far.key: (None, True), root.key: (None, False)}


def test_a_bare_call_under_a_root_that_never_came_is_incomplete_and_an_agent_is_not(
    span: MakeSpan, chat: MakeSpan
) -> None:
    """An agent is whole without its caller; and where the trace has a root, something else is lost."""
    lost = span()
    agent = span({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a"}, lost)
    bare, inner = chat({}, lost), chat({}, agent)
    found = {call.key: call.incomplete for call in dialects.read([agent, bare, inner]).calls}
    assert found == {agent.key: (), bare.key: ("no_root",), inner.key: ()}
    assert not any(call.incomplete for call in dialects.read([agent, bare, inner, span()]).calls)


def test_parents_in_a_circle_do_not_hang(chat: MakeSpan) -> None:
    """The member that starts first becomes the root of the others, and a note says so."""
    first, second, third = chat(), chat(), chat()
    circle = [replace(first, parent_id=third.span_id), replace(second, parent_id=first.span_id)]
    circle.append(replace(third, parent_id=second.span_id))
    reading = dialects.read(circle)
    assert parents(reading) == {first.key: None, second.key: first.key, third.key: second.key}
    assert reading.notes == ("x: parents that form a circle, taken as a root",)


def test_a_span_that_is_its_own_parent_is_a_root(chat: MakeSpan) -> None:
    """The smallest circle."""
    one = chat()
    assert parents(dialects.read([replace(one, parent_id=one.span_id)])) == {one.key: None}


def test_a_parent_is_looked_for_in_its_own_trace(chat: MakeSpan) -> None:
    """The same span id in another trace is another span."""
    one = chat()
    other = replace(chat({}, one), trace_id="1" * 32)
    assert parents(dialects.read([one, other])) == {one.key: None, other.key: None}


def test_a_chain_of_spans_deeper_than_the_stack_is_resolved(span: MakeSpan, chat: MakeSpan) -> None:
    """Depth is no recursion."""
    spans = [chat()]
    for _ in range(5000):
        spans.append(span({}, spans[-1]))
    spans.append(chat({}, spans[-1]))
    assert parents(dialects.read(spans))[spans[-1].key] == spans[0].key


@given(st.lists(st.integers(0, 7), min_size=8, max_size=8), st.lists(st.booleans(), min_size=8, max_size=8))
def test_whatever_the_ties_are_the_calls_form_trees(ties: list[int], is_call: list[bool]) -> None:
    """From every call the parents lead to a root."""
    chat = {"gen_ai.operation.name": "chat"}
    spans = [
        Span("1" * 32, f"{n + 1:016x}", f"{tie + 1:016x}", "x", n, n + 1, attributes=chat if call else {})
        for n, (tie, call) in enumerate(zip(ties, is_call, strict=True))
    ]
    found = parents(dialects.read(spans))
    for key in found:
        at: SpanKey | None = key
        for _ in range(9):
            at = found[at] if at is not None else None
        assert at is None


def test_a_nameless_agent_around_agents_is_a_workflow(span: MakeSpan, chat: MakeSpan) -> None:
    """A wrapper without a name and without model or tool calls of its own only holds agents together."""
    kind = {"openinference.span.kind": "AGENT"}
    wrapper = span(kind)
    chain = span({"openinference.span.kind": "CHAIN"}, wrapper)
    named = span({**kind, "agent.name": "a"}, chain)
    model = chat({}, named)
    calls = {call.key: call for call in dialects.read([wrapper, chain, named, model]).calls}
    workflows = {key for key, call in calls.items() if isinstance(call, AgentCall) and call.workflow}
    assert workflows == {wrapper.key}
    busy = [*[wrapper, chain, named, model], chat({}, wrapper)]
    assert not any(isinstance(call, AgentCall) and call.workflow for call in dialects.read(busy).calls)


AGENT = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a"}


def test_an_orphan_within_an_agents_time_is_the_agents(span: MakeSpan, chat: MakeSpan) -> None:
    """A filter dropped the spans between: the innermost of calls that stand one in the other, and no orphan."""
    outer = span(AGENT, start_ns=0, end_ns=90)
    tool = span({"gen_ai.operation.name": "execute_tool"}, parent_id="a" * 16, start_ns=10, end_ns=80)
    inner = span(AGENT, tool, start_ns=20, end_ns=70)
    model = chat(parent_id="b" * 16, start_ns=30, end_ns=40)
    reading = dialects.read([model, inner, tool, outer])
    assert parents(reading) == {outer.key: None, tool.key: outer.key, inner.key: tool.key, model.key: inner.key}
    assert not any(call.orphan for call in reading.calls)


def test_an_orphan_is_left_alone_where_its_home_is_not_plain(span: MakeSpan, chat: MakeSpan) -> None:
    """Two agents ran at its time, one has the same lost parent, or it ran no shorter than the agent."""
    model = chat(parent_id="b" * 16, start_ns=30, end_ns=40)
    one, other = span(AGENT, start_ns=0, end_ns=90), span(AGENT, start_ns=10, end_ns=80)
    sibling = replace(one, parent_id=model.parent_id)
    equal = replace(one, start_ns=30, end_ns=40)
    for around in ([one, other], [sibling], [equal], [replace(one, end_ns=None)]):
        found = {call.key: call for call in dialects.read([model, *around]).calls}
        assert (found[model.key].parent, found[model.key].orphan) == (None, True)
