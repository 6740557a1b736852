"""Open a server's doors, wait for the word to stop, and close them one after the other."""

from __future__ import annotations

import asyncio
import os
import signal
import ssl
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Final, NamedTuple

import grpc
from aiohttp import web
from grpc import aio

from atifold.errors import AtifoldError, InputError
from atifold.serve.http import HttpDoor
from atifold.serve.limits import Place, Tls
from atifold.serve.receiver import Receiver
from atifold.serve.rpc import RpcDoor

_STOPS: Final = (signal.SIGINT, signal.SIGTERM)
_THREADS: Final = 2


class Listening(NamedTuple):
    """The URLs at which a server listens; that of gRPC is None where it does not."""

    http: str
    grpc: str | None


def serve(receiver: Receiver, place: Place, ready: Callable[[Listening], object]) -> int:
    """Serve until SIGINT or SIGTERM comes, finish what is in work, and return the number of that signal.

    `ready` is called once requests are taken. A second signal is not waited for. What was taken is still to be
    written: `Receiver.close`. Raises AtifoldError where a port cannot be had or a certificate not be read.
    """
    return asyncio.run(_serve(receiver, place, ready))


async def _serve(receiver: Receiver, place: Place, ready: Callable[[Listening], object]) -> int:
    stopped: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    with ThreadPoolExecutor(_THREADS, thread_name_prefix="atifold-serve") as executor, _told_to_stop(stopped):
        http, rpc = HttpDoor(receiver, executor), RpcDoor(receiver, executor)
        http.others = lambda: {"grpc": rpc.open}
        runner, server = http.runner(), rpc.server()
        try:
            ready(await _open(runner, server, place))
            return await stopped
        finally:
            receiver.closing = True
            # the doors are closed side by side: nobody waits for the other's last request
            await asyncio.gather(http.close(), server.stop(receiver.limits.drain_s))


async def _open(runner: web.AppRunner, server: aio.Server, place: Place) -> Listening:
    await runner.setup()
    http_url = await _listen(runner, place)
    rpc_url = None if place.grpc_port is None else _bind(server, place, place.grpc_port)
    await server.start()
    return Listening(http_url, rpc_url)


async def _listen(runner: web.AppRunner, place: Place) -> str:
    try:
        await web.TCPSite(runner, place.host, place.port, ssl_context=_context(place.tls)).start()
    except OSError as error:
        raise CannotListenError(place.host, place.port, _why(error)) from None
    return _url(place, runner.addresses[0][1])


def _bind(server: aio.Server, place: Place, port: int) -> str:
    address = f"{_bracketed(place.host)}:{port}"
    try:
        if place.tls is None:
            return _url(place, server.add_insecure_port(address))
        return _url(place, server.add_secure_port(address, _credentials(place.tls)))
    except RuntimeError:
        raise CannotListenError(place.host, port, "gRPC cannot be bound there") from None


class CannotListenError(AtifoldError):
    """Name the address that cannot be listened at, and why."""

    def __init__(self, host: str, port: int, why: str) -> None:
        """Take the address and the reason."""
        super().__init__(f"cannot listen on {_bracketed(host)}:{port}: {why}")


def _why(error: OSError) -> str:
    """Return the system's words alone: asyncio puts the address before them."""
    return os.strerror(error.errno).lower() if error.errno and error.errno > 0 else str(error.strerror or error)


def _url(place: Place, port: int) -> str:
    return f"{'http' if place.tls is None else 'https'}://{_bracketed(place.host)}:{port}"


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _context(tls: Tls | None) -> ssl.SSLContext | None:
    if tls is None:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(tls.certificate, tls.key, password=lambda: b"")  # without asking for one
    except OSError as error:  # ssl.SSLError is one too
        raise InputError(tls.certificate, f"cannot be used: {error.strerror or error}", _WANTED) from None
    return context


def _credentials(tls: Tls) -> grpc.ServerCredentials:
    _context(tls)  # gRPC itself says nothing of what is wrong with them
    return grpc.ssl_server_credentials([(tls.key.read_bytes(), tls.certificate.read_bytes())])


_WANTED: Final = "wanted a certificate and its key, both PEM"


@contextmanager
def _told_to_stop(stopped: asyncio.Future[int]) -> Generator[None]:
    """Set the future's result to the number of the first signal in the block; the second does what it did before."""
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in _STOPS}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def stop(number: int, _frame: object) -> None:
        restore()
        loop.call_soon_threadsafe(_settle, stopped, number)

    for number in _STOPS:
        signal.signal(number, stop)
    try:
        yield
    finally:
        restore()


def _settle(stopped: asyncio.Future[int], number: int) -> None:
    if not stopped.done():
        stopped.set_result(number)
