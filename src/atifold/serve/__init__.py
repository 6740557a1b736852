"""Take OTLP over HTTP and gRPC, and fold what comes while it comes: what `atifold serve` runs.

`receiver` is the middle: it knows neither protocol. `http` and `rpc` are the two doors, `running` opens
them and closes them again. The libraries for both come with the extra `serve`.
"""

from __future__ import annotations

from atifold.serve.limits import Limits, Place, Tls
from atifold.serve.receiver import Receiver

__all__ = ["Limits", "Place", "Receiver", "Tls"]
