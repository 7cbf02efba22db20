"""Tests `stiction grasp`: its limits against closed forms and against loads that a grasp must hold."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import stiction
from stiction.analysis.grasp import measure_grasp
from stiction.analysis.grasp.limits import (
    GraspContacts,
    calc_shares,
    calc_slip_margin,
    calc_torsional_limit,
    find_grasp_axis,
)
from stiction.inputs.package_scenes import find_scene_file

SCENES = Path(__file__).parents[3] / "scenes"
PINCH = SCENES / "pinch.xml"
DOWN = np.array([0.0, 0.0, -1.0])
ORIGIN = np.zeros(3)
OPPOSED = np.array([[1.0, 0, 0], [-1.0, 0, 0]])


def make_contacts(at: Any, force: Any, friction: Any = 0.5, **further: Any) -> GraspContacts:
    """Contacts that press along x at points (y, z)."""
    n = len(at)
    values: dict[str, Any] = {
        "point": np.column_stack([np.zeros(n), np.asarray(at, float)]),
        "normal": np.tile([1.0, 0.0, 0.0], (n, 1)),
        "force": np.asarray(force, float),
        "friction": np.full(n, 1.0) * friction,
        "torsion": np.zeros(n),
        "rolling": np.zeros(n),
        "tangential": np.zeros((n, 3)),
        "torque": np.zeros((n, 3)),
    }
    return GraspContacts(**{**values, **further})


def test_a_square_of_contacts_resists_half_its_diagonal() -> None:
    corners = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
    contacts = make_contacts(corners, [10] * 4)
    axis = find_grasp_axis(contacts)
    assert axis == pytest.approx([1, 0, 0])
    assert calc_torsional_limit(contacts, axis) == pytest.approx(4 * 0.5 * 10 * math.sqrt(2))


@pytest.mark.slow
def test_a_disk_of_contacts_resists_two_thirds_of_its_radius() -> None:
    """A uniform pressure on a disk of radius R carries 2/3 mu f R."""
    radii = (np.arange(40) + 0.5) / 40
    angles = 2 * np.pi * np.arange(64) / 64
    points = [(r * math.cos(a), r * math.sin(a)) for r in radii for a in angles]
    weights = np.repeat(radii, 64)
    contacts = make_contacts(points, weights / weights.sum())
    limit = calc_torsional_limit(contacts, np.array([1.0, 0, 0]))
    assert limit == pytest.approx(2 / 3 * 0.5, rel=1e-3)


def test_the_axis_of_least_power_is_at_the_contact_that_presses_most() -> None:
    contacts = make_contacts([(0, 0), (1, 0)], [30, 10])
    assert calc_torsional_limit(contacts, np.array([1.0, 0, 0])) == pytest.approx(0.5 * 10 * 1)
    one = make_contacts([(3, 4)], [10], torsion=np.array([0.02]))
    assert calc_torsional_limit(one, np.array([1.0, 0, 0])) == pytest.approx(0.2)


def test_margins_are_shares_of_the_bound() -> None:
    tangential = np.array([[0, 0, 3.0], [0, 0, 1.0]])
    # From both sides, so that the normal forces balance each other.
    contacts = make_contacts([(0, 0), (0, 0)], [10, 10], tangential=tangential, normal=OPPOSED)
    assert calc_slip_margin(contacts, DOWN, 4.0, ORIGIN) == pytest.approx(1 - 4 / 10)
    assert calc_slip_margin(contacts, DOWN, 12.0, ORIGIN) == pytest.approx(-0.2)
    assert calc_shares(contacts)[0].max() == pytest.approx(3 / 5)
    # A body that lies on its support needs no friction.
    lying = make_contacts([(0, 0)], [4], normal=np.array([[0, 0, 1.0]]))
    assert calc_slip_margin(lying, DOWN, 4.0, ORIGIN) == 1


def test_a_finger_that_presses_down_is_no_support() -> None:
    """Two fingers press with 20 N from the sides, and a third with 10 N from above or below."""
    for side, margin in ((-1.0, 1 - 10.98 / 20), (1.0, 1 - 9.02 / 20)):
        normal = np.vstack([OPPOSED, [[0, 0, side]]])
        contacts = make_contacts([(0, 0)] * 3, [20, 20, 10], normal=normal)
        assert calc_slip_margin(contacts, DOWN, 0.98, ORIGIN) == pytest.approx(margin, rel=1e-6)


@pytest.mark.parametrize("angle", [0.1, 0.4, 0.7])
def test_the_margin_on_a_slope_is_that_of_the_friction_angle(angle: float) -> None:
    normal = np.array([[math.sin(angle), 0, math.cos(angle)]])
    block = make_contacts([(0, 0)], [math.cos(angle)], normal=normal)
    margin = calc_slip_margin(block, DOWN, 1.0, ORIGIN)
    assert margin == pytest.approx(1 - math.tan(angle) / 0.5, rel=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_the_margin_is_that_of_a_linear_program(seed: int) -> None:
    """The least share of friction that balances random normal forces, with cones of 96 edges."""
    rng = np.random.default_rng(seed)
    n, edges = 6, 96
    normal = rng.normal(size=(n, 3))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    contacts = make_contacts(
        np.zeros((n, 2)), rng.uniform(1, 9, n), normal=normal, point=rng.normal(size=(n, 3)),
        friction=rng.uniform(0.3, 1.2, n),
    )  # fmt: skip
    angle = 2 * np.pi * np.arange(edges) / edges
    x = np.linalg.svd(normal[:, None, :])[2][:, 1:]
    ring = np.cos(angle)[:, None] * x[:, None, 0] + np.sin(angle)[:, None] * x[:, None, 1]
    arm = np.repeat(contacts.point, edges, axis=0)
    force = ring.reshape(-1, 3)
    columns = np.hstack([force, np.cross(arm, force)]).T
    push = normal * contacts.force[:, None]
    wrench = np.concatenate([2 * DOWN + push.sum(0), np.cross(contacts.point, push).sum(0)])
    # Variables: the friction along each edge, and the share s.
    bounds = np.hstack([np.kron(np.eye(n), np.ones(edges)), -contacts.bound[:, None]])
    found = linprog(
        np.eye(n * edges + 1)[-1], A_ub=bounds, b_ub=np.zeros(n),
        A_eq=np.hstack([columns, np.zeros((6, 1))]), b_eq=-wrench,
    )  # fmt: skip
    assert found.success
    margin = calc_slip_margin(contacts, DOWN, 2.0, ORIGIN)
    # The polygon lies within the circle, so that the program needs a little more friction.
    assert 1 - margin == pytest.approx(found.fun, rel=1.5 * (1 - math.cos(np.pi / edges)))


def test_the_pinch_is_held_as_theory_says() -> None:
    scene = stiction.load_scene(PINCH)
    result = measure_grasp(scene, "cube", ["lagged", "no_slip", "viscous"], duration=3)
    lagged, no_slip, viscous = result.rows
    assert result.load == pytest.approx(0.045 * 9.81)
    # 20 N on each side, mu = 0.7.
    assert lagged.status == "held" and lagged.normal_force == pytest.approx(40, rel=1e-3)
    assert lagged.slip_margin == pytest.approx(1 - result.load / (0.7 * 40), rel=1e-3)
    assert lagged.worst_share == pytest.approx(1 - lagged.slip_margin, rel=1e-2)
    assert lagged.creep_measured == pytest.approx(lagged.creep_predicted, rel=1e-3)
    assert abs(lagged.axis[1]) == pytest.approx(1, abs=1e-6) or abs(
        lagged.axis[0]
    ) == pytest.approx(1)
    assert no_slip.torsional_limit == math.inf and no_slip.slip_margin == 1
    assert viscous.status == "dropped" and viscous.message == "dropped 'cube' at 1.8 s"


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.93, 1.07])
def test_a_torque_beyond_the_limit_turns_the_body_and_a_smaller_one_does_not(share: float) -> None:
    scene = stiction.load_scene(PINCH)
    (row,) = measure_grasp(scene, "cube", ["coulomb"], duration=3).rows
    data, simulator = scene.make_data(), scene.make_simulator("coulomb")
    body = scene.model.body("cube").id
    while data.time < 3.02:
        scene.control_schedule(data)
        if data.time > 3:
            data.xfrc_applied[body, 3:] = share * row.torsional_limit * np.array(row.axis)
        simulator.step(data)
    spin = abs(float(data.cvel[body, :3] @ np.array(row.axis)))
    if share < 1:
        assert spin < 0.05  # it creeps
    else:
        assert spin > 1


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.95, 1.05])
def test_a_load_beyond_the_margin_pulls_the_body_out(share: float) -> None:
    scene = stiction.load_scene(PINCH)
    result = measure_grasp(scene, "cube", ["coulomb"], duration=3)
    bound = result.load / (1 - result.rows[0].slip_margin)
    data, simulator = scene.make_data(), scene.make_simulator("coulomb")
    body = scene.model.body("cube").id
    while data.time < 3.05:
        scene.control_schedule(data)
        if data.time > 3:
            data.xfrc_applied[body, 2] = -(share * bound - result.load)
        report = simulator.step(data)
    slips = np.linalg.norm(report.contacts.slip_velocity, axis=1)
    # Below the bound the contacts creep, at most some slip tolerances.
    if share < 1:
        assert len(slips) >= 8 and slips.max() < 2e-3
    else:  # the cube is out of the grip, or on its way
        assert len(slips) == 0 or slips.min() > 0.2


@pytest.mark.parametrize("model", ["lagged", "sap", "tamsi"])
def test_a_third_finger_from_above_loads_the_friction_of_two(model: str, tmp_path: Path) -> None:
    """Two fingers with 20 N hold a cube of 0.98 N, and a third presses it down with 10 N."""
    path = tmp_path / "three.xml"
    fingers = "".join(
        f"<body pos='{x} 0 {z}'><joint name='{n}' type='slide' axis='{int(x / 0.03)} 0 {int(z / 0.03)}'/>"
        "<geom type='box' size='.01 .01 .01' mass='.1'/></body>"
        for n, x, z in (("a", 0.03, 0), ("b", -0.03, 0), ("c", 0, 0.03))
    )
    motors = "".join(f"<motor joint='{n}' ctrlrange='-50 50'/>" for n in "abc")
    path.write_text(
        "<mujoco><option timestep='.001'/><default><geom friction='.5'/></default><worldbody>"
        "<body name='cube'><freejoint/><geom type='box' size='.02 .02 .02' mass='.1'/></body>"
        f"{fingers}</worldbody><actuator>{motors}</actuator>"
        "<keyframe><key ctrl='-20 -20 -9.019' qpos='0 0 0 1 0 0 0 0 0 0'/></keyframe></mujoco>"
    )
    scene = stiction.load_scene(path)
    (row,) = measure_grasp(scene, "cube", [model], duration=0.4).rows
    assert row.status == "held" and row.normal_force == pytest.approx(50, rel=0.01)
    assert row.slip_margin == pytest.approx(0.45, abs=0.01)
    # The measured creep is a mean over the three fingers, and the third moves with the cube.
    assert row.creep_measured == pytest.approx(2 / 3 * row.creep_predicted, rel=0.02)


@pytest.mark.slow
def test_models_without_springs_keep_their_own_friction() -> None:
    scene = stiction.load_scene(PINCH)
    models = ["lagged", "sap", "similar", "no_slip"]
    result = measure_grasp(scene, "cube", models, friction_law="elastic", duration=2.5)
    lagged, *others = result.rows
    assert [row.status for row in result.rows] == ["held"] * 4
    assert lagged.label == "lagged" and lagged.creep_predicted == 0
    assert abs(lagged.creep_measured) < 1e-9
    assert [row.label for row in others] == [f"{name}, own friction" for name in models[1:]]
    sap = measure_grasp(scene, "cube", ["sap"], duration=2.5).rows[0]
    assert others[0].creep_measured == sap.creep_measured > 1e-7


def test_a_body_that_turns_in_its_grip_is_not_held() -> None:
    """The spatula's weight turns it in a loose grip, although friction could carry the weight alone."""
    scene = stiction.load_scene(find_scene_file("spatula"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = ["lagged", "coulomb", "anitescu_potra", "no_slip"]
        result = measure_grasp(scene, "spatula", models, friction_law="soft")
    for row in result.rows:
        assert row.creep_measured > 5e-4, row.contact_model
        assert row.turning_measured > 5e-3, row.contact_model
        assert row.status == "slipping" and row.slip_margin < 0, row.contact_model
        assert row.creep_predicted is None


def test_a_body_on_the_floor_is_supported(tmp_path: Path) -> None:
    path = tmp_path / "scene.xml"
    path.write_text(
        '<mujoco><worldbody><geom type="plane" size="1 1 1"/><body name="box" pos="0 0 .1"><freejoint/>'
        '<geom type="box" size=".1 .1 .1"/></body><body name="far" pos="3 0 9"><freejoint/>'
        '<geom size=".1"/></body></worldbody></mujoco>'
    )
    scene = stiction.load_scene(path)
    (row,) = measure_grasp(scene, "box", ["coulomb"], duration=0.1).rows
    assert row.status == "supported" and row.slip_margin == pytest.approx(1)
    (row,) = measure_grasp(scene, "far", ["coulomb"], duration=0.1).rows
    assert row.status == "not_touched" and "check the controls" in row.message
    with pytest.raises(stiction.Error, match="body: there is no body 'bix'"):
        measure_grasp(scene, "bix", ["coulomb"])


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    code = "from stiction.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_the_command_prints_a_row_for_each_model() -> None:
    arguments = ("grasp", str(PINCH), "cube", "--duration", "2.5s")
    models = ("--contact-model", "coulomb", "--contact-model", "viscous")
    result = run(*arguments, *models)
    assert result.returncode == 1  # `viscous` drops the cube
    assert "slip margin" in result.stdout and "dropped 'cube'" in result.stderr
    held = run(*arguments, "--contact-model", "coulomb", "--json")
    assert held.returncode == 0
    (row,) = json.loads(held.stdout)["rows"]
    assert row["status"] == "held" and 0.3 < row["torsional_limit"] < 0.5
    wrong = run("grasp", str(PINCH), "cubx")
    assert wrong.returncode == 2 and "did you mean 'cube'?" in wrong.stderr


def test_a_run_that_ends_before_the_hold_says_so() -> None:
    scene = stiction.load_scene("spatula")
    (row,) = measure_grasp(scene, "spatula", ["coulomb"], duration=0.2).rows
    assert row.status == "not_touched"
    assert (
        "the run ends at 0.2 s, and the hold of 'spatula' begins at 10.501 s; give a longer --duration"
        in row.message
    )


@pytest.mark.slow
def test_a_run_that_ends_as_the_hold_begins_has_no_step_in_it() -> None:
    """900 steps of 2 ms sum up to a rounding above the start of the hold. One step more is in it."""
    scene = stiction.load_scene(PINCH)
    (row,) = measure_grasp(scene, "cube", ["coulomb"], duration=1.8).rows
    assert row.status == "not_touched"
    assert "the run ends at 1.8 s, and the hold of 'cube' begins at 1.8 s; give" in row.message
    (row,) = measure_grasp(scene, "cube", ["coulomb"], duration=1.802).rows
    assert row.status == "held" and row.normal_force > 10
