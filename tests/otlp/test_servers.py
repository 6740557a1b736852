"""What tracing servers give back beyond what `test_exports` writes: older forms, odd values, what is broken."""

from __future__ import annotations

import base64
import json
from typing import Any, ClassVar

import pytest

from atifold import otlp
from atifold.otlp.instants import instant
from atifold.spans import Kind, Link, LogRecord, Span, SpanEvent, Status

TRACE, SPAN, OTHER = "a" * 32, "b" * 16, "c" * 16


def parsed(value: Any) -> otlp.Batch:
    """Return what a JSON value holds."""
    return otlp.parse(json.dumps(value).encode(), "x.json")


def one(value: Any) -> Span:
    """Return the only span of a JSON value, which is read without a complaint."""
    batch = parsed(value)
    assert batch.complaints == []
    (span,) = batch.spans
    return span


class TestJaeger:
    """The JSON of Jaeger's UI and its older API."""

    item: ClassVar[dict[str, Any]] = {
        "traceID": TRACE,
        "spanID": SPAN,
        "operationName": "chat",
        "references": [{"refType": "CHILD_OF", "traceID": TRACE, "spanID": OTHER}],
        "startTime": 1_700_000_000_000_001,
        "duration": 2,
        "tags": [
            {"key": "otel.scope.name", "type": "string", "value": "lib"},
            {"key": "span.kind", "type": "string", "value": "client"},
            {"key": "error", "type": "bool", "value": True},
            {"key": "n", "type": "int64", "value": "7"},
            {"key": "f", "type": "float64", "value": 1},
            {"key": "b", "type": "binary", "value": "AAE="},
            {"key": "odd", "type": "int64", "value": "seven"},
        ],
        "logs": [{"timestamp": 5, "fields": [{"key": "event", "value": "e"}, {"key": "k", "value": "v"}]}],
        "processID": "p1",
        "warnings": ["clock skew"],
    }
    trace: ClassVar[dict[str, Any]] = {
        "traceID": TRACE,
        "spans": [item],
        "processes": {"p1": {"serviceName": "shop", "tags": [{"key": "service.version", "value": "2"}]}},
    }

    def test_a_span_is_read_whole(self) -> None:
        """Tags that are fields become those; a value that is not of its type stays."""
        assert one({"data": [self.trace], "total": 0, "errors": None}) == Span(
            trace_id=TRACE,
            span_id=SPAN,
            parent_id=OTHER,
            name="chat",
            start_ns=1_700_000_000_000_001_000,
            end_ns=1_700_000_000_000_003_000,
            kind=Kind.CLIENT,
            attributes={"error": True, "n": 7, "f": 1.0, "b": b"\0\1", "odd": "seven"},
            events=(SpanEvent("e", 5_000, {"k": "v"}),),
            status=Status.ERROR,
            resource={"service.name": "shop", "service.version": "2"},
            scope_name="lib",
        )

    @pytest.mark.parametrize("wrap", [lambda t: t, lambda t: [t], lambda t: {"data": t}])
    def test_a_trace_may_stand_alone(self, wrap: Any) -> None:
        """Downloads of the UI differ in what is around it."""
        assert one(wrap(self.trace)).span_id == SPAN

    def test_a_link_to_the_parent_is_still_the_parent(self) -> None:
        """Jaeger writes FOLLOWS_FROM for both then; a reference to another trace is a link."""
        references = [
            {"refType": "FOLLOWS_FROM", "traceID": "d" * 32, "spanID": OTHER},
            {"refType": "FOLLOWS_FROM", "traceID": TRACE, "spanID": OTHER},
        ]
        span = one({**self.trace, "spans": [{**self.item, "references": references}]})
        assert span.parent_id == OTHER
        assert span.links == (Link("d" * 32, OTHER), Link(TRACE, OTHER))

    def test_a_bad_process_costs_only_the_resource(self) -> None:
        """Its spans are read all the same."""
        batch = parsed({**self.trace, "processes": {"p1": {"tags": "none"}}})
        assert [span.resource for span in batch.spans] == [{}]
        assert "found a process that cannot be read" in str(batch.complaints[0])


