"""Tests the spatula in its grip against closed forms."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from stiction.experiments.spatula import EXAMPLE, PAPER, GripWave, _calc_pitch, run_spatula


def test_the_grip_is_tight_for_a_fixed_fraction_of_every_period() -> None:
    wave = GripWave(tight=16, loose=1, period=6, duty=0.75)
    time = 0.005 * np.arange(2400)  # two periods
    force = wave.calc_force(time)
    assert np.count_nonzero(force == 16) == 1800
    assert np.count_nonzero(force == 1) == 600
    switches = time[1:][np.diff(force) != 0]
    assert switches == pytest.approx([4.5, 6.0, 10.5])


def test_pitch_is_the_rotation_about_y() -> None:
    R_start, quaternion = np.eye(3), np.array([np.cos(0.35), 0, np.sin(0.35), 0])
    assert _calc_pitch(quaternion, R_start) == pytest.approx(0.7)
    mujoco.mju_quat2Mat(start := np.empty(9), quaternion)
    assert _calc_pitch(quaternion, start.reshape(3, 3)) == pytest.approx(0, abs=1e-12)


def test_refined_bodies_touch_in_more_faces() -> None:
    coarse = run_spatula(EXAMPLE, 0.2, 0.04)
    fine = run_spatula(EXAMPLE, 0.2, 0.04, refinement=2)
    assert fine.faces[-1] > 1.5 * coarse.faces[-1]
    # The area is the same, because the same grip force balances the pressure.
    assert fine.area[-1] == pytest.approx(coarse.area[-1], rel=0.1)


def test_waves_are_those_of_the_paper_and_the_example() -> None:
    assert (PAPER.tight, PAPER.loose, PAPER.duty * PAPER.period) == (16, 1, 4.5)
    assert (EXAMPLE.tight, EXAMPLE.loose, EXAMPLE.duty * EXAMPLE.period) == (6.5, 1.5, 1.5)
