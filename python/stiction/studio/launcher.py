"""Opens a scene in Studio with the plugins."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from stiction.errors import Error
from stiction.inputs.package_scenes import find_scene
from stiction.setup.properties import PropertiesLike
from stiction.studio.panel import StictionPanel
from stiction.studio.stepper import StictionStepper

_OPEN_PAGE = (
    "warning: MuJoCo Studio listens on all addresses of this machine, without a password; whoever "
    "reaches its port can see and control the simulation. Close the port in the firewall, or use "
    "`stiction view`, which listens on 127.0.0.1"
)


def make_plugins(
    contact_model: str = "coulomb", properties: PropertiesLike = None, **options: Any
) -> list[Any]:
    """Returns the plugins, with the arguments of StictionStepper. Add them to Studio's own."""
    return [StictionStepper(contact_model, properties, **options), StictionPanel()]


def launch(scene: str | Path, contact_model: str = "coulomb", web: bool = True) -> None:
    """Opens a scene in Studio, and returns when it is closed.

    Args:
        scene: file of the scene, or the name of one that comes with the package.
        contact_model: name of the contact model.
        web: True: a page in the browser; False: a window, which Studio 4.0.0 does not open.

    Raises:
        Error: there is no such scene or contact model, or a window is asked for.
    """
    path = find_scene(Path(scene))
    if not web:
        raise Error(
            "unsupported",
            "window",
            "the window of MuJoCo Studio 4.0.0 does not work: Python 3.11 cannot import its renderer, "
            "and with later versions it ends by errors of its own; use the page in the browser, --web",
        )
    from mujoco.studio import app as studio_app
    from mujoco.studio import launch_web

    own = make_plugins(contact_model, starts_at_keyframe=True)
    plugins = [studio_app.App(), *studio_app.SIM_PLUGINS, *own]
    print(_OPEN_PAGE, file=sys.stderr)
    launch_web.run(model_path=str(path), plugins=plugins)