class TestPhoenix:
    """The REST API of Phoenix."""

    item: ClassVar[dict[str, Any]] = {
        "name": "chat",
        "context": {"trace_id": TRACE, "span_id": SPAN},
        "span_kind": "LLM",
        "parent_id": None,
        "start_time": "2023-11-14T22:13:20.000001+00:00",
        "end_time": 1_700_000_001.5,
        "status_code": "ERROR",
        "status_message": "no",
        "attributes": {
            "llm": {"input_messages": [{"message": {"role": "user"}}], "model_name": "m"},
            "gen_ai.response.finish_reasons": ["stop"],
            "gen_ai.tool.call.arguments.city.name": "Lyon",
            "gen_ai.input.messages.0.role": "user",
            "gen_ai.input.messages.1.role": "assistant",
        },
        "events": [{"name": "exception", "timestamp": "2023-11-14T22:13:20Z", "attributes": {"exception.type": "E"}}],
    }

    def test_attributes_are_dotted_and_whole_values_put_together(self) -> None:
        """However Phoenix keeps them, they get the names that dialects read."""
        span = one({"data": [self.item], "next_cursor": None})
        assert span.attributes == {
            "openinference.span.kind": "LLM",
            "llm.input_messages.0.message.role": "user",
            "llm.model_name": "m",
            "gen_ai.response.finish_reasons": ["stop"],
            "gen_ai.tool.call.arguments": {"city": {"name": "Lyon"}},
            "gen_ai.input.messages": [{"role": "user"}, {"role": "assistant"}],
        }
        assert (span.start_ns, span.end_ns) == (1_700_000_000_000_001_000, 1_700_000_001_500_000_000)
        assert (span.status, span.status_message) == (Status.ERROR, "no")
        assert span.events == (SpanEvent("exception", 1_700_000_000_000_000_000, {"exception.type": "E"}),)

    def test_spans_may_come_one_a_line_or_as_a_list(self) -> None:
        """As clients write them."""
        assert one([self.item]).span_id == SPAN
        lines = b"\n".join(json.dumps(self.item).encode() for _ in range(2))
        assert len(otlp.parse(lines, "x.jsonl").spans) == 2

    def test_a_span_without_a_time_that_is_one_is_a_complaint(self) -> None:
        """The others of the page are read."""
        batch = parsed({"data": [self.item, {**self.item, "start_time": "soon"}]})
        assert len(batch.spans) == 1
        assert str(batch.complaints[0]) == (
            "x.json: found a span that cannot be read (time soon), wanted a Phoenix span"
        )

    def test_what_phoenix_says_once_more_is_left_out(self) -> None:
        """Counts and parameters in OpenInference's names, where they equal those in the conventions' names."""
        told = {
            "gen_ai.usage.input_tokens": 3,
            "gen_ai.usage.output_tokens": 2,
            "gen_ai.usage.cache_read.input_tokens": 1,
            "gen_ai.request.temperature": 0.2,
        }
        counts = {"prompt": 3, "completion": 2, "total": 5, "prompt_details": {"cache_read": 1}}
        added = {"llm": {"token_count": counts, "invocation_parameters": '{"temperature": 0.2}'}}
        assert (
            one({"data": [{**self.item, "span_kind": "UNKNOWN", "attributes": {**told, **added}}]}).attributes == told
        )

    def test_what_says_something_else_stays(self) -> None:
        """Other figures, figures of which the conventions say nothing, other parameters and what is no JSON."""
        told = {
            "gen_ai.usage.input_tokens": 3,
            "gen_ai.usage.output_tokens": 2,
            "gen_ai.request.temperature": 0.2,
            "llm.token_count.prompt": 4,
            "llm.token_count.total": 6,
            "llm.token_count.prompt_details.cache_read": 1,
        }
        for parameters in ('{"temperature": 0.2, "top_p": 1}', '{"temperature": 1}', "{", "[]", 7):
            attributes = {**told, "llm.invocation_parameters": parameters}
            item = {**self.item, "span_kind": "UNKNOWN", "attributes": attributes}
            assert one({"data": [item]}).attributes == attributes


