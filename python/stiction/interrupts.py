"""Ctrl-C where it would do harm: held back until the work at hand is whole."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Self


class DeferredInterrupt:
    """Within it Ctrl-C is noted, and takes effect at the end unless take() has seen it. They nest.

    In other threads than the main one, to which Python never delivers a signal, it does nothing.
    """

    def __init__(self) -> None:
        self._pending = False
        self._outer: signal._HANDLER = None

    def take(self) -> bool:
        """True if there was one since; it is then the caller's to act on."""
        pending, self._pending = self._pending, False
        return pending

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._outer = signal.getsignal(signal.SIGINT)
        if self._outer is not None:  # None too if the handler is not Python's
            signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._outer is None:
            return
        signal.signal(signal.SIGINT, self._outer)
        if self.take() and callable(self._outer):
            self._outer(signal.SIGINT, None)

    def _note(self, signum: int, frame: FrameType | None) -> None:
        self._pending = True
