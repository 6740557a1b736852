// One turn of an agent with a tool, traced with OpenTelemetry's SDK for JavaScript in gen_ai attributes.
//
//   agent.cjs EXPORTER ENDPOINT DAY    EXPORTER is http (JSON), proto or grpc
'use strict';

const { SpanKind, SpanStatusCode, context, trace } = require('@opentelemetry/api');
const { BatchSpanProcessor, NodeTracerProvider } = require('@opentelemetry/sdk-trace-node');

const [exporter, endpoint, day] = process.argv.slice(2);
const { OTLPTraceExporter } = require(`@opentelemetry/exporter-trace-otlp-${exporter}`);
const url = exporter === 'grpc' ? endpoint : `${endpoint}/v1/traces`;
const provider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter({ url }))] });
provider.register();
const tracer = trace.getTracer('bookings', '1.0.0');

const text = (role, content) => ({ role, parts: [{ type: 'text', content }] });
const asked = text('user', `A table on ${day}, für zwei 🍝`);
const wanted = {
  role: 'assistant',
  parts: [{ type: 'tool_call', id: 'call_1', name: 'find_table', arguments: { day, seats: 2 } }],
  finish_reason: 'tool_calls',
};
const found = { role: 'tool', parts: [{ type: 'tool_call_response', id: 'call_1', response: `free on ${day}` }] };
const answer = { ...text('assistant', `Booked for ${day}.`), finish_reason: 'stop' };

function chat(input, output, inputTokens, outputTokens) {
  const attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'gpt-4o',
    'gen_ai.response.finish_reasons': [output.finish_reason],
    'gen_ai.usage.input_tokens': inputTokens,
    'gen_ai.usage.output_tokens': outputTokens,
    'gen_ai.request.temperature': 0.5,
    'gen_ai.input.messages': JSON.stringify(input),
    'gen_ai.output.messages': JSON.stringify([output]),
  };
  tracer.startSpan('chat gpt-4o', { kind: SpanKind.CLIENT, attributes }).end();
}

function findTable() {
  const attributes = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'find_table',
    'gen_ai.tool.call.id': 'call_1',
    'gen_ai.tool.call.arguments': JSON.stringify({ day, seats: 2 }),
    'gen_ai.tool.call.result': `free on ${day}`,
  };
  const span = tracer.startSpan('execute_tool find_table', { attributes });
  span.setStatus({ code: SpanStatusCode.OK });
  span.end();
}

const named = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'bookings' };
const agent = tracer.startSpan('invoke_agent bookings', { attributes: named });
context.with(trace.setSpan(context.active(), agent), () => {
  chat([asked], wanted, 30, 12);
  findTable();
  chat([asked, wanted, found], answer, 51, 11);
});
agent.end();
provider.shutdown();