class TestMlflow:
    """Traces of MLflow in the forms of its versions."""

    fourth: ClassVar[dict[str, Any]] = {
        "trace_id": "tr-1",
        "otel_trace_id": TRACE,
        "span_id": SPAN,
        "parent_span_id": None,
        "name": "chat",
        "start_time_unix_nano": 1_700_000_000_000_000_001,
        "end_time_unix_nano": None,
        "events": [{"name": "e", "time_unix_nano": 5, "attributes": {"k": "v"}}],
        "status": {"code": "OK", "message": ""},
        "attributes": {
            "mlflow.traceRequestId": '"tr-1"',
            "mlflow.spanType": '"LLM"',
            "gen_ai.request.model": '"m"',
            "gen_ai.request.top_k": "3",
            "gen_ai.tool.call.result": '{"a": 1}',
            "plain": "words",
        },
    }

    def test_json_texts_are_opened_but_objects_stay_texts(self) -> None:
        """A text that was JSON before keeps its form."""
        span = one({"spans": [self.fourth]})
        assert span.attributes == {
            "mlflow.spanType": '"LLM"',
            "gen_ai.request.model": "m",
            "gen_ai.request.top_k": 3,
            "gen_ai.tool.call.result": '{"a": 1}',
            "plain": "words",
        }
        assert (span.trace_id, span.start_ns, span.end_ns) == (TRACE, 1_700_000_000_000_000_001, None)
        assert (span.status, span.events) == (Status.OK, (SpanEvent("e", 5, {"k": "v"}),))

    def test_the_session_of_the_trace_is_said_of_its_spans(self) -> None:
        """It stands in the metadata of the trace, whatever the API calls that."""
        for trace in (
            {"info": {"trace_metadata": {"mlflow.trace.session": "s"}}, "data": {"spans": [self.fourth]}},
            {"trace": {"trace_info": {"request_metadata": {"mlflow.trace.session": "s"}}, "spans": [self.fourth]}},
        ):
            for value in (trace, [trace], {"traces": [trace]}):
                assert one(value).attributes["mlflow.trace.session"] == "s"

    def test_the_second_schema_has_a_context(self) -> None:
        """Its ids begin with 0x, its status stands apart."""
        second = {
            "name": "a",
            "context": {"span_id": f"0x{SPAN}", "trace_id": f"0x{TRACE}"},
            "parent_id": f"0x{OTHER}",
            "start_time": 1_700_000_000_000_000_001,
            "end_time": 1_700_000_000_000_000_002,
            "status_code": "ERROR",
            "status_message": "no",
            "attributes": {"mlflow.spanType": '"TOOL"'},
            "events": [{"name": "e", "timestamp": 1_700_000_000_000_000_001, "attributes": {}}],
        }
        span = one({"spans": [second], "request": "{}", "response": "{}"})
        assert (span.trace_id, span.span_id, span.parent_id) == (TRACE, SPAN, OTHER)
        assert (span.status, span.status_message) == (Status.ERROR, "no")
        assert (span.start_ns, span.end_ns) == (1_700_000_000_000_000_001, 1_700_000_000_000_000_002)

    def test_the_ids_of_links_are_read(self) -> None:
        """They have MLflow's mark before them; those that came as OTLP JSON it took for base64."""
        mangled = [base64.b64decode(each).hex() for each in (TRACE, OTHER)]
        for trace_id, span_id in ((TRACE, OTHER), mangled):
            link = {"trace_id": f"tr-{trace_id}", "span_id": span_id, "attributes": None}
            assert one({"spans": [{**self.fourth, "links": [link]}]}).links == (Link(TRACE, OTHER),)

    @pytest.mark.parametrize(
        ("written", "read"),
        [
            ("0xpRpuPvYL4=", "d31a51a6e3ef60be"),
            (f"0x{OTHER}", OTHER),
            (base64.b64encode(bytes.fromhex(OTHER)).decode(), OTHER),
        ],
    )
    def test_an_id_in_base64_may_begin_as_one_in_hex_does(self, written: str, read: str) -> None:
        """One of four thousand does."""
        assert one({"spans": [{**self.fourth, "span_id": written}]}).span_id == read


