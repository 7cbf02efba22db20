"""Tests the parts of `stiction study clutter`: runs and plots."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import mujoco
import numpy as np
import pytest

from stiction.evidence.experiments.planar import PlanarBody
from stiction.evidence.studies.clutter.checks import (
    bound_median,
    check_history,
    check_steps,
    check_stiffness,
    find_stiffest,
)
from stiction.evidence.studies.clutter.measures import measure, measure_ratio
from stiction.evidence.studies.clutter.plots import _find_hull
from stiction.evidence.studies.clutter.run import (
    PLAIN_SIMILAR,
    STIFF_SAP,
    VARIANTS,
    ClutterCase,
    ClutterRun,
    calc_stiction_speed,
    run_clutter_case,
)

_NUM_CONDITIONS = 30

BALL = PlanarBody(
    mass=2.0,
    inertia=0.01,
    spheres=((0.0, 0.0, 0.1),),
    friction=0.3,
    stiffness=1e5,
    dissipation=0.0,
    relaxation_time=0.0,
)


# At 10 ms boxes overlap by a quarter of their width in the fall, of which steps warn.
_AT_10_MS = pytest.mark.filterwarnings("ignore::stiction.StepWarning")


@_AT_10_MS
def test_a_run_of_the_clutter_has_all_its_figures() -> None:
    run = run_clutter_case(ClutterCase("lagged_regularized", time_step=1e-2), num_conditions=5)
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

    def calc(name: str) -> float:
        return calc_stiction_speed(VARIANTS.get(name, ClutterCase(name)), contacts)

    assert calc("sap") == pytest.approx(sigma_speed)
    assert calc("lagged") == 1e-4
    assert calc("lagged_regularized") == max(1e-4, sigma_speed)
    assert calc(PLAIN_SIMILAR) == 1e-4
    assert math.isnan(calc("mujoco"))


@pytest.mark.parametrize("name", ["lagged", "lagged_regularized"])
def test_lagged_models_are_as_published(name: str) -> None:
    """The default bounds friction by the force of the last step, which is not in the paper."""
    for simulator in (ClutterCase(name).make_simulator(), BALL.make_simulator(name, 1e-3)):
        assert simulator.options["remember_forces"] is False


@_AT_10_MS
@pytest.mark.slow
def test_regularization_acts_at_large_time_steps() -> None:
    """In figure 16 it divides the condition number of lagged by ten, which it did not while the study
    bounded friction by the force of the last step."""
    plain, regularized = (
        run_clutter_case(ClutterCase(name, time_step=1e-2), _NUM_CONDITIONS).mean_condition()
        for name in ("lagged", "lagged_regularized")
    )
    assert plain > 3 * regularized


@_AT_10_MS
@pytest.mark.slow
def test_sap_is_as_published_unless_its_limit_is_switched_off() -> None:
    """The near-rigid limit of sap at 10 ms is far below the given stiffness."""
    depths = {}
    for name, case in {"sap": ClutterCase("sap"), **VARIANTS}.items():
        depths[name] = run_clutter_case(replace(case, time_step=1e-2)).median_penetration
    # A box of 1 kg on four corners moves a mass of about 0.2 kg at each, and 4 pi^2 m / dt^2 = 8e4.
    assert 1e-5 < depths["sap"] < 1e-4
    assert depths[STIFF_SAP] < 1e-6
    assert depths[PLAIN_SIMILAR] < 1e-6


def make_run(**values: float) -> ClutterRun:
    """Returns a run of two steps, before and after settling, with these figures."""
    run = ClutterRun.__new__(ClutterRun)
    run.num_failed, run.residual_to_momentum, run.max_penetration = 0, 1e-6, 1e-3
    run.iterations, run.condition = np.full(2, 4.0), np.full(2, 1e6)
    run.time, run.median_penetration = np.array([1.0, 3.0]), 1e-6
    run.stiction_speed = np.full(2, 1e-3)
    for name, value in values.items():
        is_array = isinstance(getattr(run, name), np.ndarray)
        setattr(run, name, np.full(2, value) if is_array else value)
    return run


def test_a_measure_is_the_geometric_mean_of_the_scenes_and_their_spread() -> None:
    runs = [make_run(condition=1e6), make_run(condition=4e6)]
    assert measure(runs, ClutterRun.mean_condition).mean == pytest.approx(2e6)
    spread = measure(runs, ClutterRun.mean_condition).spread
    assert spread == pytest.approx(math.exp(math.log(2) * math.sqrt(2)))
    assert measure(runs[:1], ClutterRun.mean_condition).spread == 1
    ratio = measure_ratio(runs, [make_run(condition=1e6)] * 2, ClutterRun.mean_condition)
    assert (ratio.mean, ratio.spread) == pytest.approx((2, spread))


def test_the_interval_of_two_standard_errors_has_the_mean_of_most_samples() -> None:
    """Samples of eight scenes with a median of 4 iterations."""
    random = np.random.default_rng(0)
    samples = 4 * np.exp(0.15 * random.standard_normal((1000, 8)))
    measures = [
        measure([make_run(iterations=x) for x in sample], ClutterRun.mean_iterations)
        for sample in samples
    ]
    # Student's t of seven degrees of freedom is within 2 with a probability of 91.4 %.
    assert np.mean([each.low < 4 < each.high for each in measures]) == pytest.approx(
        0.914, abs=0.03
    )


def test_a_failed_step_of_any_scene_ends_the_range_of_stiffness() -> None:
    good, bad = make_run(), make_run(num_failed=1)
    assert find_stiffest({1e5: [good, good], 1e6: [good, good], 1e7: [good, bad]}) == 1e6
    assert find_stiffest({1e5: [bad], 1e6: [good]}) is None


def test_each_model_has_its_own_check_of_iterations() -> None:
    """The mean over the models would hide that one of them misses the paper."""
    good = {k: [make_run(median_penetration=1 / k)] * 8 for k in (1e5, 1e7, 1e13)}
    worse = {**good, 1e7: [make_run(median_penetration=1e-7, iterations=6.0)] * 8}
    checks = check_stiffness({"lagged": good, "lagged_regularized": worse})
    failed = [check.name for check in checks if not check.passed]
    what = "ratio of iterations, 1e7 to 1e5 N/m, lagged_regularized, minus 2 standard errors"
    assert failed == [what]
    stiff = {**good, 1e13: [make_run(median_penetration=1e-7)] * 8}
    assert all(check.passed for check in check_stiffness({"sap": stiff}))
    assert not all(check.passed for check in check_stiffness({"sap": good}))


def test_a_condition_number_of_sap_that_depends_on_the_time_step_fails() -> None:
    flat = {step: [make_run()] * 8 for step in (1e-2, 2e-3)}
    steep = {**flat, 1e-2: [make_run(condition=3e6)] * 8}
    assert all(check.passed for check in check_steps({"sap": flat}))
    assert not all(check.passed for check in check_steps({"sap": steep}))


def test_a_check_passes_only_if_the_mean_is_on_its_side_by_two_standard_errors() -> None:
    def check(*speeds: float) -> bool:
        runs = [make_run(stiction_speed=speed) for speed in 4 * speeds]
        *_, settled = check_history({"sap": runs})
        return settled.passed

    # The mean of each is 0.27 v_s, below the limit of 0.3 v_s.
    assert check(2.7e-5, 2.7e-5)
    assert check(2.6e-5, 2.8e-5)
    assert not check(2.0e-5, 3.6e-5)
    assert not check_history({"sap": [make_run(stiction_speed=1e-5)] * 7})


def test_the_iterations_of_similar_are_a_known_miss() -> None:
    """The study fails once they are within 20 %, so that the page follows."""
    few = {k: [make_run(median_penetration=1 / k)] * 8 for k in (1e5, 1e7)}
    many = {**few, 1e7: [make_run(median_penetration=1e-7, iterations=5.4)] * 8}
    for runs, holds in ((many, False), (few, True)):
        (check,) = [each for each in check_stiffness({PLAIN_SIMILAR: runs}) if each.is_known_miss]
        assert check.passed is not holds


def test_the_hull_of_a_square_is_its_corners() -> None:
    rng = np.random.default_rng(0)
    corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1.0]])
    hull = _find_hull(np.vstack([rng.uniform(0.1, 0.9, (20, 2)), corners]))
    assert hull.tolist() == corners.tolist()


@pytest.mark.parametrize("size", [6, 16, 64, 128])
def test_the_lower_bound_of_a_median_is_rarely_above_it(size: int) -> None:
    """Samples of a skewed distribution of median 1."""
    random = np.random.default_rng(size)
    samples = np.exp(1.5 * random.standard_normal((4000, size)))
    bounds = np.array([bound_median(list(sample)) for sample in samples])
    assert 0.002 < np.mean(bounds > 1) < 0.032
    assert np.mean(bounds < np.median(samples, axis=1)) > 0.99
