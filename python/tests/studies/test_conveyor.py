"""Tests the closed form of `stiction study conveyor` against small time steps."""

from __future__ import annotations

import numpy as np
import pytest

from stiction.evidence.experiments import conveyor
from stiction.evidence.experiments.planar import GRAVITY


@pytest.mark.slow
def test_the_boxs_exact_motion_is_that_of_small_steps() -> None:
    dt, mu_g = 2e-6, conveyor.FRICTION * GRAVITY
    time = dt * np.arange(round(1.2 / dt) + 1)
    belt = conveyor.calc_belt_velocity(time + 0.5 * dt)
    slip, position, speed = np.zeros(len(time)), np.zeros(len(time)), 0.0
    for i in range(len(time) - 1):
        # Friction stops the slip if its bound allows, and else reduces the slip by its bound.
        speed += float(np.clip(belt[i] - speed, -mu_g * dt, mu_g * dt))
        slip[i + 1] = speed - belt[i]
        position[i + 1] = position[i] + dt * slip[i + 1]
    exact = conveyor.calc_exact_motion(time)
    assert np.abs(exact[:, 0] - position).max() < 1e-5
    assert np.abs(exact[1:, 1] - slip[1:]).max() < 1e-4
