"""Delays Ctrl-C while an interruption would leave work half done."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Self


class DeferredInterrupt:
    """A context in which Ctrl-C is only recorded.

    The interrupt takes effect at the end of the context, unless take() was called to handle it.
    Contexts may be nested. In threads other than the main thread the context does nothing, because
    Python delivers signals to the main thread alone.
    """

    def __init__(self) -> None:
        self._pending = False
        self._outer: signal._HANDLER = None

    def take(self) -> bool:
        """True if Ctrl-C came since the last call. The caller must then handle it."""
        pending, self._pending = self._pending, False
        return pending

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._outer = signal.getsignal(signal.SIGINT)
        if self._outer is not None:  # it is None, too, if C code installed the handler
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
