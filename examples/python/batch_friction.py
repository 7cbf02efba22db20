"""Slides 64 boxes with different friction at once, and compares how far they get with theory.

Usage: python examples/python/batch_friction.py
"""

from __future__ import annotations

import mujoco
import numpy as np

import stiction

NUM, SPEED, GRAVITY = 64, 2.0, 9.81
SCENE = f"""<mujoco><option timestep="0.001" gravity="0 0 {-GRAVITY}"/><worldbody>
  <geom name="floor" type="plane" size="9 9 .1" friction="0"/>
  <body name="box" pos="0 0 .05"><freejoint/>
    <geom name="box" type="box" size=".1 .1 .05" mass="1" priority="1"/></body>
</worldbody></mujoco>"""


def main() -> None:
    model = mujoco.MjModel.from_xml_string(SCENE)
    friction = np.linspace(0.1, 1.0, NUM)

    # The methods are those of mujoco.batch.Batch. Arrays are live views of all simulations.
    batch = stiction.Batch(model, nsim=NUM)
    batch.expand("geom_friction")[:, model.geom("box").id, 0] = friction
    qpos, qvel = batch.bind("qpos"), batch.bind("qvel")
    bound = batch.bind("error_bound")
    qvel[:, 0] = SPEED
    for _ in range(2500):
        batch.step()

    exact = SPEED**2 / (2 * friction * GRAVITY)
    error = np.abs(qpos[:, 0] / exact - 1)
    for i in range(0, NUM, 9):
        print(f"mu {friction[i]:.3f}: {qpos[i, 0]:.4f} m, exact {exact[i]:.4f} m")
    print(f"largest error {100 * error.max():.2f} %, error bound at most {bound.max():.1e} sqrt(J)")


if __name__ == "__main__":
    main()
