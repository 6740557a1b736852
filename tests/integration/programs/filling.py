"""Take a turn of 20 KB for each line of stdin, have it written, and say what the processor counts."""

from __future__ import annotations

import json
import sys

from opentelemetry.sdk.trace import TracerProvider

from atifold import AtifSpanProcessor, EventBus, instrument

provider = TracerProvider()
processor = AtifSpanProcessor()
provider.add_span_processor(processor)
bus = instrument(provider, bus=EventBus())

for line in sys.stdin:
    if line.strip():
        with bus.run("teller", line.strip()) as run, run.llm("gpt-4o", provider="openai") as call:
            call.respond("x" * 20_000, output_tokens=4)
    written = provider.force_flush()
    print(json.dumps({"written": written, **processor.counts}), flush=True)  # noqa: T201 - the test reads it
provider.shutdown()
print(json.dumps(processor.counts), flush=True)  # noqa: T201 - as above
