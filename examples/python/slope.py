"""Puts a box on a slope, and compares how fast it creeps under Stiction and under mj_step.

Usage: python examples/python/slope.py
"""

from __future__ import annotations

import mujoco
import numpy as np

import stiction

SCENE = """<mujoco><worldbody>
  <geom type="plane" size="2 2 .1" euler="0 20 0"/>
  <body pos=".017 0 .047" euler="0 20 0"><freejoint/>
    <geom type="box" size=".1 .1 .05" mass="1"/></body>
</worldbody></mujoco>"""


def main() -> None:
    model = mujoco.MjModel.from_xml_string(SCENE)

    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 1000)
    print(f"mj_step: the box creeps at {1e6 * np.linalg.norm(data.qvel[:3]):.0f} um/s")

    data = mujoco.MjData(model)
    simulator = stiction.Simulator(model)  # the contact model is 'coulomb'
    report = simulator.step(data, nstep=1000)  # in place of mj_step
    print(f"Stiction: the box creeps at {1e6 * np.linalg.norm(data.qvel[:3]):.0f} um/s")

    for contact in report.contacts:
        print(f"force {np.round(contact.force, 3)} N:", "slips" if contact.slipping else "sticks")
    print(f"the solver's error is at most {report.certificate.velocity_bound:.0e} m/s")


if __name__ == "__main__":
    main()
