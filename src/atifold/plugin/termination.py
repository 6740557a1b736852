"""Lose nothing where SIGTERM ends a program that has no handler for it: what `kill` and container runtimes send.

Python would be gone at once, without exit handlers. uvicorn takes the signal, shuts its server down and then
raises the signal anew, with the same effect.
"""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType
from typing import Final

from atifold import process

_HELD_S: Final = 0.5
"""How long the program is held in its handler; mostly all is done by then."""


def flush_at_sigterm() -> bool:
    """Have SIGTERM pass everything on before it ends the process; return False where that is not ours to do.

    That is where the program has a handler already, or this is no main thread.
    """
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        return False
    signal.signal(signal.SIGTERM, _leave)
    return True


def _leave(number: int, _: FrameType | None) -> None:
    signal.signal(number, signal.SIG_DFL)  # who asks twice does not wait
    ending = threading.Thread(target=_end, args=(number,), name="atifold-end", daemon=True)
    try:
        ending.start()
    except RuntimeError:  # Python is on its way out, and everything is being passed on
        return
    # Then this thread goes on: it may hold a lock that is wanted, or be in the middle of the program's own exit.
    ending.join(_HELD_S)


def _end(number: int) -> None:
    leaving = threading.Thread(target=process.leave, name="atifold-leaving", daemon=True)
    leaving.start()
    leaving.join(process.EXIT_TIMEOUT_S)
    os.kill(os.getpid(), number)