class TestLangfuse:
    """Exports of Langfuse."""

    item: ClassVar[dict[str, Any]] = {
        "id": SPAN,
        "traceId": TRACE,
        "type": "GENERATION",
        "name": "chat",
        "startTime": "2023-11-14T22:13:20.001Z",
        "endTime": "2023-11-14T22:13:21Z",
        "parentObservationId": OTHER,
        "level": "ERROR",
        "statusMessage": "no",
        "input": [{"role": "user", "content": "Hi"}],
        "output": "Hello",
        "model": "m",
        "modelParameters": {"temperature": 1},
        "usageDetails": {"input": 3, "output": 4},
        "costDetails": {},
        "totalCost": 0,
        "metadata": {
            "attributes": {"gen_ai.system": "openai"},
            "resourceAttributes": {"service.name": "shop"},
            "scope": {"name": "lib", "version": "1"},
            "thread_id": "t",
        },
    }

    def test_an_observation_becomes_the_span_that_it_was(self) -> None:
        """What came over OTLP is in its metadata; a price of 0 is unknown."""
        assert one({"id": TRACE, "sessionId": "s", "userId": None, "observations": [self.item]}) == Span(
            trace_id=TRACE,
            span_id=SPAN,
            parent_id=OTHER,
            name="chat",
            start_ns=1_700_000_000_001_000_000,
            end_ns=1_700_000_001_000_000_000,
            attributes={
                "gen_ai.system": "openai",
                "langfuse.observation.metadata.thread_id": "t",
                "session.id": "s",
                "langfuse.observation.type": "generation",
                "langfuse.observation.input": '[{"role":"user","content":"Hi"}]',
                "langfuse.observation.output": "Hello",
                "langfuse.observation.model.name": "m",
                "langfuse.observation.model.parameters": '{"temperature":1}',
                "langfuse.observation.usage_details": '{"input":3,"output":4}',
                "langfuse.observation.level": "ERROR",
                "langfuse.observation.status_message": "no",
            },
            status=Status.ERROR,
            status_message="no",
            resource={"service.name": "shop"},
            scope_name="lib",
            scope_version="1",
        )

    def test_the_download_of_the_ui_has_each_observation_twice(self) -> None:
        """The one inside the trace has no content; the session stands on the trace."""
        bare = {**self.item, "input": None, "output": None, "metadata": "{}"}
        span = one({"trace": {"id": TRACE, "sessionId": "s", "observations": [bare]}, "observations": [self.item]})
        assert span.attributes["langfuse.observation.output"] == "Hello"
        assert span.attributes["session.id"] == "s"

    @pytest.mark.parametrize("wrap", [lambda o: o, lambda o: [o], lambda o: {"data": [o], "meta": {"page": 1}}])
    def test_observations_may_come_without_their_trace(self, wrap: Any) -> None:
        """As the API's pages and lists have them."""
        assert one(wrap(self.item)).trace_id == TRACE

    def test_rows_of_a_blob_export_have_other_names(self) -> None:
        """One a line, in snake_case, metadata as JSON text."""
        row = {
            "id": SPAN,
            "trace_id": TRACE,
            "type": "TOOL",
            "name": "t",
            "start_time": "2023-11-14 22:13:20.001",
            "end_time": None,
            "parent_observation_id": None,
            "metadata": '{"attributes":{"a":"b"}}',
            "total_cost": 0.5,
        }
        span = one(row)
        assert (span.start_ns, span.end_ns, span.parent_id) == (1_700_000_000_001_000_000, None, None)
        assert span.attributes["langfuse.observation.cost_details"] == '{"total":0.5}'
        assert span.attributes["a"] == "b"

    def test_ids_that_are_none_of_opentelemetry_keep_who_is_whose(self) -> None:
        """Older versions had UUIDs, and ids that users chose."""
        trace = "12345678-1234-1234-1234-123456789abc"
        items = [
            {**self.item, "id": "root", "traceId": trace, "parentObservationId": None},
            {**self.item, "id": "time-1_leaf", "traceId": trace, "parentObservationId": "root"},
        ]
        root, leaf = parsed(items).spans
        assert (root.parent_id, leaf.parent_id) == (None, root.span_id)
        assert root.trace_id == trace.replace("-", "")
        assert len(leaf.span_id) == 16

    def test_a_bad_observation_costs_only_itself(self) -> None:
        """A trace that names its observations only is another thing than Langfuse exports."""
        batch = parsed({"id": TRACE, "observations": [self.item, {**self.item, "startTime": None}, "an id"]})
        assert len(batch.spans) == 1
        reasons = ("no 'startTime'", "a text in place of an object")
        assert [str(complaint) for complaint in batch.complaints] == [
            f"x.json: found an observation that cannot be read ({reason}), wanted a Langfuse observation"
            for reason in reasons
        ]
        assert "found a JSON object with id, observations" in str(
            parsed({"id": TRACE, "observations": ["an id"]}).complaints[0]
        )


def test_a_list_may_hold_several_containers() -> None:
    """Each part is what it is; one that is none is one complaint."""
    request = {"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": TRACE, "spanId": SPAN, "name": "x"}]}]}]}
    batch = parsed([request, TestJaeger.trace, TestPhoenix.item, {"a": 1}])
    assert len(batch.spans) == 3
    assert [str(complaint).split(",")[0] for complaint in batch.complaints] == ["x.json: found a JSON object with a"]


