"""Draws held_scenes.png: an arch and a house of cards after 10 s, with elastic friction and without.
`./dev figures` calls it.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import NDArray
from PIL import Image
from rendering import make_camera, render

from stiction.errors import StepWarning
from stiction.inputs.package_scenes import find_scene_file
from stiction.scene import load_scene

_SIZE = (370, 320)
_TIME = 10.0  # time that is shown [s]


def main() -> None:
    """Writes held_scenes.png into the folder that follows --out."""
    folder = Path(sys.argv[sys.argv.index("--out") + 1])
    folder.mkdir(parents=True, exist_ok=True)
    shown = (("arch", "elastic"), ("cards", "elastic"), ("cards", "soft"))
    images = [_render(name, friction_law) for name, friction_law in shown]
    Image.fromarray(np.hstack(images)).save(folder / "held_scenes.png")


def _render(name: str, friction_law: str) -> NDArray[np.uint8]:
    """Returns a picture of a scene of the package."""
    scene = load_scene(find_scene_file(name))
    data, simulator = scene.make_data(), scene.make_simulator(friction_law=friction_law)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StepWarning)  # cards that fall pass into each other
        simulator.step(data, round(_TIME / scene.model.opt.timestep))
    mujoco.mj_forward(scene.model, data)
    size = scene.model.stat.extent
    camera = make_camera(scene.model.stat.center, distance=1.7 * size, azimuth=110, elevation=-12)
    return render(scene.model, data, camera, _SIZE, with_shadows=False)


if __name__ == "__main__":
    main()
