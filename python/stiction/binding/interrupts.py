"""Delays Ctrl-C while an interruption would leave work half done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Self

# A run of many steps calls it after each of them; it returns True to stop.
AfterStep = Callable[[], bool]

_waiting: set[DeferredInterrupt] = set()  # contexts with a recorded interrupt


def is_pending() -> bool:
    """True if a context on the main thread has recorded an interrupt. A long step then gives up."""
    return bool(_waiting) and threading.current_thread() is threading.main_thread()


class DeferredInterrupt:
    """A context in which Ctrl-C is only recorded, and takes effect at its end unless take() handled it.

    A step that takes longer than a tenth of a second gives up, with the status 'interrupted', and
    leaves its data as they were. Contexts may be nested. Only the main thread receives signals.
    """

    def __init__(self) -> None:
        self._outer: signal._HANDLER = None

    def take(self) -> bool:
        """True if Ctrl-C came since the last call. The caller must then handle it."""
        pending = self in _waiting
        _waiting.discard(self)
        return pending

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._outer = signal.getsignal(signal.SIGINT)
        if self._outer is not None:  # it is None, too, if C code installed the handler
            signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        if self._outer is None:
            return
        signal.signal(signal.SIGINT, self._outer)
        if self.take() and callable(self._outer):
            self._outer(signal.SIGINT, None)

    def _note(self, signum: int, frame: FrameType | None) -> None:
        _waiting.add(self)


# SIGHUP comes from a terminal that was closed, for example by the end of an ssh connection. Windows has
# no such signal.
_HANG_UP: list[int] = [signal.SIGHUP] if hasattr(signal, "SIGHUP") else []
# The signals that a terminal sends to all processes of a command.
FROM_TERMINAL: list[int] = [signal.SIGINT, *_HANG_UP]


def interrupt_on_termination() -> None:
    """Makes SIGTERM and SIGHUP do what Ctrl-C does, so that a command completes its files.

    A SIGHUP that nohup ignores stays ignored. Only the main thread may call this function.
    """
    signal.signal(signal.SIGTERM, _terminate)
    for number in _HANG_UP:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _terminate)


def find_termination() -> int | None:
    """Returns the first of these signals since interrupt_on_termination(), or None."""
    return _termination


_termination: int | None = None


def _terminate(signum: int, frame: FrameType | None) -> None:
    global _termination
    _termination = _termination or signum
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler):  # a shell makes its background jobs ignore Ctrl-C
        raise KeyboardInterrupt
    handler(signum, frame)
