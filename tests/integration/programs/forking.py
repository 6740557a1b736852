"""Fork in the middle of a turn: the child books for Monday and leaves, the parent books for Friday.

The second argument says who ends last: `parent` or `child`.
"""

from __future__ import annotations

import os
import sys

from agent import book
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from atifold import instrument

target, last = sys.argv[1:]
provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
bus = instrument(provider)
reader, writer = os.pipe()

with bus.run("bookings", "Before the fork") as run:
    with run.llm("gpt-4o", provider="openai") as call:
        call.respond("In the parent alone.", input_tokens=3, output_tokens=4)
    child = os.fork()
    if child == 0:
        os.close(writer)
        if last == "child":
            os.read(reader, 1)  # ends when the parent has
        book(bus, target, "Monday")
        sys.exit()
if last == "parent":
    os.waitpid(child, 0)
book(bus, target, "Friday")
provider.shutdown()
