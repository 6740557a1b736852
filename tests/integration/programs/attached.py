"""Book a table for each day that comes on stdin, with a pipeline set up by hand."""

from __future__ import annotations

import sys

from agent import book
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.urllib import URLLibInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from atifold import AtifSpanProcessor, instrument

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
provider.add_span_processor(AtifSpanProcessor())
URLLibInstrumentor().instrument(tracer_provider=provider)
bus = instrument(provider)

for line in sys.stdin:
    book(bus, sys.argv[1], line.strip())
    provider.force_flush()
    print("booked", line.strip(), flush=True)  # noqa: T201 - the test waits for it
provider.shutdown()
