"""Attributes of modules and classes that a patch replaces, and restores when it ends."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


class Substitution:
    """Another value for an attribute of a module or a class, while at least one patch needs it.

    Args:
        owner: the module or class, which has the attribute itself.
        name: the attribute.
        make: makes the new value from the old one.
    """

    def __init__(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        self._owner = owner
        self._name = name
        self._make = make
        self._num_users = 0
        self._old: Any = None
        self._new: Any = None
        # Reentrant, because the collector may end a patch while its thread holds the lock.
        self._lock = threading.RLock()

    def install(self) -> None:
        """Replaces the value, unless an earlier call has."""
        with self._lock:
            self._num_users += 1
            if self._num_users > 1:
                return
            self._old = vars(self._owner)[self._name]
            self._new = self._make(self._old)
            setattr(self._owner, self._name, self._new)

    def remove(self) -> None:
        """Restores the old value once each call of install has its call of remove."""
        with self._lock:
            self._num_users -= 1
            # Somebody else may have replaced our value in the meantime. Theirs stays.
            if self._num_users == 0 and vars(self._owner)[self._name] is self._new:
                setattr(self._owner, self._name, self._old)
