"""Runs a scene with one time step, and samples its positions at common times."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction.binding.interrupts import AfterStep
from stiction.errors import Error, StictionWarning
from stiction.inputs.names import choose_friction_law
from stiction.runs.controls import ControlsName, make_controls
from stiction.scene import Scene
from stiction.setup.options import DEFAULTS

Vector = NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class Settings:
    """What all runs have in common.

    Attributes:
        scene: the scene.
        sample_time: time between samples, which is the largest time step [s].
        num_samples: number of samples after the start.
        controls, seed: as in `stiction run`.
        options: arguments of Scene.make_simulator, besides contact model and time step.
        after_step: called after each step; the run ends if it returns True.
        friction_law: of the models that do not refuse it.
    """

    scene: Scene
    sample_time: float
    num_samples: int
    controls: ControlsName
    seed: int
    options: Mapping[str, Any]
    after_step: AfterStep = lambda: False
    friction_law: str = DEFAULTS["friction_law"]


@dataclasses.dataclass(frozen=True)
class Trajectory:
    """The positions of a run.

    Attributes:
        time_step: [s].
        positions: qpos at each sample, (n, nq); fewer if a step failed or the run was ended.
        message: why a step failed; empty if none did.
    """

    time_step: float
    positions: Vector
    message: str = ""


def run_trajectory(
    settings: Settings, contact_model: str, refinement: int, displacement: Vector | None = None
) -> Trajectory:
    """Runs the scene with a fraction of the largest time step.

    Args:
        settings: of all runs.
        contact_model: name of the contact model.
        refinement: number of steps between two samples.
        displacement: of the initial position in the tangent space, (nv,); None for none.

    Raises:
        Error: the model refuses the scene.
    """
    scene, time_step = settings.scene, settings.sample_time / refinement
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StictionWarning)
        options = {**choose_friction_law(contact_model, settings.friction_law), **settings.options}
        simulator = scene.make_simulator(
            contact_model, time_step=time_step, on_failure="raise", **options
        )
        drive = make_controls(settings.controls, scene, settings.seed)
        data = scene.make_data()
        if displacement is not None:
            mujoco.mj_integratePos(scene.model, data.qpos, displacement, 1.0)
        samples = [data.qpos.copy()]
        for _ in range(settings.num_samples):
            for _ in range(refinement):
                drive(data)
                try:
                    simulator.step(data)
                except Error as e:
                    return Trajectory(time_step, np.array(samples), f"{e} at {data.time:.4g} s")
                if settings.after_step():
                    return Trajectory(time_step, np.array(samples), "interrupted")
            samples.append(data.qpos.copy())
    return Trajectory(time_step, np.array(samples))
