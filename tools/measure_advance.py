#!/usr/bin/env python3
"""Measures the CPU time of one step of error control over that of a fixed step of the same length.

Both start from the same states, and take turns. docs/error_control.md has the figures.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import mujoco
import numpy as np

import stiction
from stiction.experiments.clutter import make_clutter, make_mjcf, make_properties
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


def time_call(call: Callable[[], object]) -> float:
    """Returns the CPU time of a call [s]."""
    start = time.thread_time()
    call()
    return time.thread_time() - start


def measure(
    model: mujoco.MjModel, properties: Any, num_settle: int, contact_model: str
) -> list[float]:
    """Returns the CPU times of a fixed step and of a step of error control [s]."""
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

    def take_fixed_steps() -> None:
        simulator.step(data, NUM_STEPS)

    def advance() -> None:
        # A little more than dt, so that rounding adds no step.
        end = data.time + NUM_STEPS * dt
        report = simulator.advance(data, end, ACCURACY, max_time_step=1.001 * dt, first_step=dt)
        assert report.advance is not None
        counts = report.advance.num_steps, report.advance.num_rejected, report.advance.num_failed
        if counts != (NUM_STEPS, 0, 0):
            raise RuntimeError(
                f"{counts} steps were accepted, rejected and failed, not {NUM_STEPS}"
            )

    least = np.full((NUM_STATES, 2), np.inf)
    for _ in range(NUM_REPEATS):
        for i, state in enumerate(states):
            for j, call in enumerate((take_fixed_steps, advance)):
                mujoco.mj_setState(model, data, state, STATE)
                simulator.step(data, 2)  # so that the simulator goes on from its own state
                least[i, j] = min(least[i, j], time_call(call))
    return list(least.mean(axis=0) / NUM_STEPS)


def main() -> None:
    warnings.simplefilter("ignore", stiction.StictionWarning)
    print("scene      contact model  fixed step [us]  step of error control [us]  ratio")
    for name, model, properties, num_settle in make_scenes():
        for contact_model in ("coulomb", "lagged"):
            fixed, controlled = measure(model, properties, num_settle, contact_model)
            times = f"{1e6 * fixed:15.1f} {1e6 * controlled:27.1f} {controlled / fixed:6.2f}"
            print(f"{name:10} {contact_model:14} {times}")


if __name__ == "__main__":
    main()