def test_spans_that_the_sdk_prints_are_read() -> None:
    """`ReadableSpan.to_json` of OpenTelemetry for Python."""
    printed = {
        "name": "chat",
        "context": {"trace_id": f"0x{TRACE}", "span_id": f"0x{SPAN}", "trace_state": "[]"},
        "kind": "SpanKind.CLIENT",
        "parent_id": None,
        "start_time": "2023-11-14T22:13:20.000001Z",
        "end_time": "2023-11-14T22:13:21.000000Z",
        "status": {"status_code": "ERROR", "description": "no"},
        "attributes": {"a": [1]},
        "events": [],
        "links": [{"context": {"trace_id": f"0x{TRACE}", "span_id": f"0x{OTHER}"}, "attributes": {}}],
        "resource": {"attributes": {"service.name": "shop"}, "schema_url": ""},
    }
    span = one(printed)
    assert (span.kind, span.status, span.status_message) == (Kind.CLIENT, Status.ERROR, "no")
    assert (span.links, span.resource) == ((Link(TRACE, OTHER),), {"service.name": "shop"})


def test_nested_without_end_is_a_complaint() -> None:
    """What no container is nested like does not exhaust the reader."""
    for key in ("data", "trace"):
        text = f'{{"{key}":' * 900 + "1" + "}" * 900
        assert len(otlp.parse(text.encode(), "x.json").complaints) == 1


@pytest.mark.parametrize(
    ("value", "ns"),
    [
        (None, 0),
        ("", 0),
        (1_700_000_000, 1_700_000_000_000_000_000),
        (1_700_000_000_123, 1_700_000_000_123_000_000),
        (1_700_000_000_123_456, 1_700_000_000_123_456_000),
        (1_700_000_000_123_456_789, 1_700_000_000_123_456_789),
        ("1700000000123456789", 1_700_000_000_123_456_789),
        (1_700_000_000.123456, 1_700_000_000_123_456_000),
        ("1700000000.123456", 1_700_000_000_123_456_000),
        ("2023-11-14T22:13:20Z", 1_700_000_000_000_000_000),
        ("2023-11-14T23:13:20.123456789+01:00", 1_700_000_000_123_456_789),
        ("2023-11-14 17:13:20.5-0500", 1_700_000_000_500_000_000),
    ],
)
def test_a_time_is_read_in_its_unit(value: Any, ns: int) -> None:
    """The size of a number tells it."""
    assert instant(value) == ns


@pytest.mark.parametrize("value", ["soon", -1, [], float("nan"), float("inf"), "2023-02-30T00:00:00Z", {}])
def test_what_is_no_time_is_refused(value: Any) -> None:
    """With what stands there."""
    with pytest.raises(ValueError, match=r"time|day"):
        instant(value)


class TestCloudWatch:
    """What AgentCore's runtime logs, as lines and as the answer of a query."""

    record: ClassVar[dict[str, Any]] = {
        "resource": {"attributes": {"service.name": "shop"}},
        "scope": {"name": "lib", "version": "2"},
        "timeUnixNano": 0,
        "observedTimeUnixNano": 7,
        "body": {"input": {"messages": []}},
        "attributes": {"event.name": "lib", "session.id": "s"},
        "traceId": TRACE,
        "spanId": SPAN,
    }
    wanted = LogRecord(
        "lib",
        7,
        TRACE,
        SPAN,
        {"event.name": "lib", "session.id": "s"},
        {"input": {"messages": []}},
        {"service.name": "shop"},
        "lib",
        "2",
    )

    def answer(self, *messages: Any) -> dict[str, Any]:
        """Return the answer of `FilterLogEvents`."""
        texts = [message if isinstance(message, str) else json.dumps(message) for message in messages]
        return {"events": [{"timestamp": 1, "message": text} for text in texts], "searchedLogStreams": []}

    @pytest.mark.parametrize("wrapped", [True, False])
    def test_a_record_is_read_whole(self, *, wrapped: bool) -> None:
        """Values are plain; the time is when it was observed where it has none of its own."""
        batch = parsed(self.answer("a line of a log", self.record) if wrapped else self.record)
        assert (batch.logs, batch.spans, batch.complaints) == ([self.wanted], [], [])

    def test_records_without_a_trace_and_spans_are_read_too(self) -> None:
        """`aws/spans` holds spans in the same form."""
        span = {"traceId": TRACE, "spanId": SPAN, "name": "chat", "startTimeUnixNano": 5, "attributes": {"a": 1}}
        batch = parsed(self.answer({**self.record, "traceId": "", "spanId": ""}, span))
        assert [record.trace_id for record in batch.logs] == [None]
        assert [(found.name, found.start_ns, found.attributes) for found in batch.spans] == [("chat", 5, {"a": 1})]

    def test_a_broken_record_costs_only_itself(self) -> None:
        """And leaves a complaint."""
        batch = parsed(self.answer({**self.record, "timeUnixNano": "soon"}, self.record))
        assert batch.logs == [self.wanted]
        assert [str(complaint) for complaint in batch.complaints] == [
            "x.json: found a log record that cannot be read (time soon), wanted a CloudWatch log record"
        ]


