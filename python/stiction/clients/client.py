"""The description of a package whose simulations a patch steps."""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import mujoco

from stiction.errors import Error

# ---- Attributes of modules and classes that a patch replaces, and restores when it ends ----------


class Substitution:
    """Another value, made from the old one, for an attribute that a module or class has itself."""

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


@dataclass(frozen=True)
class Client:
    """A package whose simulations stiction.patch steps.

    name: name of the package in Python, such as 'dm_control'.
    distribution: its name for pip.
    find_owner: returns the object whose data a patch follows, or None if the target is of another
        package. It is called only if the package is loaded.
    find_data: returns the data that an owner has at present, or None while it has none.
    list_constructors: returns the class and the name of each method that runs when a simulation
        of the package is made. The owner is its first argument.
    list_shims: returns the replacements without which the package does not work with MuJoCo 4.
    """

    name: str
    distribution: str
    find_owner: Callable[[Any], Any]
    find_data: Callable[[Any], mujoco.MjData | None]
    list_constructors: Callable[[], Sequence[tuple[type, str]]] = lambda: ()
    list_shims: Callable[[], Sequence[Substitution]] = lambda: ()

    @property
    def is_loaded(self) -> bool:
        """True if the program has imported the package."""
        return self.name in sys.modules

    def load(self) -> None:
        """Imports the package, or raises Error."""
        try:
            import_module(self.name)
        except ModuleNotFoundError as e:
            raise Error(
                "unsupported",
                "target",
                f"'{self.name}' cannot be imported ({e}); install it: pip install {self.distribution}",
            ) from e

    @functools.cached_property
    def shims(self) -> Sequence[Substitution]:
        """The shims, the same objects for all patches, because they count their users."""
        return self.list_shims()


def get_data(owner: Any) -> mujoco.MjData | None:
    """Returns the attribute `data` if it is an MjData; None if not, and before it exists."""
    data = getattr(owner, "data", None)
    return data if isinstance(data, mujoco.MjData) else None
