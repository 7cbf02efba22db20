"""Tests the closed form of `stiction study falling_sphere` against the laws of motion."""

from __future__ import annotations

import math

import numpy as np
import pytest

from stiction.evidence.experiments import falling_sphere
from stiction.evidence.experiments.planar import GRAVITY


@pytest.mark.slow
def test_the_rigid_sphere_satisfies_the_laws_of_motion() -> None:
    dt = 1e-6
    time = dt * np.arange(round(0.3 / dt))
    x, z, theta = falling_sphere.calc_rigid_motion(time).T
    u, omega = np.gradient(x, dt), np.gradient(theta, dt)
    impact = math.sqrt(2 * falling_sphere.HEIGHT / GRAVITY)
    falls, rolls = time < impact - 1e-4, time > falling_sphere.ROLLING_TIME + 1e-4
    slides = (time > impact + 1e-4) & (time < falling_sphere.ROLLING_TIME - 1e-4)
    assert u[falls] == pytest.approx(2.0)
    assert u[rolls] == pytest.approx(-0.025 * omega[rolls], rel=1e-6)
    # The angular momentum about the contact point, 2/5 m R^2 omega - m R u, is constant.
    spin = 0.4 * 0.025 * omega - u
    assert spin[slides] == pytest.approx(-2.0, rel=1e-5)
    assert spin[rolls] == pytest.approx(-2.0, rel=1e-5)
    rate = np.gradient(u[slides], dt)[10:-10]
    assert np.median(rate) == pytest.approx(-0.5 * 9.81, rel=1e-3)
    assert z[~falls][200:] == pytest.approx(0.025)
