"""Take OTLP over HTTP: `POST /v1/traces` and `/v1/logs`, protobuf or JSON, plain or gzip.

Beside them stand `GET /healthz` and `GET /metrics`. Source: the OTLP specification, "OTLP/HTTP".
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from functools import partial
from typing import Any, Final

from aiohttp import ClientError, web
from aiohttp.http import HttpProcessingError

from atifold.serve import figures
from atifold.serve.receiver import Receiver
from atifold.serve.refusals import BAD, SLOW, TOO_LARGE, UNREADABLE, RefusedError
from atifold.serve.room import Share
from atifold.serve.signals import SIGNALS, Form, Read, Signal, response, written

_LAST_S: Final = 1.0  # for requests that were waited for already
_CHUNK: Final = 65_536
_PLAIN: Final = ("", "identity")


class HttpDoor:
    """Answer HTTP requests; bodies are read here and taken in by the threads of `executor`."""

    def __init__(self, receiver: Receiver, executor: Executor) -> None:
        """Take who takes requests in, and the threads."""
        self._receiver = receiver
        self._executor = executor
        self._runner: web.AppRunner | None = None
        self._in_work = 0
        self._idle = asyncio.Event()  # set by the last request in work
        self.others: Callable[[], dict[str, int]] = dict

    def runner(self) -> web.AppRunner:
        """Return what listens, not yet set up."""
        app = web.Application()
        app.on_response_prepare.append(_sign)
        app.add_routes([web.post(signal.path, self._export(signal)) for signal in SIGNALS])
        app.add_routes([web.get("/healthz", self._health), web.get("/metrics", self._metrics)])
        self._runner = web.AppRunner(
            app,
            access_log=None,
            logger=_quiet(),
            auto_decompress=False,  # unpacked by us, within the limit
            shutdown_timeout=_LAST_S,
        )
        return self._runner

    @property
    def open(self) -> int:
        """Return how many connections there are."""
        server = self._runner.server if self._runner is not None else None
        return len(server.connections) if server is not None else 0

    async def close(self) -> None:
        """Let no connection in, wait for the requests in work, and close what is left.

        The library alone would take no more bytes of a body that is on its way.
        """
        if self._runner is None:
            return
        for site in self._runner.sites:
            await site.stop()
        if self._in_work:
            with contextlib.suppress(asyncio.TimeoutError):
                self._idle.clear()
                await asyncio.wait_for(self._idle.wait(), self._receiver.limits.drain_s)
        await self._runner.cleanup()

    def _export(self, signal: Signal) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def handle(request: web.Request) -> web.Response:
            form = Form.JSON if request.content_type == Form.JSON else Form.PROTOBUF
            self._in_work += 1
            try:
                found = await self._take(request, signal)
            except RefusedError as error:
                self._receiver.count("http", signal, error.reason)
                return _refused(error, form)
            finally:
                self._in_work -= 1
                if not self._in_work:
                    self._idle.set()
            self._receiver.count("http", signal, None)
            return _answer(200, response(signal, found.rejected, found.words), form)

        return handle

    async def _take(self, request: web.Request, signal: Signal) -> Read:
        with self._receiver.admit(request.headers.get("Authorization"), self.open) as share:
            form, packed = _form(request), _packed(request)
            data = await self._body(request, share)
            take = partial(self._receiver.take, data, form, signal, share, packed=packed)
            return await asyncio.get_running_loop().run_in_executor(self._executor, take)

    async def _body(self, request: web.Request, share: Share) -> bytes:
        """Return the body as it came; raises RefusedError where it is too large, too slow or breaks off."""
        limits = self._receiver.limits
        if (request.content_length or 0) > limits.max_body_bytes:
            raise _too_large(limits.max_body_bytes)
        try:
            return await asyncio.wait_for(_read(request, share, limits.max_body_bytes), limits.read_s)
        except asyncio.TimeoutError:
            raise RefusedError(SLOW, f"the body did not come within {limits.read_s:g} s") from None
        except (ConnectionError, ClientError, HttpProcessingError) as error:
            raise RefusedError(BAD, f"the body breaks off ({type(error).__name__})") from None

    async def _health(self, _request: web.Request) -> web.Response:
        closing = self._receiver.closing
        return web.json_response({"status": "closing" if closing else "ok"}, status=503 if closing else 200)

    async def _metrics(self, request: web.Request) -> web.Response:
        try:
            self._receiver.check(request.headers.get("Authorization"))
        except RefusedError as error:
            return _refused(error, Form.JSON)
        text = self._receiver.metrics({"http": self.open, **self.others()})
        return web.Response(text=text, headers={"Content-Type": figures.MEDIA_TYPE})


def _quiet() -> logging.Logger:
    """Return a logger for the library, which says with a traceback, and bytes of theirs, what strangers send."""
    log = logging.getLogger("atifold.http")
    log.addFilter(_briefly)
    return log


def _briefly(record: logging.LogRecord) -> bool:
    """Make an error of a handler one line; what is no HTTP was answered, and is not said."""
    error = record.exc_info[1] if record.exc_info else None
    record.msg, record.args, record.exc_info = f"a request over HTTP failed: {type(error).__name__}", (), None
    return error is not None and not isinstance(error, HttpProcessingError)


async def _sign(_request: web.Request, answer: web.StreamResponse) -> None:
    answer.headers["Server"] = "atifold"  # versions are nobody's business


def _form(request: web.Request) -> Form:
    try:
        return Form(request.content_type)
    except ValueError:
        wanted = " or ".join(Form)
        raise RefusedError(UNREADABLE, f"Content-Type {request.content_type}: {wanted} was wanted") from None


def _packed(request: web.Request) -> bool:
    encoding = request.headers.get("Content-Encoding", "").strip().lower()
    if encoding not in (*_PLAIN, "gzip"):
        raise RefusedError(UNREADABLE, f"Content-Encoding {encoding}: gzip or none was wanted")
    return encoding == "gzip"


async def _read(request: web.Request, share: Share, most: int) -> bytes:
    data = bytearray()
    async for chunk in request.content.iter_chunked(_CHUNK):
        if len(data) + len(chunk) > most:
            raise _too_large(most)
        share.grow(len(chunk))
        data += chunk
    return bytes(data)


def _too_large(most: int) -> RefusedError:
    return RefusedError(TOO_LARGE, f"the body has more than {most:,} bytes")


def _refused(error: RefusedError, form: Form) -> web.Response:
    answer = _answer(error.reason.http, error.status(), form)
    if error.retry_s:
        answer.headers["Retry-After"] = str(error.retry_s)
    if error.reason.http == web.HTTPUnauthorized.status_code:
        answer.headers["WWW-Authenticate"] = "Bearer"
    return answer


def _answer(status: int, message: Any, form: Form) -> web.Response:
    return web.Response(status=status, body=written(message, form), content_type=form.value)
