"""Plugins for MuJoCo Studio 4: it steps with Stiction, and shows Stiction's contacts and patches.

    python -m stiction.studio scenes/spatula.xml --web

opens a page in the browser. The window of Studio 4.0.0 does not work. In a program with plugins of
its own,

    plugins = [studio_app.App(), *studio_app.SIM_PLUGINS, *stiction.studio.make_plugins()]

has them beside those of Studio.

`StictionStepper` takes the place of MuJoCo's steps: it handles StepEvent before Studio's StepControl,
with the pause and the speed of Studio's own panel. `StictionPanel` draws contacts in place of MuJoCo's,
which Studio would compute anew, and has a panel for model, parameters and bound. Studio's interface is
documented in MuJoCo's documentation, chapter Studio.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import mujoco

if TYPE_CHECKING:
    from stiction.studio.launcher import launch, make_plugins
    from stiction.studio.panel import StictionPanel
    from stiction.studio.snapshots import ContactsSnapshot, SettingsSnapshot
    from stiction.studio.stepper import StictionStepper

# The modules of the names. They need Studio, and are imported when a name is first used, so that
# `python -m stiction.studio` can say in one line that Studio is missing.
_MODULES = {
    "ContactsSnapshot": "snapshots",
    "SettingsSnapshot": "snapshots",
    "StictionPanel": "panel",
    "StictionStepper": "stepper",
    "launch": "launcher",
    "make_plugins": "launcher",
}

__all__ = [
    "ContactsSnapshot",
    "SettingsSnapshot",
    "StictionPanel",
    "StictionStepper",
    "launch",
    "make_plugins",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'stiction.studio' has no attribute '{name}'")
    try:
        import_module("mujoco.studio.plugin")
    except ImportError as e:
        raise ImportError(
            f"stiction.studio needs MuJoCo Studio of the same version as MuJoCo {mujoco.__version__} "
            f'({e}); install both: pip install "stiction[studio]"'
        ) from e
    globals()[name] = value = getattr(import_module(f"stiction.studio.{_MODULES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*(name for name in globals() if name.startswith("__")), *__all__})
