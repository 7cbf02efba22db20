#!/usr/bin/env python3
"""Measures the CPU time of one step of error control over that of a fixed step of the same length.

Both start from the same states, and take turns. docs/error_control.md has the figures.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import mujoco
import numpy as np

import stiction
from stiction.evidence.bench.timing import Runner, time_in_turns
from stiction.evidence.experiments.clutter import make_clutter, make_mjcf, make_properties
from stiction.scene import load_scene

NUM_STEPS = 10  # in a call
NUM_STATES = 6
NUM_REPEATS = 15
ACCURACY = 0.1  # [m]; no step is rejected
STATE = mujoco.mjtState.mjSTATE_INTEGRATION


def make_scenes() -> Iterator[tuple[str, mujoco.MjModel, Any, int]]:
    """Yields the name, the model, the contact properties, and the steps until it has settled."""
    clutter = mujoco.MjModel.from_xml_string(make_mjcf(make_clutter(40)))
    yield "clutter", clutter, make_properties(), 600
    for name, num_steps in (("pinch", 300), ("quadruped", 400), ("spatula", 60), ("gripper", 60)):
        scene = load_scene(name)
        yield name, scene.model, scene.properties, num_steps


def measure(
    model: mujoco.MjModel, properties: Any, num_settle: int, contact_model: str
) -> list[float]:
    """Returns the CPU times of a fixed step and of a step of error control [us]."""
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    simulator = stiction.Simulator(model, contact_model, properties=properties)
    dt = model.opt.timestep
    simulator.step(data, num_settle)
    states = np.zeros((NUM_STATES, mujoco.mj_stateSize(model, STATE)))
    for state in states:
        simulator.step(data, 20)
        mujoco.mj_getState(model, data, state, STATE)

    def take_fixed_steps(num_steps: int) -> None:
        simulator.step(data, num_steps)

    def advance(num_steps: int) -> None:
        # A little more than dt, so that rounding adds no step.
        end = data.time + num_steps * dt
        report = simulator.advance(data, end, ACCURACY, max_time_step=1.001 * dt, first_step=dt)
        assert report.advance is not None
        counts = report.advance.num_steps, report.advance.num_rejected, report.advance.num_failed
        if counts != (num_steps, 0, 0):
            raise RuntimeError(
                f"{counts} steps were accepted, rejected and failed, not {num_steps}"
            )

    least = []
    for state in states:

        def reset(state: np.ndarray = state) -> None:
            mujoco.mj_setState(model, data, state, STATE)
            simulator.step(data, 2)  # so that the simulator goes on from its own state

        times = time_in_turns(
            {
                "fixed": Runner(reset, take_fixed_steps, NUM_STEPS),
                "controlled": Runner(reset, advance, NUM_STEPS),
            },
            NUM_REPEATS,
        )
        least.append((times["fixed"].minimum, times["controlled"].minimum))
    return list(np.mean(least, axis=0))


def main() -> None:
    warnings.simplefilter("ignore", stiction.StictionWarning)
    print("scene      contact model  fixed step [us]  step of error control [us]  ratio")
    for name, model, properties, num_settle in make_scenes():
        for contact_model in ("coulomb", "lagged"):
            fixed, controlled = measure(model, properties, num_settle, contact_model)
            times = f"{fixed:15.1f} {controlled:27.1f} {controlled / fixed:6.2f}"
            print(f"{name:10} {contact_model:14} {times}")


if __name__ == "__main__":
    main()
