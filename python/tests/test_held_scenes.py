"""Tests the scenes of the package that show what friction holds, and that too little of it does not."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest
from numpy.typing import NDArray

import stiction

MODELS = ["coulomb", "lagged"]
STANDS = ["arch", "cards"]
# Scene, model and time step [s]. Under `lagged` the first step has no friction, because nothing
# pressed before; at 10 ms the feet of the cards slip too far in it.
COARSE = [
    ("arch", "coulomb", 0.01),
    ("arch", "lagged", 0.01),
    ("cards", "coulomb", 0.01),
    ("cards", "lagged", 0.002),
]
# Cards of 0.7 mm sink by 0.1 mm when they first bear a load at 10 ms, and pass into each other when
# they fall.
CARDS_OVERLAP = pytest.mark.filterwarnings("ignore:geom .* overlap by:stiction.StepWarning")


class Run:
    """A scene of the package that steps with elastic friction."""

    def __init__(
        self, name: str, model: str, friction: float | None = None, **options: object
    ) -> None:
        self.scene = stiction.load_scene(name)
        if friction is not None:
            self.scene.model.geom_friction[:, 0] = friction
        options = {"friction_law": "elastic", **options}
        self.simulator = self.scene.make_simulator(model, **options)
        self.data = self.scene.make_data()

    def run(self, until: float) -> NDArray[np.float64]:
        """Returns the positions of all bodies at a time [m]."""
        while self.data.time < until - 1e-9:
            if self.scene.control_schedule:
                self.scene.control_schedule(self.data)
            self.simulator.step(self.data)
        mujoco.mj_kinematics(self.scene.model, self.data)
        return self.data.xpos.copy()


@CARDS_OVERLAP
@pytest.mark.parametrize(("name", "model", "time_step"), COARSE)
def test_what_friction_holds_up_does_not_move(name: str, model: str, time_step: float) -> None:
    run = Run(name, model, time_step=time_step)
    start, settled = run.run(0.0), run.run(12.0)
    assert np.abs(settled - start).max() < 0.01  # it stands
    assert np.abs(run.run(15.0) - settled).max() <= 1e-7


@pytest.mark.parametrize("name", STANDS)
def test_without_springs_it_creeps(name: str) -> None:
    run = Run(name, "coulomb", friction_law="soft")
    settled = run.run(2.0)
    assert np.abs(run.run(3.0) - settled).max() > 1e-5  # 280 and 80 um


@CARDS_OVERLAP
@pytest.mark.parametrize(("name", "friction"), [("arch", 0.2), ("cards", 0.25)])
def test_with_less_friction_it_falls(name: str, friction: float) -> None:
    run = Run(name, "coulomb", friction)
    start = run.run(0.0)
    assert np.abs(run.run(2.0) - start).max() > 0.1


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", STANDS)
def test_it_moves_by_less_than_a_micrometer_in_five_minutes(name: str, model: str) -> None:
    """MuJoCo's notes on its own models of both name 33 and 8 um/s."""
    run = Run(name, model)
    settled = run.run(15.0)
    assert np.abs(run.run(315.0) - settled).max() <= 1e-6


@pytest.mark.slow
@CARDS_OVERLAP
@pytest.mark.parametrize(("name", "model", "time_step"), COARSE)
def test_it_stands_for_ten_minutes(name: str, model: str, time_step: float) -> None:
    run = Run(name, model, time_step=time_step)
    start = run.run(0.0)
    assert np.abs(run.run(600.0) - start).max() < 0.01


def find_box_in_hand(run: Run, until: float) -> NDArray[np.float64]:
    """Returns the place of the box of lift.xml relative to the hand at a time [m]."""
    run.run(until)
    return run.data.body("box").xpos - run.data.body("hand").xpos


@pytest.mark.parametrize("model", MODELS)
def test_two_soft_fingers_lift_and_hold(model: str) -> None:
    run = Run("lift", model)
    held = find_box_in_hand(run, 3.0)
    assert run.data.body("box").xpos[2] == pytest.approx(0.14, abs=1e-3)
    assert np.abs(find_box_in_hand(run, 5.0) - held).max() <= 1e-8


def test_two_soft_fingers_drop_what_is_too_slippery() -> None:
    # 20 N on either side bear 0.1 * 40 N, and the box weighs 4.9 N.
    run = Run("lift", "coulomb", friction=0.1)
    find_box_in_hand(run, 3.0)
    assert run.data.body("box").xpos[2] < 0.05


THREAD_SLOPE = 0.002 / (2 * math.pi * 0.00735)  # pitch over circumference


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("share", [1.02, 1.1])
def test_a_nut_locks_above_the_slope_of_its_thread(share: float, model: str) -> None:
    run = Run("nut", model, friction=share * THREAD_SLOPE)
    run.run(0.5)
    start = run.data.qpos.copy()
    run.run(1.0)
    np.testing.assert_allclose(run.data.qpos, start, atol=1e-9)  # [m] and [rad]


@pytest.mark.filterwarnings("ignore:geom 'thread.*may creep:stiction.StepWarning")
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("share", [0.5, 0.9])
def test_a_nut_runs_down_below_the_slope_of_its_thread(share: float, model: str) -> None:
    s, mu = THREAD_SLOPE, share * THREAD_SLOPE
    acceleration = 9.81 / (1 + 1.9 * (1 + mu * s) / (s * (s - mu)))
    run = Run("nut", model, friction=mu)
    run.run(1.0)
    # 1 to 4 %: the boxes of the thread have ends.
    assert -run.data.qpos[0] == pytest.approx(acceleration / 2, rel=0.05)
    assert run.data.qpos[0] / run.data.qpos[1] == pytest.approx(0.001 / math.pi, rel=0.01)


def find_angle(friction: float, until: float) -> float:
    """Returns how far the arm of dry_joint.xml turns in a time, with a bound of friction [rad]."""
    run = Run("dry_joint", "coulomb")
    run.scene.model.dof_frictionloss[:] = friction
    run.run(until)
    return float(run.data.qpos[0])


def test_a_dry_joint_holds_its_arm() -> None:
    assert abs(find_angle(8.175, until=2.0) - find_angle(8.175, until=1.0)) <= 1e-12


def test_a_dry_joint_beyond_its_bound_falls() -> None:
    torque, inertia = 9.81 * 0.25, (0.25**2 + 0.015**2) / 3 + 0.25**2
    acceleration = torque * (1 - 1 / 1.01) / inertia
    angle = find_angle(torque / 1.01, until=0.1)
    assert angle == pytest.approx(acceleration * 0.1**2 / 2, rel=0.1)
