"""Name the reasons for which a request is refused, each in the words of both protocols.

Source: the OTLP specification, "OTLP/HTTP Response" and "OTLP/gRPC Response".
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from google.rpc import code_pb2, error_details_pb2, status_pb2


class Reason(NamedTuple):
    """One reason: its name in figures, the HTTP status, the gRPC status, whether to come again is worth it."""

    name: str
    http: int
    grpc: int
    again: bool = False


BAD: Final = Reason("bad", 400, code_pb2.INVALID_ARGUMENT)
UNKNOWN: Final = Reason("unauthenticated", 401, code_pb2.UNAUTHENTICATED)
SLOW: Final = Reason("slow", 408, code_pb2.DEADLINE_EXCEEDED)
TOO_LARGE: Final = Reason("too_large", 413, code_pb2.RESOURCE_EXHAUSTED)
UNREADABLE: Final = Reason("unsupported", 415, code_pb2.UNIMPLEMENTED)
FAULT: Final = Reason("fault", 500, code_pb2.INTERNAL)
BUSY: Final = Reason("busy", 429, code_pb2.RESOURCE_EXHAUSTED, again=True)
CLOSING: Final = Reason("closing", 503, code_pb2.UNAVAILABLE, again=True)


class RefusedError(Exception):
    """A request is not taken, none of it."""

    def __init__(self, reason: Reason, words: str, *, retry_s: int = 0) -> None:
        """Take the reason, words for whoever sent it, and after how many seconds it may come again."""
        super().__init__(words)
        self.reason = reason
        self.words = words
        self.retry_s = retry_s if reason.again else 0

    def status(self) -> Any:
        """Return the refusal as both protocols tell it, with `RetryInfo` where it may come again."""
        status = status_pb2.Status(code=self.reason.grpc, message=self.words)
        if self.retry_s:
            info = error_details_pb2.RetryInfo()
            info.retry_delay.seconds = self.retry_s
            status.details.add().Pack(info)
        return status
