"""Tests the parts of `stiction study clutter`: runs and plots."""

from __future__ import annotations

import json
import math

import mujoco
import numpy as np
import pytest

from stiction.experiments.planar import PlanarBody
from stiction.studies.clutter.plots import _find_hull
from stiction.studies.clutter.run import calc_stiction_speed, run_clutter_case

BALL = PlanarBody(
    mass=2.0,
    inertia=0.01,
    spheres=((0.0, 0.0, 0.1),),
    friction=0.3,
    stiffness=1e5,
    dissipation=0.0,
    relaxation_time=0.0,
)


def test_a_run_of_the_clutter_has_all_its_figures() -> None:
    run = run_clutter_case("lagged_regularized", time_step=1e-2, num_conditions=5)
    assert len(run.time) == 300
    assert run.time[-1] == pytest.approx(3.0)
    assert np.isfinite(run.condition).sum() == 5
    # The pile is at rest, and the smallest eigenvalue is the inertia of a sphere.
    assert run.mean_condition(2.0) > 1e4
    assert 0 < run.mean_penetration <= run.max_penetration < 8e-3
    assert run.num_failed == 0
    assert run.contacts[-1] > 90
    assert json.loads(json.dumps(run.describe()))["max_iterations"] == run.iterations.max()


def test_stiction_speeds_are_those_of_the_models() -> None:
    simulator = BALL.make_simulator("sap", 1e-3)
    data = mujoco.MjData(simulator.model)
    data.qpos[:] = [0, 0.1 - 2 * 9.81 / 1e5, 0]
    contacts = simulator.step(data).contacts
    sigma_speed = 1e-3 * contacts.delassus[0] * 0.3 * 2 * 9.81 * 1e-3
    assert calc_stiction_speed("sap", contacts) == pytest.approx(sigma_speed)
    assert calc_stiction_speed("lagged", contacts) == 1e-4
    assert calc_stiction_speed("lagged_regularized", contacts) == max(1e-4, sigma_speed)
    assert math.isnan(calc_stiction_speed("mujoco", contacts))


def test_the_hull_of_a_square_is_its_corners() -> None:
    rng = np.random.default_rng(0)
    corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1.0]])
    hull = _find_hull(np.vstack([rng.uniform(0.1, 0.9, (20, 2)), corners]))
    assert hull.tolist() == corners.tolist()
