"""Gives contacts a normal law of one's own, and checks the depth at which a ball rests on it.

Usage: python examples/python/own_law.py
"""

from __future__ import annotations

import mujoco

import stiction

GRAVITY, MASS = 9.81, 2.0  # [m/s^2], [kg]
SCENE = f"""<mujoco><option gravity="0 0 {-GRAVITY}"/><worldbody>
  <geom type="plane" size="1 1 .1"/>
  <body pos="0 0 .1"><freejoint/><geom type="sphere" size=".1" mass="{MASS}"/></body>
</worldbody></mujoco>"""


def calc_force(x: float) -> float:
    """Returns the force [N] at the penetration x [m]: soft at first, then stiff."""
    return 1e4 * x + 5e7 * x**2


def main() -> None:
    # The law is sampled once and interpolated, so that no step calls Python.
    law = stiction.NormalLaw(calc_force, max_penetration=0.005, dissipation=20)
    print(f"the table differs from the function by {law.max_error:.1e} N at most")

    model = mujoco.MjModel.from_xml_string(SCENE)
    simulator = stiction.Simulator(model, normal_law=law)
    data = mujoco.MjData(model)
    simulator.step(data, nstep=2000)
    depth = 0.1 - data.qpos[2]
    print(f"the ball rests {1e3 * depth:.4f} mm deep")
    print(
        f"there the law gives {calc_force(depth):.3f} N, and the weight is {MASS * GRAVITY:.3f} N"
    )


if __name__ == "__main__":
    main()
