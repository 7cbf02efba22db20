"""A stand-in for MuJoCo Studio's Python interface, as MuJoCo's documentation describes it.

`mujoco-studio` 4.0.0 works with MuJoCo 4.0.0 only. With another version these modules take its place, so
that the plugins are tested with every version. It has the messages, the decorator and the base classes
that the plugins use; names and fields are those of the documentation, chapter Studio, Python Plugins.
"""

from __future__ import annotations

import enum
import sys
import types
from dataclasses import dataclass
from typing import Any


class Message:
    """What is sent between the simulation and the viewer."""


class Snapshot(Message):
    """The latest one counts."""


class Event(Message):
    """Each one counts."""


class Priority(enum.IntEnum):
    """The order of handlers, the highest first."""

    INTERNAL = 0
    LIBRARY = 100
    USER = 200
    CRITICAL = 300


def handler(function: Any = None, *, priority: int = Priority.USER) -> Any:
    """Marks a method as a handler, with or without a priority."""
    if function is None:
        return lambda f: handler(f, priority=priority)
    function.priority = int(priority)
    return function


class PauseState(enum.Enum):
    """Whether the simulation is paused."""

    UNPAUSED = 0
    NORMAL_PAUSED = 1


@dataclass(frozen=True)
class PostModelEvent(Event):
    model: Any
    data: Any
    path: str = ""


@dataclass(frozen=True)
class StepEvent(Event):
    model: Any
    data: Any


@dataclass(frozen=True)
class StepControlSnapshot(Snapshot):
    pause_state: PauseState = PauseState.UNPAUSED
    speed: float = 100.0


@dataclass(frozen=True)
class RequestPauseEvent(Event):
    pause_state: PauseState


@dataclass(frozen=True)
class SingleStepEvent(Event):
    pass


@dataclass(frozen=True)
class UpdateEvent(Event):
    pass


@dataclass(frozen=True)
class BuildGuiEvent(Event):
    pass


class SimPlugin:
    """Runs on the thread of the simulation."""

    _handle: Any = None

    @property
    def handle(self) -> Any:
        assert self._handle is not None
        return self._handle


class ViewerPlugin:
    """Runs on the thread of the viewer."""

    _viewer: Any = None

    @property
    def viewer(self) -> Any:
        assert self._viewer is not None
        return self._viewer


def install() -> None:
    """Puts the modules into sys.modules, unless Studio can be imported."""
    try:
        import mujoco.studio.plugin  # noqa: F401
    except ImportError:
        pass
    else:
        return
    studio = types.ModuleType("mujoco.studio")
    studio.__path__ = []
    messages = types.ModuleType("mujoco.studio.messages")
    plugin = types.ModuleType("mujoco.studio.plugin")
    sim = types.ModuleType("mujoco.studio.sim")
    package = types.ModuleType("mujoco.studio.dear_imgui")
    package.__path__ = []
    imgui = types.ModuleType("mujoco.studio.dear_imgui.dear_imgui")
    for each in (
        Snapshot, Event, Priority, handler, PostModelEvent, StepEvent, StepControlSnapshot,
        RequestPauseEvent, SingleStepEvent, UpdateEvent, BuildGuiEvent,
    ):  # fmt: skip
        setattr(messages, each.__name__, each)
    plugin.SimPlugin, plugin.ViewerPlugin = SimPlugin, ViewerPlugin  # type: ignore[attr-defined]
    sim.PauseState = PauseState  # type: ignore[attr-defined]
    for module in (studio, messages, plugin, sim, package, imgui):
        sys.modules[module.__name__] = module
        parent, _, name = module.__name__.rpartition(".")
        setattr(sys.modules[parent], name, module)
