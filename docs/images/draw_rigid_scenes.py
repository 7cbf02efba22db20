"""Draws rigid_scenes.png: the grasp and the robot on hills of the studies of rigid contact.
`./dev figures` calls it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import NDArray
from PIL import Image
from rendering import make_camera, render

from stiction import Simulator
from stiction.evidence.studies.quadruped.leg import TrotController
from stiction.evidence.studies.quadruped.run import TIME_STEP, load_trotter, make_trotter_data
from stiction.evidence.studies.quadruped.terrain import make_hills
from stiction.inputs.package_scenes import find_scene_file
from stiction.scene import load_scene

_CONTACT_MODEL = "no_slip"
_SIZE = (560, 400)
_GRASP_TIME = 0.1  # time at which the grasp is shown [s]
_FORCE_SCALE = 0.0015  # length of a force's arrow [m/N]
_WALK_TIME = 1.6  # time at which the robot is shown [s]
_SPEED = 0.1  # commanded speed [m/s]


def main() -> None:
    """Writes rigid_scenes.png into the folder that follows --out."""
    folder = Path(sys.argv[sys.argv.index("--out") + 1])
    folder.mkdir(parents=True, exist_ok=True)
    images = [_render_grasp(), _render_walk()]
    Image.fromarray(np.hstack(images)).save(folder / "rigid_scenes.png")


def _render_grasp() -> NDArray[np.uint8]:
    """Renders the row of blocks, with the forces of its contacts."""
    scene = load_scene(find_scene_file("grasp"))
    model, data = scene.model, scene.make_data()
    simulator = scene.make_simulator(_CONTACT_MODEL)
    while data.time < _GRASP_TIME:
        simulator.step(data)
    model.mat_rgba[:, 3] = 0.5  # so that forces between bodies are seen
    model.vis.map.force, model.vis.scale.forcewidth = _FORCE_SCALE, 0.03
    camera = make_camera(data.xpos[1:].mean(axis=0), distance=0.62, azimuth=125, elevation=-20)
    return render(model, data, camera, _SIZE, with_shadows=False, with_forces=True)


def _render_walk() -> NDArray[np.uint8]:
    """Renders the robot that walks over hills."""
    hills = make_hills()
    model = load_trotter(hills)
    data = make_trotter_data(model, hills)
    simulator = Simulator(model, _CONTACT_MODEL, time_step=TIME_STEP)
    controller = TrotController(model, command=lambda pitch: np.array([_SPEED, 0.0]))
    while data.time < _WALK_TIME:
        controller(data)
        simulator.step(data)
    mujoco.mj_forward(model, data)
    camera = make_camera(data.qpos[:3], distance=0.75, azimuth=125, elevation=-18)
    return render(model, data, camera, _SIZE)


if __name__ == "__main__":
    main()
