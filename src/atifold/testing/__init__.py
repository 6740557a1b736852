"""Test the telemetry of an agent: in-memory providers around a bus, and a check against the conventions.

```python
with Harness() as harness, harness.bus.run("greeter", "Hello") as run:
    with run.llm("m-1", provider="openai") as call:
        call.respond("Hi.", input_tokens=1, output_tokens=1)
assert_conforms(spans=harness.spans, metrics=harness.metrics(), logs=harness.logs)
```

The check holds any telemetry against the conventions of `atifold.semconv.PINNED_COMMIT`, whoever
emitted it. Nothing else of the package needs this part.
"""

from __future__ import annotations

from atifold.testing.conforming import assert_conforms, faults
from atifold.testing.fault import Fault
from atifold.testing.harness import Harness

__all__ = ["Fault", "Harness", "assert_conforms", "faults"]
