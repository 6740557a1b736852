"""Find the logger that log events go to, which may be set up later than everything else."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from opentelemetry import _logs
from opentelemetry._logs import _internal

from atifold.emit.scope import SCOPE

_LOG = logging.getLogger("atifold")


class LoggerSource:
    """The logger of a provider, or of the global one as soon as it is there.

    Nothing is there until an SDK's provider has a processor: what nobody takes is not made.
    """

    def __init__(self, provider: _logs.LoggerProvider | None, found: Callable[[], object] | None) -> None:
        """Take the provider, None for the global one, and what to call once somebody takes log events."""
        stands_for_global = isinstance(provider, _internal.ProxyLoggerProvider)
        self._provider = None if stands_for_global else provider
        self._found = found
        self._seen: object = None
        self._broken: object = None
        self._logger: Any = None  # of the provider seen last
        self._taken: _logs.Logger | None = None
        if self._provider is None:
            _logs.get_logger_provider()  # one that the environment names is made now

    def logger(self) -> _logs.Logger | None:
        """Return the logger, None where nobody takes log events."""
        if self._taken is not None:
            return self._taken
        provider: Any = self._provider
        if provider is None:
            # Asked for every span, so without the look at the environment that the public way makes.
            provider = getattr(_internal, "_LOGGER_PROVIDER", None)
        return None if provider is None or provider is self._broken else self._logger_of(provider)

    def _logger_of(self, provider: Any) -> _logs.Logger | None:
        try:
            if provider is not self._seen:
                self._seen = provider
                self._logger = provider.get_logger(*SCOPE)
            is_taken = _takes(self._logger)
        except Exception as error:  # noqa: BLE001  a user's provider or processor costs no span
            self._broken = provider
            _LOG.warning("no log events: the LoggerProvider gives no logger (%s)", type(error).__name__)
            return None
        if is_taken:
            self._taken = self._logger
            if self._found is not None:
                self._found()
        return self._taken


def _takes(logger: Any) -> bool:
    enabled = getattr(logger, "enabled", None)  # older APIs cannot be asked
    return not isinstance(logger, _logs.NoOpLogger) if enabled is None else enabled()
