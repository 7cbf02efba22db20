"""Tests the theory of the rod that jams, and the measurement of a jam."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from stiction.evidence.experiments.painleve import (
    Jam,
    calc_compliant_jam,
    calc_rigid_jam,
    calc_singular_angle,
    calc_sliding_force,
    calc_spin_of_stuck_rod,
)
from stiction.evidence.experiments.planar import Trajectory
from stiction.evidence.experiments.sliding_rod import (
    ANGLE,
    FRICTION,
    LENGTH,
    SPEED,
    calc_painleve_margin,
)
from stiction.evidence.studies.painleve.checks import (
    JamRun,
    RodCase,
    check_compliant,
    check_friction,
    check_rigid,
    find_jam,
)

A = LENGTH / 2


def test_the_singular_angle_is_the_root_of_its_equation() -> None:
    assert math.degrees(calc_singular_angle()) == pytest.approx(32.57294, abs=1e-5)
    assert calc_painleve_margin(calc_singular_angle()) == pytest.approx(0, abs=1e-14)
    # At the smallest friction coefficient the two roots coincide.
    assert calc_singular_angle(4 / 3) == pytest.approx(math.atan(2))


def test_the_rigid_motion_is_that_of_small_steps_in_time() -> None:
    """Integrates the motion in time until shortly before its singular end."""

    def calc_rates(_: float, y: np.ndarray) -> tuple[float, float]:
        s, c = math.sin(y[0]), math.cos(y[0])
        push = (9.81 - A * y[1] ** 2 * s) / (1 + 3 * c * c - 3 * FRICTION * s * c)
        return y[1], 3 / A * push * (FRICTION * s - c)

    jam = calc_rigid_jam()
    end = solve_ivp(calc_rates, (0, jam.time - 1e-8), (ANGLE, 0), rtol=1e-10, atol=1e-12).y[:, -1]
    assert end[0] == pytest.approx(jam.angle, abs=1e-6)
    assert end[1] < jam.spin
    assert jam.angle == pytest.approx(calc_singular_angle(), abs=1e-9)
    assert jam.spin == pytest.approx(math.sqrt(9.81 / (A * math.sin(jam.angle))), rel=1e-9)


def test_a_stuck_rod_turns_about_its_tip_with_less_energy() -> None:
    spin = calc_spin_of_stuck_rod(ANGLE, SPEED, 0.0, 0.0)
    assert spin == pytest.approx(3 * SPEED * math.sin(ANGLE) / (2 * LENGTH))
    assert 4 / 3 * (A * spin) ** 2 < SPEED**2
    # A rod that already turns about its tip keeps its spin.
    turning = calc_spin_of_stuck_rod(0.4, A * math.sin(0.4) * 3, A * math.cos(0.4) * 3, 3.0)
    assert turning == pytest.approx(3.0)


def test_a_stiffer_spring_jams_closer_to_the_singular_angle() -> None:
    behind = [calc_compliant_jam(k).angle - calc_singular_angle() for k in (1e4, 1e5, 1e6)]
    assert behind[0] > behind[1] > behind[2] > 0
    assert behind[0] / behind[2] == pytest.approx(100 ** (1 / 3), rel=0.2)


def test_the_force_at_the_start_is_that_of_the_first_step() -> None:
    force = RodCase("stewart_trinkle", 1e-5, duration=1e-5).run().normal_force[-1]
    assert force == pytest.approx(calc_sliding_force(), rel=1e-3)


def test_a_jam_is_the_first_step_in_which_the_tip_sticks() -> None:
    q, v = np.zeros((4, 3)), np.zeros((4, 3))
    q[:, 2], v[:, 2] = [-0.1, -0.2, -0.3, -0.4], [-1, -2, -3, -4]
    run = Trajectory(
        contact_model="coulomb",
        time_step=0.5,
        time=np.array([0, 0.5, 1, 1.5]),
        q=q,
        v=v,
        normal_force=np.array([0, 0, 6.0, 5.0]),
        friction_force=np.zeros(4),
        normal_velocity=np.zeros(4),
        slip_velocity=np.array([0, 0, 1e-3, 0]),  # without a force, no slip means no contact
        coupling_error=0.0,
    )
    assert find_jam(run) == JamRun(
        time=0.5, angle=0.2, spin=2, spin_after=3, impulse=3.0, force=6.0
    )
    run.slip_velocity[2:] = 1.0
    assert find_jam(run) is None


def test_a_jam_at_another_angle_fails_its_checks() -> None:
    theory = Jam(time=0.02, angle=0.5, spin=8.0, spin_after=15.0)
    late = JamRun(time=0.02, angle=0.501, spin=8.0, spin_after=15.0, impulse=0.5, force=1e3)
    assert all(c.passed for c in check_rigid("stewart_trinkle", {2e-4: late}, theory))
    angle, spin = check_rigid("stewart_trinkle", {1e-4: late}, theory)
    assert not angle.passed
    assert spin.passed
    assert not check_compliant("coulomb", {5e-5: late}, theory)[0].passed
    order, distance = check_compliant("lagged", {1e-4: late, 2e-4: late}, theory)
    assert not order.passed
    assert distance.passed
    assert [c.passed for c in check_friction({1.6: late, 2.0: None, 3.0: late}, 1e-5)] == [
        False
    ] * 3
