"""Walks of scenes/trotter.xml under its controller, and of dm_control's quadruped."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction import Simulator, StepReport
from stiction.errors import ignored_settings_are_fine
from stiction.evidence.experiments.real_scenes import load_real_scene
from stiction.evidence.studies.quadruped.footsteps import calc_command
from stiction.evidence.studies.quadruped.leg import NAMES, TrotController
from stiction.evidence.studies.quadruped.terrain import ROUGHNESS, Terrain, Vector
from stiction.inputs.package_scenes import find_scene_file
from stiction.runs.run import Run, RunEnd, Step

TIME_STEP = 1e-3  # [s]
FOOT_RADIUS = 0.01  # [m]
TOUCH = 2 * ROUGHNESS  # distance below which a contact counts as touching [m]
START_HEIGHT = 0.15  # initial height of the base above the ground [m]

# Replaces the scene's friction coefficient of 1000.
RUBBER = {"materials": {"rubber": {"friction": 1.0}}, "geoms": {"*": "rubber"}}
# Friction of the published viscous run: 0.1 N s/m, without Coulomb friction.
VISCOUS = {"materials": {"oil": {"friction": 0.0, "viscous_friction": 0.1}}, "geoms": {"*": "oil"}}


@dataclass(frozen=True)
class WalkRun:
    """The results of a walk. Row i of each array belongs to step i."""

    time: Vector  # time at the end of the step [s]
    base: Vector  # position of the base in the world frame, (num_steps, 3) [m]
    rpy: Vector  # roll, pitch and yaw of the base, (num_steps, 3) [rad]
    # Centers of the feet at the start of the step in the world frame, (num_steps, 4, 3) [m].
    feet: Vector
    command: Vector  # commanded forward speed [m/s]
    # Number of contacts; for a step made in substeps, their mean number, rounded up.
    contacts: NDArray[np.int64]
    loaded: NDArray[np.int64]  # number of active contacts, likewise
    touching: NDArray[np.int64]  # number of contacts closer than TOUCH, likewise
    slip: Vector  # largest slip of an active contact [m/s]; 0 without active contacts
    torque: Vector  # largest torque of a joint [N m]
    solve_us: Vector  # wall time of the solver [us]
    # physics_s, controller_s: CPU time of all steps, and of all calls of the controller [s].
    physics_s: float
    controller_s: float
    failure: str  # reason why the run ended early, or empty


def load_trotter(terrain: Terrain | None = None) -> mujoco.MjModel:
    """Loads the scene on a terrain or, for None, on a plane, on which each foot has one contact."""
    spec = mujoco.MjSpec.from_file(str(find_scene_file("trotter")))
    if terrain:
        terrain.put_into(spec)
    else:
        ground = spec.geom("ground")
        ground.type, ground.hfieldname, ground.size = mujoco.mjtGeom.mjGEOM_PLANE, "", [5, 5, 0.1]
    return spec.compile()


def make_trotter_data(model: mujoco.MjModel, terrain: Terrain | None = None) -> mujoco.MjData:
    """Makes data in the initial state, with the base above the highest ground below the robot."""
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
    """Runs a walk on a terrain or, for None, a plane, with the time step TIME_STEP. A failed step
    ends the run. `command` returns the commanded velocity of the body, (2,), for its pitch."""
    model = load_trotter(terrain)
    data = make_trotter_data(model, terrain)
    with ignored_settings_are_fine():
        simulator = Simulator(
            model, contact_model, time_step=TIME_STEP, on_failure="stop", **options
        )
    controller = TrotController(model, command=command)
    num_steps = round(duration / TIME_STEP)
    feet = [model.geom(f"{leg}_foot").id for leg in NAMES]
    rows, feet_rows = np.zeros((num_steps, 14)), np.zeros((num_steps, 4, 3))
    num_made, physics, control = 0, 0.0, 0.0

    def drive(data: mujoco.MjData) -> None:
        nonlocal control
        begin = time.process_time()
        controller(data)
        control += time.process_time() - begin

    def measure(step: Step) -> None:
        nonlocal num_made, physics
        torque = np.abs(data.ctrl).max()
        rows[num_made] = [
            data.time, *data.qpos[:3], *_calc_rpy(data.qpos[3:7]), controller.command[0], torque,
            *_measure_contacts(step.report), step.report.timings.solve,
        ]  # fmt: skip
        feet_rows[num_made] = data.geom_xpos[feet]
        num_made += 1
        physics += 1e-9 * step.cpu_ns

    run = Run(simulator, data, num_steps, drive)
    failure = describe_failure(run) if run.to_end(measure) == RunEnd.failed else ""
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
        touching=rows[:, 11].astype(int),
        slip=rows[:, 12],
        solve_us=rows[:, 13],
        physics_s=physics,
        controller_s=control,
        failure=failure,
    )


def describe_failure(run: Run) -> str:
    """Returns the reason why the last step of a run failed."""
    report = run.report
    return f"{report.status} at {run.data.time:.3f} s: {report.message}" if report else ""


def _measure_contacts(report: StepReport) -> list[float]:
    """Returns contacts, active and touching ones (per substep, rounded up), and the largest slip."""
    contacts = report.contacts
    if len(contacts) == 0:
        return [0, 0, 0, 0]
    active = contacts.normal_impulse > 0
    slip = np.linalg.norm(contacts.slip_velocity[active], axis=1)
    parts = max(1, report.statistics.num_parts)
    return [
        -(-len(contacts) // parts),
        -(-np.count_nonzero(active) // parts),
        -(-np.count_nonzero(contacts.distance < TOUCH) // parts),
        slip.max(initial=0),
    ]


def _calc_rpy(quaternion: Vector) -> list[float]:
    """Returns roll, pitch and yaw [rad]."""
    R = np.empty(9)
    mujoco.mju_quat2Mat(R, quaternion)
    pitch = np.arcsin(np.clip(-R[6], -1, 1))
    return [float(np.arctan2(R[7], R[8])), float(pitch), float(np.arctan2(R[3], R[0]))]


# ---- The quadruped of dm_control, whose set points depend only on time ---------------------------

_FREQUENCY = 1.5  # frequency of the gait [Hz]
_SWING, _LIFT = 0.4, 0.4  # amplitudes of the set points of yaw [rad] and of lift [-]
_START = 1.0  # time until which the robot stands [s]
# Sign of the yaw that swings a leg forward, and phase. Diagonal legs have the same phase.
_LEGS = {
    "front_left": (-1, 0.0),
    "back_right": (1, 0.0),
    "front_right": (1, 0.5),
    "back_left": (-1, 0.5),
}


@dataclass(frozen=True)
class PackageWalk:
    """The results of a walk. Row i of each array belongs to step i."""

    time: Vector  # time at the end of the step [s]
    base: Vector  # position of the torso in the world frame, (num_steps, 3) [m]
    upright: Vector  # cosine of the torso's tilt [-]
    contacts: Vector  # number of contacts
    physics_s: float  # CPU time of all steps [s]
    failure: str  # reason why the run ended early, or empty


def run_package_walker(duration: float, contact_model: str, **options: Any) -> PackageWalk:
    """Runs the quadruped from its initial state at 5 ms. A failed step ends the run."""
    scene = load_real_scene("quadruped")
    model, data = scene.model, scene.make_data()
    with ignored_settings_are_fine():
        simulator = scene.make_simulator(contact_model, on_failure="stop", **options)
    rows, physics = [], 0.0

    def measure(step: Step) -> None:
        nonlocal physics
        x, y = data.qpos[4:6]
        upright = 1 - 2 * (x * x + y * y)
        rows.append([data.time, *data.qpos[:3], upright, len(step.report.contacts)])
        physics += 1e-9 * step.cpu_ns

    num_steps = round(duration / simulator.time_step)
    run = Run(simulator, data, num_steps, partial(set_controls, model))
    failure = describe_failure(run) if run.to_end(measure) == RunEnd.failed else ""
    table = np.array(rows).reshape(-1, 6)
    return PackageWalk(table[:, 0], table[:, 1:4], table[:, 4], table[:, 5], physics, failure)


def set_controls(model: mujoco.MjModel, data: mujoco.MjData) -> None:
    """Sets the controls: stand, then swing diagonal pairs of legs forward alternately, lifted."""
    data.ctrl[:] = 0
    if data.time < _START:
        return
    for leg, (side, offset) in _LEGS.items():
        phase = 2 * math.pi * (_FREQUENCY * (data.time - _START) + offset)
        data.ctrl[model.actuator(f"yaw_{leg}").id] = side * _SWING * math.cos(phase)
        data.ctrl[model.actuator(f"lift_{leg}").id] = _LIFT * max(0.0, math.sin(phase))
