"""Tests the spatula in its grip against closed forms."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from stiction.evidence.experiments.spatula import EXAMPLE, PAPER, GripWave, _calc_pitch, run_spatula


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


def test_openings_have_steps_of_their_own() -> None:
    run = run_spatula(EXAMPLE, 6, 0.04, opening_step=0.005)
    starts = np.concatenate([[0], run.time[:-1]])
    lengths = run.time - starts
    assert np.unique(lengths.round(9)).tolist() == [0.005, 0.04]
    since = (starts + 1e-9) % 3 - 1.5
    assert lengths[(since >= 0) & (since < 0.1)] == pytest.approx(0.005)
    assert np.count_nonzero(lengths > 0.03) > 0.9 * 6 / 0.04 * (1 - 2 * 0.1 / 3)
    # Each phase begins with a step.
    for switch in (1.5, 3.0, 4.5):
        assert np.abs(starts - switch).min() < 1e-9


@pytest.mark.slow
def test_the_opening_of_the_grip_is_what_40_ms_do_not_resolve() -> None:
    fine, coarse = (run_spatula(EXAMPLE, 3, step).find_pitch(2.9) for step in (0.00125, 0.04))
    resolved = run_spatula(EXAMPLE, 3, 0.04, opening_step=0.00125).find_pitch(2.9)
    assert abs(coarse / fine - 1) > 0.04  # measured: 4.9 %
    assert abs(resolved / fine - 1) < 0.03  # measured: 2.5 %


def test_waves_are_those_of_the_paper_and_the_example() -> None:
    assert (PAPER.tight, PAPER.loose, PAPER.duty * PAPER.period) == (16, 1, 4.5)
    assert (EXAMPLE.tight, EXAMPLE.loose, EXAMPLE.duty * EXAMPLE.period) == (6.5, 1.5, 1.5)
