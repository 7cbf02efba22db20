"""Tells whether a browser has drawn what was sent.

Frames are drawn only for browsers that keep up. A slow browser therefore gets fewer frames, each of
them new, and a stalled one costs nothing: neither the time to draw, during which the simulation would
wait for Python's lock, nor memory.
"""

from __future__ import annotations

import importlib.util
import threading
from functools import partial
from typing import Any

import mujoco

from stiction.errors import Error

# ---- The packages that the viewer needs, which are optional --------------------------------------

_PINNED = "4.0.0"  # version of MuJoCo that the extra brings
_PACKAGES = ("viser", "mjviser")


def find_missing() -> list[str]:
    """Returns the names of the packages that are not installed."""
    return [name for name in _PACKAGES if importlib.util.find_spec(name) is None]


def can_view() -> bool:
    """True if all packages are installed."""
    return not find_missing()


def require_viewer() -> None:
    """Raises Error if a package is missing."""
    if missing := find_missing():
        verb = "is" if len(missing) == 1 else "are"
        raise Error(
            "unsupported",
            "view",
            f"the viewer needs {' and '.join(missing)}, which {verb} not installed; "
            f"run pip install 'stiction[view]'{_warn_of_mujoco(mujoco.__version__)}",
        )


def _warn_of_mujoco(version: str) -> str:
    """Returns what the remedy does to a newer MuJoCo: the release of mjviser pins an older one."""
    if version == _PINNED:
        return ""
    return (
        f", which takes MuJoCo {version} back to {_PINNED} (docs/viewer.md has lines that keep it)"
    )


_KEY = "stiction-frame"  # of the browser's storage; it is only asked for, and never set


class Readers:
    """The browsers that show the page, each with the last frame that it has taken."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self._condition = threading.Condition()
        self._sent = 0
        self._taken: dict[int, int] = {}  # last frame by client
        self._stopped = False
        server.on_client_connect(self._follow)

    def note_sent(self) -> None:
        """Tells that a frame was sent, for which browsers are now asked."""
        with self._condition:
            self._sent += 1
            self._condition.notify_all()

    def wait(self, timeout: float) -> bool:
        """Returns True as soon as a browser has taken the last frame, or False after a time [s]."""
        with self._condition:
            return self._condition.wait_for(self._is_taken, timeout)

    def stop(self) -> None:
        """Ends all threads."""
        with self._condition:
            self._stopped = True
            self._condition.notify_all()

    def _is_taken(self) -> bool:
        return not self._stopped and self._sent in self._taken.values()

    def _follow(self, client: Any) -> None:
        """Asks a browser for frame after frame until it is closed. It runs in a thread of its own."""
        name = f"stiction-browser-{client.client_id}"
        threading.Thread(target=self._ask, args=(client,), name=name, daemon=True).start()

    def _ask(self, client: Any) -> None:
        taken = -1
        while True:
            with self._condition:
                self._condition.wait_for(partial(self._has_news, taken), 1.0)
                sent = self._sent
            if self._stopped or not self._is_open(client):
                break
            if sent == taken:
                continue
            try:
                # The browser answers in the order of messages, between two pictures. What it
                # answers does not matter.
                client.local_storage.get_item(_KEY)
            except RuntimeError:  # it is closed, or has no storage
                if not self._is_open(client):
                    break
            with self._condition:
                taken = self._taken[client.client_id] = sent
                self._condition.notify_all()
        with self._condition:
            self._taken.pop(client.client_id, None)

    def _has_news(self, taken: int) -> bool:
        return self._stopped or self._sent != taken

    def _is_open(self, client: Any) -> bool:
        return client.client_id in self._server.get_clients()
