"""An agent behind a web server: a request books a table, and is told which process did."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from agent import book

from atifold import shared_bus

TARGET = os.environ["TARGET"]

if os.environ.get("AT_IMPORT"):
    book(shared_bus(), TARGET, os.environ["AT_IMPORT"])


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Serve WSGI."""
    book(shared_bus(), TARGET, environ["PATH_INFO"][1:])
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [str(os.getpid()).encode()]


async def asgi(
    scope: dict[str, Any], receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]
) -> None:
    """Serve ASGI."""
    if scope["type"] != "http":
        raise NotImplementedError(scope["type"])
    book(shared_bus(), TARGET, scope["path"][1:])
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(os.getpid()).encode()})
