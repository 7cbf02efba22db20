"""Tests the planner of the cheetah study on a body whose best controls are known, and the replay."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from stiction.evidence.studies.cheetah.plan import HOLD, Effort, Planner, replay
from stiction.evidence.studies.cheetah.study import STEPS, STUDY, _check_ways

# A box on a plane that a motor pushes along x, with a second motor that has no effect on its way.
PUSHED = """
<mujoco>
  <option timestep="0.01"/>
  <worldbody>
    <geom type="plane" size="5 5 1" friction="0.1"/>
    <body pos="0 0 0.05">
      <joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
      <geom type="box" size="0.05 0.05 0.05" mass="1" friction="0.1"/>
    </body>
  </worldbody>
  <actuator>
    <motor joint="x" gear="5" ctrlrange="-1 1"/><motor joint="z" gear="0" ctrlrange="-1 1"/>
  </actuator>
</mujoco>
"""


@pytest.fixture
def model() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(PUSHED)


def test_the_plan_pushes_forward_with_all_force(model: mujoco.MjModel) -> None:
    controls = Planner(model, "coulomb", Effort(3, 32, 4)).plan(6)
    assert controls.shape == (6, 2)
    assert (controls[:, 0] > 0.8).all()
    # The best way is that of a constant net force of 5 N minus friction of 0.981 N.
    time = 6 * HOLD * 0.01
    best = (5 - 0.981) * time**2 / 2
    assert replay(model, controls, "coulomb", 0.01)[-1] == pytest.approx(best, rel=0.2)
    assert replay(model, controls, "coulomb", 0.01)[-1] < best + 0.02


def test_the_replay_repeats_the_planned_motion_bit_for_bit(model: mujoco.MjModel) -> None:
    planner = Planner(model, "coulomb", Effort(1, 8, 2))
    controls = planner.plan(5)
    way = replay(model, controls, "coulomb", 0.01)
    assert way[0] == 0
    assert way[-1] == planner._data.qpos[0]


def test_a_plan_depends_on_the_model_alone(model: mujoco.MjModel) -> None:
    first, second = (Planner(model, "coulomb", Effort(1, 8, 2)).plan(3) for _ in range(2))
    assert np.array_equal(first, second)


def test_a_failed_replay_fails_its_check() -> None:
    ways = {name: dict.fromkeys(STEPS, 0.8) for name in STUDY.contact_models or ()}
    assert all(check.passed for check in _check_ways(ways))
    ways["mujoco"] = dict.fromkeys(STEPS, float("nan"))
    assert sum(not check.passed for check in _check_ways(ways)) == len(STEPS)
    ways["mujoco"], ways["lagged"] = ways["coulomb"], dict.fromkeys(STEPS, 0.0)
    assert sum(not check.passed for check in _check_ways(ways)) == len(STEPS)
