"""Take OTLP over gRPC: the calls `Export` of TraceService and LogsService.

Requests come as bytes and are read as those of HTTP are, so that one that cannot be read is answered as the
specification says. Source: the OTLP specification, "OTLP/gRPC".
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from functools import partial
from typing import Any, Final, NoReturn

import grpc
from grpc import aio

from atifold.serve.receiver import Receiver
from atifold.serve.refusals import TOO_LARGE, RefusedError
from atifold.serve.signals import SIGNALS, Form, Read, Signal, response, written

_DETAILS: Final = "grpc-status-details-bin"
"""The trailer in which a `google.rpc.Status` goes."""

_CODES: Final = {code.value[0]: code for code in grpc.StatusCode}

Context = Any  # aio.ServicerContext, whose types are of the generated kind only


class RpcDoor:
    """Answer gRPC calls, whose requests are taken in by the threads of `executor`."""

    def __init__(self, receiver: Receiver, executor: Executor) -> None:
        """Take who takes requests in, and the threads."""
        self._receiver = receiver
        self._executor = executor
        self.open = 0

    def server(self) -> aio.Server:
        """Return a server that listens nowhere yet."""
        server = aio.server(
            options=[
                ("grpc.max_receive_message_length", self._receiver.limits.max_body_bytes),
                ("grpc.so_reuseport", 0),  # a port that is taken is an error
            ]
        )
        for signal in SIGNALS:
            handlers = {"Export": grpc.unary_unary_rpc_method_handler(self._export(signal))}
            server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(signal.service, handlers),))
        return server

    def _export(self, signal: Signal) -> Callable[[bytes, Context], Awaitable[bytes]]:
        async def handle(data: bytes, context: Context) -> bytes:
            self.open += 1
            try:
                found = await self._take(data, context, signal)
            except RefusedError as error:
                self._receiver.count("grpc", signal, error.reason)
                await _refuse(error, context)
            finally:
                self.open -= 1
            self._receiver.count("grpc", signal, None)
            return written(response(signal, found.rejected, found.words), Form.PROTOBUF)

        return handle

    async def _take(self, data: bytes, context: Context, signal: Signal) -> Read:
        most = self._receiver.limits.max_body_bytes
        given = (value for name, value in context.invocation_metadata() or () if name == "authorization")
        with self._receiver.admit(next(given, None), self.open) as share:
            if len(data) > most:  # when unpacked
                raise RefusedError(TOO_LARGE, f"the request has more than {most:,} bytes")
            share.grow(len(data))
            take = partial(self._receiver.take, data, Form.PROTOBUF, signal, share)
            return await asyncio.get_running_loop().run_in_executor(self._executor, take)


async def _refuse(error: RefusedError, context: Context) -> NoReturn:
    """End a call with the status, which has the delay after which it may come again."""
    details = ((_DETAILS, error.status().SerializeToString()),)
    await context.abort(_CODES[error.reason.grpc], error.words, details)
    raise AssertionError("abort raises")
