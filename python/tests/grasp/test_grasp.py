"""Tests `stiction grasp`: its limits against closed forms and against loads that a grasp must hold."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stiction
from stiction.grasp import measure_grasp
from stiction.grasp.limits import (
    GraspContacts,
    calc_slip_margin,
    calc_torsional_limit,
    calc_worst_share,
    find_grasp_axis,
)

SCENES = Path(__file__).parents[3] / "scenes"
PINCH = SCENES / "pinch.xml"
DOWN = np.array([0.0, 0.0, -1.0])


def make_contacts(point: Any, force: Any, friction: float = 0.5, **further: Any) -> GraspContacts:
    """Contacts that press along x at points (y, z)."""
    n = len(point)
    values: dict[str, Any] = {
        "point": np.column_stack([np.zeros(n), np.asarray(point, float)]),
        "normal": np.tile([1.0, 0.0, 0.0], (n, 1)),
        "force": np.asarray(force, float),
        "friction": np.full(n, friction),
        "torsion": np.zeros(n),
        "tangential": np.zeros((n, 3)),
    }
    return GraspContacts(**{**values, **further})


def test_a_square_of_contacts_resists_half_its_diagonal() -> None:
    corners = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
    contacts = make_contacts(corners, [10] * 4)
    axis = find_grasp_axis(contacts)
    assert axis == pytest.approx([1, 0, 0])
    assert calc_torsional_limit(contacts, axis) == pytest.approx(4 * 0.5 * 10 * math.sqrt(2))


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
    contacts = make_contacts([(0, 0), (1, 0)], [10, 10], tangential=tangential)
    assert calc_slip_margin(contacts, DOWN, 4.0) == pytest.approx(1 - 4 / 10)
    assert calc_slip_margin(contacts, DOWN, 12.0) == pytest.approx(-0.2)
    assert calc_worst_share(contacts) == pytest.approx(3 / 5)
    # A body that lies on its support needs no friction.
    lying = make_contacts([(0, 0)], [4], normal=np.array([[0, 0, 1.0]]))
    assert calc_slip_margin(lying, DOWN, 4.0) == 1


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
    assert wrong.returncode == 1 and "did you mean 'cube'?" in wrong.stderr
