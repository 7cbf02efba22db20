"""MuJoCo's functions of Python that step, while patches are active.

Each function goes to Stiction for data that a patch covers, and to MuJoCo for all other data. So a
patch reaches every line of Python that calls mujoco.mj_step, also in wrappers and in subclasses that
the user has written, and changes no other simulation.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import mujoco

from stiction.clients.client import Client, Substitution


class Route(Protocol):
    """A patch, as seen from here."""

    def find(self, data: mujoco.MjData) -> Any:
        """Returns the Binding that covers data, or None."""

    def adopt(self, kind: type, owner: Any) -> None:
        """Takes notice of a simulation that a constructor of a class is about to make."""

    def step(self, binding: Any, model: mujoco.MjModel, data: mujoco.MjData, nstep: int) -> None:
        """Takes steps in place of mj_step."""

    def forward(self, binding: Any, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Computes forces and sensors in place of mj_forward."""


# The active patches; the last one that covers some data steps them. The tuple is replaced as a
# whole, so that a step of another thread needs no lock.
_active: tuple[Route, ...] = ()
_lock = threading.RLock()

# The target of the last call for some data, by id, so that a step among many patches need not ask all of
# them. An entry counts only while its binding covers the data, so an id that is used again is harmless.
_last_found: dict[int, tuple[Route, Any]] = {}
_MAX_FOUND = 1000  # programs that make their data again and again leave entries behind


def activate(route: Route, substitutions: Sequence[Substitution]) -> None:
    """Lets a patch take the calls for its data, and installs what its client needs."""
    global _active
    with _lock:
        for each in (*_ROUTED, *substitutions):
            each.install()
        _active = (*_active, route)
        _last_found.clear()


def deactivate(route: Route, substitutions: Sequence[Substitution]) -> None:
    """Undoes activate. Does nothing if it was undone before."""
    global _active
    with _lock:
        if not is_active(route):
            return
        _active = tuple(each for each in _active if each is not route)
        _last_found.clear()
        for each in (*_ROUTED, *substitutions):
            each.remove()


def is_active(route: Route) -> bool:
    """True between activate and deactivate."""
    return any(each is route for each in _active)


def watch_constructors(client: Client) -> Sequence[Substitution]:
    """Returns constructors of a client that tell the active patches of each new owner."""
    return [_watch_constructor(kind, name) for kind, name in client.list_constructors()]


@functools.cache
def _watch_constructor(kind: type, name: str) -> Substitution:
    """Returns the same object for all clients that share a class, because it counts its users."""

    def watch(constructor: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(constructor)
        def construct(owner: Any, *args: Any, **kwargs: Any) -> Any:
            # Before the constructor runs, because it may take steps.
            for route in _active:
                route.adopt(kind, owner)
            return constructor(owner, *args, **kwargs)

        return construct

    return Substitution(kind, name, watch)


def _find(data: mujoco.MjData) -> tuple[Route | None, Any]:
    if (found := _last_found.get(id(data))) is not None and found[1].covers(data):
        return found
    active = _active
    for route in reversed(active):
        if (binding := route.find(data)) is not None:
            _remember(active, data, route, binding)
            return route, binding
    return None, None


def _remember(active: tuple[Route, ...], data: mujoco.MjData, route: Route, binding: Any) -> None:
    with _lock:
        if active is not _active:  # another thread has added or ended a patch meanwhile
            return
        if len(_last_found) >= _MAX_FOUND:
            _last_found.clear()
        _last_found[id(data)] = route, binding


def _route_step(mj_step: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(mj_step)
    def step(m: mujoco.MjModel, d: mujoco.MjData, nstep: int = 1) -> None:
        route, binding = _find(d)
        if route is None or nstep < 1:  # MuJoCo then does nothing
            mj_step(m, d, nstep)
        else:
            route.step(binding, m, d, nstep)

    return step


def _route_step2(mj_step2: Callable[..., None]) -> Callable[..., None]:
    # mj_step1 stays MuJoCo's: it computes positions and velocities, which a step computes again.
    @functools.wraps(mj_step2)
    def step2(m: mujoco.MjModel, d: mujoco.MjData) -> None:
        route, binding = _find(d)
        if route is None:
            mj_step2(m, d)
        else:
            route.step(binding, m, d, 1)

    return step2


def _route_forward(function: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(function)
    def forward(m: mujoco.MjModel, d: mujoco.MjData, *args: Any, **kwargs: Any) -> None:
        route, binding = _find(d)
        if route is None:
            function(m, d, *args, **kwargs)
        else:
            route.forward(binding, m, d)

    return forward


def _route_reset(function: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(function)
    def reset(m: mujoco.MjModel, d: mujoco.MjData, *args: Any, **kwargs: Any) -> None:
        function(m, d, *args, **kwargs)
        _, binding = _find(d)
        if binding is not None:
            binding.forget()

    return reset


_ROUTED = [
    Substitution(mujoco, "mj_step", _route_step),
    Substitution(mujoco, "mj_step2", _route_step2),
    *(
        Substitution(mujoco, name, _route_forward)
        for name in ("mj_forward", "mj_forwardSkip", "mj_fwdConstraint")
    ),
    *(
        Substitution(mujoco, name, _route_reset)
        for name in ("mj_resetData", "mj_resetDataKeyframe", "mj_resetDataDebug")
    ),
]
