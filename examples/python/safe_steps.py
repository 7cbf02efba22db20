"""Decides what happens when a step fails, and reads warnings and certificates.

Usage: python examples/python/safe_steps.py
"""

from __future__ import annotations

import warnings

import mujoco

import stiction
from stiction.inputs.package_scenes import find_scene_file

WORST = 1e-3  # largest bound on the velocity of a contact point that is accepted [m/s]


def drop(simulator: stiction.Simulator, data: mujoco.MjData) -> tuple[int, float]:
    """Makes 200 steps, and returns the number of bad steps and the largest error bound [m/s]."""
    num_bad, bound = 0, 0.0
    for _ in range(200):
        report = simulator.step(data)
        num_bad += report.status != "ok" or report.certificate.velocity_bound > WORST
        bound = max(bound, report.certificate.velocity_bound)
    return num_bad, bound


def main() -> None:
    warnings.simplefilter("ignore", stiction.StepWarning)  # counted in simulator.warning_counts
    scene = stiction.load_scene(find_scene_file("quadruped"))

    # By default a step that fails raises, and leaves data as it was before.
    data = scene.make_data()
    data.qvel[2] = -3
    hasty = scene.make_simulator(max_iterations=2)
    try:
        drop(hasty, data)
    except stiction.StepError as error:
        print(f"at {data.time:.3f} s: {error}")

    # 'keep_best' goes on with the best solution that was found; the report tells.
    data = scene.make_data()
    data.qvel[2] = -3
    lenient = scene.make_simulator(max_iterations=2, on_failure="keep_best")
    num_bad, bound = drop(lenient, data)
    print(f"two iterations: {num_bad} of 200 steps are bad, error at most {bound:.1e} m/s")
    print("warnings:", lenient.warning_counts)

    data = scene.make_data()
    data.qvel[2] = -3
    simulator = scene.make_simulator()
    num_bad, bound = drop(simulator, data)
    print(f"as many as needed: {num_bad} of 200 steps are bad, error at most {bound:.1e} m/s")


if __name__ == "__main__":
    main()