class TestLangSmith:
    """Runs, in lists, in answers and below each other."""

    run: ClassVar[dict[str, Any]] = {
        "id": "0b1c2d3e-4f50-7000-8000-000000000002",
        "trace_id": "0b1c2d3e-4f50-7000-8000-000000000001",
        "parent_run_id": "0b1c2d3e-4f50-7000-8000-000000000001",
        "name": "ChatAtlas",
        "run_type": "llm",
        "start_time": "2026-09-21T14:13:20.5",
        "end_time": "2026-09-21T14:13:21+00:00",
        "inputs": {"messages": [[]]},
        "outputs": {},
        "error": "ValueError('no')Traceback (most recent call last):\n\n  File",
        "extra": {"metadata": {"thread_id": "t", "n": 3, "none": None}, "invocation_params": {"model": "m-1"}},
        "prompt_tokens": 9,
        "prompt_token_details": {"cache_read": 4},
        "total_cost": "0.002",
    }

    def test_a_run_is_read_whole(self) -> None:
        """As the span that the SDK would have sent; without a zone times are UTC."""
        span = one([self.run])
        assert (span.trace_id, span.name, span.status) == (
            "0b1c2d3e4f5070008000000000000001",
            "ChatAtlas",
            Status.ERROR,
        )
        assert (span.start_ns, span.end_ns) == (1_790_000_000_500_000_000, 1_790_000_001_000_000_000)
        assert span.status_message == "ValueError('no')"
        assert span.attributes == {
            "langsmith.span.kind": "llm",
            "langsmith.trace.name": "ChatAtlas",
            "gen_ai.prompt": '{"messages":[[]]}',
            "gen_ai.request.model": "m-1",
            "langsmith.metadata.thread_id": "t",
            "langsmith.metadata.n": "3",
            "langsmith.metadata.usage_metadata": '{"input_tokens":9,"input_token_details":{"cache_read":4}}',
            "gen_ai.usage.cost": "0.002",
        }

    @pytest.mark.parametrize("wrap", [list, lambda runs: {"runs": runs, "cursors": {}}, lambda runs: runs[0]])
    def test_runs_lie_in_lists_in_answers_and_below_runs(self, wrap: Any) -> None:
        """A parent is the one that a run names; sums of what is below a run are not its own."""
        root = {**self.run, "id": self.run["trace_id"], "run_type": "chain", "parent_run_id": None, "error": None}
        below = wrap is not list
        runs = [{**root, "child_runs": [self.run]}] if below else [root, self.run]
        outer, inner = parsed(wrap(runs)).spans
        assert (outer.parent_id, inner.parent_id) == (None, outer.span_id)
        assert not any("usage" in name for name in outer.attributes)

    def test_a_trace_that_is_not_named_is_its_outermost_run(self) -> None:
        """Which the order of a run tells; a run without that is a trace of its own."""
        bare = {name: value for name, value in self.run.items() if name != "trace_id"}
        order = f"20260921T141320000000Z{self.run['trace_id']}.20260921T141320500000Z{self.run['id']}"
        assert one([{**bare, "dotted_order": order}]).trace_id == "0b1c2d3e4f5070008000000000000001"
        assert one([bare]).trace_id == "0b1c2d3e4f5070008000000000000002"

    def test_cells_of_a_table_hold_json_text(self) -> None:
        """As exports into tables have them."""
        cells = {"extra": json.dumps(self.run["extra"]), "inputs": json.dumps(self.run["inputs"])}
        assert one({**self.run, **cells}).attributes["langsmith.metadata.thread_id"] == "t"

    def test_a_broken_run_costs_only_itself(self) -> None:
        """And leaves a complaint."""
        batch = parsed([{**self.run, "start_time": "soon"}, self.run, 7])
        assert len(batch.spans) == 1
        assert [str(complaint) for complaint in batch.complaints] == [
            "x.json: found a run that cannot be read (time soon), wanted a LangSmith run",
            "x.json: found a run that cannot be read (a number in place of an object), wanted a LangSmith run",
        ]
