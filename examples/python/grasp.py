"""Lifts a cube with a gripper, and prints the contacts of the held cube and the error bound.

Usage: python examples/python/grasp.py
"""

from __future__ import annotations

import numpy as np

import stiction
from stiction.inputs.package_scenes import find_scene_file


def main() -> None:
    # The scene is a gripper above a cube. It declares a schedule of its controls.
    scene = stiction.load_scene(find_scene_file("pinch"))
    data = scene.make_data()
    simulator = scene.make_simulator()  # takes the name of a contact model, by default 'coulomb'
    schedule = scene.control_schedule
    assert schedule is not None

    # Close the gripper, lift the cube and hold it for 0.5 s. A step that fails its certificate
    # raises stiction.StepError.
    bound = 0.0
    while data.time < schedule.hold_start + 0.5:
        schedule(data)  # sets data.ctrl
        report = simulator.step(data)  # in place of mujoco.mj_step(scene.model, data)
        bound = max(bound, report.certificate.velocity_bound)

    # Forces are the impulses of the last step, divided by the time step.
    contacts = report.contacts
    print("contact                 normal force [N]  friction force [N]  slip speed [um/s]")
    for i in range(len(contacts)):
        names = ", ".join(scene.model.geom(geom).name for geom in contacts.geoms[i])
        friction = contacts.impulse[i] - contacts.normal_impulse[i] * contacts.normal[i]
        print(
            f"{names:24}{contacts.normal_impulse[i] / simulator.time_step:16.3f}"
            f"{np.linalg.norm(friction) / simulator.time_step:20.3f}"
            f"{1e6 * np.linalg.norm(contacts.slip_velocity[i]):19.3f}"
        )

    # The certificate bounds the solver's error in the velocity of every contact point.
    print(f"height of the cube: {data.body('cube').xpos[2]:.4f} m")
    print(f"largest bound on the velocity error of a contact point: {bound:.1e} m/s")


if __name__ == "__main__":
    main()
