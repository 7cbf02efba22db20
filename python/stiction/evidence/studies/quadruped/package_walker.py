"""Walks of dm_control's quadruped, whose set points depend only on time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import mujoco
import numpy as np

from stiction.errors import ignored_settings_are_fine
from stiction.evidence.experiments.real_scenes import load_real_scene
from stiction.evidence.studies.quadruped.footsteps import Vector
from stiction.evidence.studies.quadruped.run import describe_failure
from stiction.runs.run import Run, RunEnd, Step

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
