"""Soft bubbles that hold and lift a spatula with a pancake on it, at several mesh resolutions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

import stiction
from stiction.errors import ignored_settings_are_fine
from stiction.inputs.package_scenes import find_scene_file
from stiction.runs.run import Run, Step, StepFunction
from stiction.scene import Scene
from stiction.setup.options import DEFAULTS
from stiction.simulator import Simulator

Vector = NDArray[np.float64]

STICTION_TOLERANCE = 1e-3  # [m/s]
TIME_STEP = 1e-2  # [s]

_KP, _KD = 1000.0, 60.0  # gains of the lift's controller [N/m, N s/m]
_LIFT_HEIGHT, _LIFT_START, _LIFT_TIME = 0.1, 0.4, 1.0  # [m, s, s]


@dataclass(frozen=True)
class Resolution:
    """Resolution hints of the meshes."""

    name: str  # approximate number of faces
    # bubble, steel, dough: resolution hints of the bubbles, the spatula and the pancake [m].
    bubble: float
    steel: float
    dough: float


RESOLUTIONS = (
    Resolution("230", 0.06, 0.006, 0.01),
    Resolution("500", 0.025, 0.004, 0.01),
    Resolution("1200", 0.012, 0.015, 0.02),
    Resolution("1800", 0.012, 0.006, 0.02),
)


@dataclass(frozen=True)
class GripperRun:
    """The results of a run. Row i of each array belongs to step i."""

    time: Vector  # time at the end of the step [s]
    faces: NDArray[np.int64]  # number of faces of all patches
    points: NDArray[np.int64]  # number of contact points
    # step_us, surfaces_us, solve_us: wall time of the step, of its contact surfaces and of the
    # solver [us].
    step_us: Vector
    surfaces_us: Vector
    solve_us: Vector
    iterations: NDArray[np.int64]  # Newton iterations
    # Force of the patches on each geom by its name, (num_steps, 3), in the world frame [N].
    force: dict[str, Vector]
    # spatula, pancake, grip: heights at the end of the run [m].
    spatula: float
    pancake: float
    grip: float


def load_gripper(resolution: Resolution) -> Scene:
    """Loads scenes/gripper.xml with these resolution hints."""
    path = find_scene_file("gripper")
    properties = stiction.load_scene(path).properties
    content: Any = properties.content if properties else {}
    for name in ("bubble", "steel", "dough"):
        content["materials"][name]["resolution_hint"] = getattr(resolution, name)
    return stiction.load_scene(path, content)


def make_gripper_simulator(
    scene: Scene,
    contact_model: str,
    tessellation: str = DEFAULTS["tessellation"],
    tilted_faces: str = DEFAULTS["tilted_faces"],
) -> stiction.Simulator:
    """Makes a simulator with the study's stiction tolerance."""
    with ignored_settings_are_fine():
        return scene.make_simulator(
            contact_model,
            stiction_tolerance=STICTION_TOLERANCE,
            tessellation=tessellation,
            tilted_faces=tilted_faces,
        )


def run_gripper(
    resolution: Resolution,
    duration: float,
    contact_model: str = DEFAULTS["contact_model"],
    tessellation: str = DEFAULTS["tessellation"],
    tilted_faces: str = DEFAULTS["tilted_faces"],
    step: StepFunction = Simulator.step,
) -> GripperRun:
    """Holds the spatula for 0.4 s, then lifts it by 0.1 m within 1 s."""
    scene = load_gripper(resolution)
    model, data = scene.model, scene.make_data()
    simulator = make_gripper_simulator(scene, contact_model, tessellation, tilted_faces)
    num_steps = round(duration / TIME_STEP)
    rows = np.zeros((num_steps, 6))
    force = {model.geom(geom).name: np.zeros((num_steps, 3)) for geom in range(model.ngeom)}

    def lift(data: mujoco.MjData) -> None:
        data.ctrl[0] = _calc_lift_force(model, data, run.num_made * TIME_STEP)

    def measure(made: Step) -> None:
        report, timings = made.report, made.report.timings
        rows[made.index] = [
            report.patches.num_faces,
            len(report.contacts),
            timings.total,
            timings.surfaces,
            timings.solve,
            report.statistics.iterations,
        ]
        for patch in report.patches:
            for geom, sign in zip(patch.geoms, (-1, 1), strict=True):
                force[model.geom(geom).name][made.index] += sign * patch.force

    run = Run(partial(step, simulator), data, num_steps, lift)
    run.to_end(measure)
    mujoco.mj_kinematics(model, data)
    faces, points, step_us, surfaces_us, solve_us, iterations = rows.T
    time = np.linspace(TIME_STEP, TIME_STEP * num_steps, num_steps)
    return GripperRun(
        time,
        faces.astype(int),
        points.astype(int),
        step_us,
        surfaces_us,
        solve_us,
        iterations.astype(int),
        force,
        float(data.body("spatula").xpos[2]),
        float(data.body("pancake").xpos[2]),
        float(data.body("carriage").xpos[2]),
    )


def _calc_lift_force(model: mujoco.MjModel, data: mujoco.MjData, time: float) -> float:
    """Returns the force of a PD controller that follows a smooth rise, plus the total weight [N]."""
    share = min(max((time - _LIFT_START) / _LIFT_TIME, 0), 1)
    start = model.key_qpos[0, 0]
    height = start + _LIFT_HEIGHT * (3 * share**2 - 2 * share**3)
    speed = _LIFT_HEIGHT * (6 * share - 6 * share**2) / _LIFT_TIME
    weight = -model.opt.gravity[2] * model.body_subtreemass[0]
    return float(_KP * (height - data.qpos[0]) + _KD * (speed - data.qvel[0]) + weight)
