"""Trace a model call by the APIs alone, as an instrumentation does whose content goes into log records."""

from __future__ import annotations

from opentelemetry import trace
from opentelemetry._logs import LogRecord, get_logger

CHAT = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-4o"}

with trace.get_tracer("instrumentation").start_as_current_span("chat gpt-4o", attributes=CHAT):
    for name, body in (
        ("gen_ai.user.message", {"content": "Where is it?"}),
        ("gen_ai.choice", {"index": 0, "finish_reason": "stop", "message": {"content": "Here."}}),
    ):
        get_logger("instrumentation").emit(LogRecord(event_name=name, body=body))
