"""Walks of scenes/trotter.xml: the robot on a terrain under its controller, and what was measured."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction import Simulator, StepReport
from stiction.errors import ignored_settings_are_fine
from stiction.package_scenes import find_scene_file
from stiction.studies.quadruped.controller import TrotController
from stiction.studies.quadruped.gait import calc_command
from stiction.studies.quadruped.leg import NAMES
from stiction.studies.quadruped.terrain import Terrain, Vector

TIME_STEP = 1e-3  # [s]
FOOT_RADIUS = 0.01  # [m]
START_HEIGHT = 0.15  # of the base above the ground [m]

# In place of the scene's friction of 1000.
RUBBER = {"materials": {"rubber": {"friction": 1.0}}, "geoms": {"*": "rubber"}}
# Friction of the published viscous run: none by Coulomb, 0.1 N s/m.
VISCOUS = {
    "materials": {"oil": {"friction": 0.0, "viscous_friction": 0.1}},
    "geoms": {"*": "oil"},
}


@dataclass(frozen=True)
class WalkRun:
    """Row i is of step i: the time is that of its end.

    time: [s]. base: of the base's origin, world [m], (num_steps, 3). rpy: its roll, pitch, yaw [rad],
    (num_steps, 3). feet: their centers at the step's start, world [m], (num_steps, 4, 3).
    command: told speed ahead [m/s]. contacts: in the step's problem; of a step made in parts their
    mean, rounded up. loaded: those that push, likewise.
    slip: largest of a contact that pushes [m/s]; 0 where none does.
    torque: largest of a joint [N m]. solve_us: wall time of the solver [us].
    physics_s, controller_s: CPU time of all steps and of all calls of the controller [s].
    failure: why the run ended early; empty where it did not.
    """

    time: Vector
    base: Vector
    rpy: Vector
    feet: Vector
    command: Vector
    contacts: NDArray[np.int64]
    loaded: NDArray[np.int64]
    slip: Vector
    torque: Vector
    solve_us: Vector
    physics_s: float
    controller_s: float
    failure: str


def load_trotter(terrain: Terrain | None = None) -> mujoco.MjModel:
    """The scene on a terrain; without one on a plane, on which each foot has one contact."""
    spec = mujoco.MjSpec.from_file(str(find_scene_file("trotter")))
    if terrain:
        terrain.put_into(spec)
    else:
        ground = spec.geom("ground")
        ground.type, ground.hfieldname, ground.size = mujoco.mjtGeom.mjGEOM_PLANE, "", [5, 5, 0.1]
    return spec.compile()


def make_trotter_data(model: mujoco.MjModel, terrain: Terrain | None = None) -> mujoco.MjData:
    """At the start, above the highest ground that is below the robot."""
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    if terrain:
        around = np.linspace(-0.2, 0.2, 41)
        ground = max(terrain.calc_height(x, y) for x in around for y in around)
        data.qpos[2] = START_HEIGHT + ground
    return data


def run_trotter(
    terrain: Terrain | None,
    duration: float,
    contact_model: str,
    *,
    command: Callable[[float], Vector] = calc_command,
    **options: Any,
) -> WalkRun:
    """From the start, in steps of TIME_STEP.

    Args:
        terrain: None: a plane.
        duration: [s].
        command: velocity that the body is told to have [m/s], (2,), of its pitch [rad].
        options: as Simulator's. A step that fails ends the run, which says why.
    """
    model = load_trotter(terrain)
    data = make_trotter_data(model, terrain)
    with ignored_settings_are_fine():
        simulator = Simulator(
            model, contact_model, time_step=TIME_STEP, on_failure="stop", **options
        )
    controller = TrotController(model, command=command)
    num_steps = round(duration / TIME_STEP)
    feet = [model.geom(f"{leg}_foot").id for leg in NAMES]
    rows, feet_rows = np.zeros((num_steps, 13)), np.zeros((num_steps, 4, 3))
    num_made, physics, control, failure = 0, 0.0, 0.0, ""
    for row, feet_row in zip(rows, feet_rows, strict=True):
        begin = time.process_time()
        controller(data)
        middle = time.process_time()
        report = simulator.step(data)
        physics += time.process_time() - middle
        control += middle - begin
        if not report.ok:
            failure = f"{report.status} at {data.time:.3f} s: {report.message}"
            break
        torque = np.abs(data.ctrl).max()
        row[:] = [
            data.time, *data.qpos[:3], *_calc_rpy(data.qpos[3:7]), controller.command[0], torque,
            *_measure_contacts(report), report.timings.solve,
        ]  # fmt: skip
        feet_row[:] = data.geom_xpos[feet]
        num_made += 1
    rows = rows[:num_made]
    return WalkRun(
        time=rows[:, 0],
        base=rows[:, 1:4],
        rpy=rows[:, 4:7],
        feet=feet_rows[:num_made],
        command=rows[:, 7],
        torque=rows[:, 8],
        contacts=rows[:, 9].astype(int),
        loaded=rows[:, 10].astype(int),
        slip=rows[:, 11],
        solve_us=rows[:, 12],
        physics_s=physics,
        controller_s=control,
        failure=failure,
    )


def _measure_contacts(report: StepReport) -> list[float]:
    """Their number a part, that of those that push, and their largest slip."""
    contacts = report.contacts
    if len(contacts) == 0:
        return [0, 0, 0]
    pushes = contacts.normal_impulse > 0
    slip = np.linalg.norm(contacts.slip_velocity[pushes], axis=1)
    parts = max(1, report.statistics.num_parts)
    return [
        -(-len(contacts) // parts),
        -(-np.count_nonzero(pushes) // parts),
        slip.max(initial=0),
    ]


def _calc_rpy(quaternion: Vector) -> list[float]:
    """Roll, pitch, yaw [rad]."""
    R = np.empty(9)
    mujoco.mju_quat2Mat(R, quaternion)
    pitch = np.arcsin(np.clip(-R[6], -1, 1))
    return [float(np.arctan2(R[7], R[8])), float(pitch), float(np.arctan2(R[3], R[0]))]
