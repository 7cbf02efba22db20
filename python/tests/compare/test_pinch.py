"""Tests that the gripper lifts and holds its cube, and that the cube creeps as predicted."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import stiction
from stiction._core import contact_model_traits
from stiction.analysis.artifacts.creep import solve_creep, solve_tamsi_creep
from stiction.compare import Comparison, compare_models
from stiction.inputs.names import find_models
from stiction.runs.controls import ControlsName, default_controls, default_duration, make_controls
from stiction.scene import Scene, load_scene

PINCH = Path(__file__).parents[3] / "scenes" / "pinch.xml"
OURS = find_models(lambda model: not (model.is_rigid or model.is_mj_step))
DURATION = 3.4  # [s]; the hold takes 1.6 s, and its last 1.2 s are judged


@pytest.fixture(scope="module")
def scene() -> Scene:
    return load_scene(PINCH)


@pytest.fixture(scope="module")
def comparison(scene: Scene) -> Comparison:
    return compare_models(scene, duration=DURATION)


# `viscous` has no dry friction and lifts nothing. Under `drumwright_shell`, friction cannot separate
# contacts that would stay closed without friction, so the cube stays on the floor. `anitescu_potra`
# ignores gaps: contacts that the correction of an overlap opens slip until they close again.
NOT_LIFTING = ("viscous", "drumwright_shell", "anitescu_potra")
LIFTING = [name for name in stiction.contact_models() if name not in NOT_LIFTING]
# With four directions, Lemke's method finds a solution that loads one corner of each pad. The cube
# turns about these corners and sinks by 3 mm/s.
OPTIONS = {"stewart_trinkle": {"friction_directions": 8}}


@pytest.mark.slow
@pytest.mark.parametrize("contact_model", LIFTING)
def test_the_cube_is_lifted_and_held(scene: Scene, contact_model: str) -> None:
    simulator = scene.make_simulator(contact_model, **OPTIONS.get(contact_model, {}))
    data = scene.make_data()
    drive = make_controls(ControlsName.schedule, scene)
    floor, cube = scene.model.geom("floor").id, scene.model.body("cube").id
    for _ in range(round(DURATION / simulator.time_step)):
        drive(data)
        report = simulator.step(data)
    # The cube is lifted by 0.1 m, less the creep under MuJoCo and the sag of the lift, below 5 mm.
    assert 0.115 < data.body("cube").xpos[2] < 0.1205
    contacts = report.contacts
    assert floor not in contacts.geoms
    assert len(contacts) == 8
    # Each pad presses with 20 N, and friction carries the cube's weight.
    on_cube = np.where(contacts.bodies[:, 1] == cube, 1, -1) / simulator.time_step
    pads = {scene.model.geom(f"{side}_pad").id for side in ("left", "right")}
    for pad in pads:
        touching = (contacts.geoms == pad).any(axis=1)
        assert contacts.normal_impulse[touching].sum() / simulator.time_step == pytest.approx(
            20, rel=1e-3
        )
    assert on_cube @ contacts.impulse[:, 2] == pytest.approx(0.045 * 9.81, rel=1e-3)


@pytest.mark.slow
def test_our_models_creep_as_predicted(comparison: Comparison) -> None:
    rows = {row.label: row for row in comparison.rows}
    assert rows["coulomb"].creep_predicted == 0
    assert abs(rows["coulomb"].creep_measured or 1) < 1e-10
    for name in OURS:
        row = rows[name]
        assert row.creep_predicted is not None
        if name == "coulomb":  # on springs
            continue
        # The motion of the lift decays by a factor of e in 0.05 s, and to 3e-4 in 0.4 s.
        assert row.creep_measured == pytest.approx(row.creep_predicted, rel=0.05)


def test_without_slip_the_cube_does_not_move_in_the_grip(scene: Scene) -> None:
    simulator = scene.make_simulator("no_slip")
    data = scene.make_data()
    drive = make_controls(ControlsName.schedule, scene)
    for _ in range(round(DURATION / simulator.time_step)):
        drive(data)
        report = simulator.step(data)
        assert report.certificate.constraint_error <= 1e-12
    assert np.abs(report.contacts.slip_velocity).max() <= 1e-12


@pytest.mark.slow
def test_lagged_creep_is_that_of_the_closed_form(comparison: Comparison) -> None:
    row = next(row for row in comparison.rows if row.label == "lagged")
    rho = 0.045 * 9.81 / (0.7 * 40)
    assert row.creep_predicted == pytest.approx(1e-4 * rho / math.sqrt(1 - rho**2), rel=1e-3)


@pytest.mark.slow
def test_mujoco_creep_is_inversely_proportional_to_impratio(comparison: Comparison) -> None:
    rows = [row for row in comparison.rows if row.noslip_iterations == 0]
    assert [row.impratio for row in rows] == [1, 10, 100]
    assert [row.label for row in rows] == ["mujoco", "mujoco impratio 10", "mujoco impratio 100"]
    first = rows[0].creep_predicted
    assert first is not None
    assert 5e-4 < first < 1e-3  # far above that of every convex model
    for row, factor in zip(rows, (1, 10, 100), strict=True):
        assert row.creep_predicted == pytest.approx(first / factor, rel=1e-6)
    # Only the smallest ratio is checked: the slip of the lift decays more slowly for larger ratios.
    assert rows[0].creep_measured == pytest.approx(first, rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("cone", [0, 1], ids=["pyramidal", "elliptic"])
def test_mujoco_creep_is_predicted_for_both_cones(cone: int) -> None:
    scene = load_scene(PINCH)
    scene.model.opt.cone = cone
    row = compare_models(scene, ["mujoco"], duration=DURATION).rows[0]
    assert row.creep_measured == pytest.approx(row.creep_predicted, rel=0.01)


def test_creep_scales_with_the_stiction_tolerance() -> None:
    bound, eps = np.array([2.0, 3.0]), np.array([1e-4, 5e-4])
    speed = solve_creep(bound, eps, 1.5)
    assert np.sum(bound * speed / np.hypot(speed, eps)) == pytest.approx(1.5, rel=1e-9)
    assert solve_creep(bound, 3 * eps, 1.5) == pytest.approx(3 * speed, rel=1e-9)


def test_tamsi_creep_is_half_of_its_tolerance_at_small_loads() -> None:
    assert solve_tamsi_creep(1e-6, 1e-4) == pytest.approx(1e-6 * 1e-4 / 1.99, rel=1e-6)
    # At larger slip the smoothing of v_s / 100 is negligible, and x (2 - x) = rho.
    assert solve_tamsi_creep(0.75, 2e-4) == pytest.approx(0.5 * 2e-4, rel=3e-4)


@pytest.mark.slow
def test_rows_are_certified_except_mujoco_and_tamsi_has_no_bound(comparison: Comparison) -> None:
    for row in comparison.rows:
        assert row.status == "ok"
        # These two cannot hold the cube: viscous friction lets it sink, and least-energy friction does
        # not lift.
        is_dropped = row.contact_model in ("viscous", "drumwright_shell")
        assert row.notes == (["dropped cube before 1.8 s"] if is_dropped else [])
        if row.contact_model == "mujoco":
            assert row.velocity_bound is None
            assert row.relative_residual is None
        else:
            assert row.relative_residual is not None
            assert 0 <= row.relative_residual <= comparison.tolerance
        if not contact_model_traits(row.contact_model).has_error_bound:
            assert row.velocity_bound is None
        else:
            assert row.velocity_bound is not None
            assert 0 < row.velocity_bound < 1e-4


def test_run_follows_the_schedule(tmp_path: Path) -> None:
    command = [Path(sys.executable).parent / "stiction", "run", PINCH, "--json"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
    figures = json.loads(result.stdout)
    assert figures["controls"] == "schedule"
    assert figures["num_steps"] == 3500
    energy = figures["energy"]
    # Palm and fingers of 0.74 kg and the cube are lifted by 0.1 m; the lift sags by 0.1 mm.
    assert energy["end"]["potential"] - energy["start"]["potential"] == pytest.approx(
        0.785 * 9.81 * 0.1, rel=2e-3
    )


def test_the_schedule_passes_through_its_keyframes(scene: Scene) -> None:
    schedule = scene.control_schedule
    assert schedule is not None
    data = scene.make_data()
    for time, ctrl in ((0, (0, 0, 0)), (0.25, (0, 0.02, 0.02)), (1.3, (0.05, 0.04, 0.04)),
                       (7, (0.1, 0.04, 0.04)), (9, (0.1, 0.04, 0.04))):  # fmt: skip
        data.time = time
        schedule(data)
        assert data.ctrl == pytest.approx(ctrl, abs=1e-15)
    assert schedule.hold_start == 1.8
    assert default_duration(scene) == schedule.end == 7
    assert default_controls(scene) == ControlsName.schedule
