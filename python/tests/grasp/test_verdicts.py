"""Tests each verdict of `stiction grasp` with a scene on each side of its limit."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stiction
from stiction.analysis.grasp import GraspRow, measure_grasp
from stiction.compare import compare_models

FRICTION = 0.5
WEIGHT = 0.1 * 9.81  # of the cube [N]
PAGE = Path(__file__).parents[3] / "docs/tools/grasp.md"


def write(
    tmp_path: Path,
    share: float,
    *,
    further: str = "",
    finger: str = "",
    body: str = "",
    height: float = 1.0,
) -> stiction.Scene:
    """Two fingers press on a cube, which needs a share of their friction. `further`: other geoms."""
    force = WEIGHT / (2 * FRICTION * share)
    fingers = "".join(
        f"<body pos='{x} 0 {height}'><joint name='{n}' type='slide' axis='{int(-x / 0.03)} 0 0'/>"
        f"<geom type='box' size='.01 .02 .02' mass='.1' {finger}/></body>"
        for n, x in (("a", 0.03), ("b", -0.03))
    )
    motors = "".join(f"<motor joint='{n}' ctrlrange='-50 50'/>" for n in "ab")
    path = tmp_path / "scene.xml"
    path.write_text(
        f"<mujoco><option timestep='.001' cone='elliptic'/><default><geom friction='{FRICTION}'/>"
        f"</default><worldbody>{further}<body name='cube' pos='0 0 {height}'><freejoint/>"
        f"<geom type='box' size='.02 .02 .02' mass='.1' {body}/></body>{fingers}</worldbody>"
        f"<actuator>{motors}</actuator><custom><text name='stiction_held' data='cube'/></custom>"
        f"<keyframe><key ctrl='{force} {force}' "
        f"qpos='0 0 {height} 1 0 0 0 0 0'/></keyframe></mujoco>"
    )
    return stiction.load_scene(path)


def measure(scene: stiction.Scene, model: str = "coulomb", **arguments: Any) -> GraspRow:
    return measure_grasp(scene, "cube", [model], **{"duration": 0.4, **arguments}).rows[0]


@pytest.mark.parametrize("model", ["coulomb", "lagged", "sap", "tamsi", "similar", "rigid_coulomb"])
@pytest.mark.parametrize(("share", "status"), [(0.73, "held"), (0.97, "held"), (1.03, "slipping")])
def test_a_body_slips_at_the_bound_of_its_friction(
    tmp_path: Path, model: str, share: float, status: str
) -> None:
    row = measure(write(tmp_path, share), model)
    assert row.status == status, row
    assert row.slip_margin == pytest.approx(1 - share, abs=2e-3)
    assert (row.creep_predicted is None) == (status == "slipping")


@pytest.mark.parametrize("share", [0.73, 0.97, 1.03])
def test_contacts_slip_at_the_bound_of_their_friction(tmp_path: Path, share: float) -> None:
    """The flag of the report, by the forces of the report."""
    scene = write(tmp_path, share)
    report = scene.make_simulator().step(scene.make_data(), 400)
    for contact in report.contacts:
        tangential = contact.impulse - contact.normal_impulse * contact.normal
        used = float(np.linalg.norm(tangential)) / (FRICTION * contact.normal_impulse)
        assert bool(contact.slipping) == (used >= 0.99) == (share > 1)


def test_a_floor_that_carries_a_part_is_said(tmp_path: Path) -> None:
    """Four springs of 2.5 N/m from below carry 1 % or 5 % of the cube."""
    soft = {"materials": {"soft": {"stiffness": 2.5}}, "geoms": {"floor": "soft"}}
    for part, status in ((0.01, "held"), (0.05, "supported")):
        top = 0.98 + part * WEIGHT / 10
        floor = f"<geom name='floor' type='box' size='.1 .1 .01' pos='0 0 {top - 0.01}'/>"
        plain = write(tmp_path, 0.5, further=floor)
        row = measure(stiction.load_scene(plain.path, soft), duration=0.1, friction_law="elastic")
        assert row.status == status, (part, row)
        assert ("carry 'cube' with" in row.message) == (status == "supported")


def test_a_cube_that_stands_on_the_floor_is_supported(tmp_path: Path) -> None:
    floor = "<geom type='plane' size='1 1 1' pos='0 0 {}'/>"
    standing = measure(write(tmp_path, 0.5, further=floor.format(0.98)), duration=1.0)
    assert standing.status == "supported" and "carr" in standing.message
    hanging = measure(write(tmp_path, 0.5, further=floor.format(0.979)), duration=1.0)
    assert hanging.status == "held" and hanging.message == ""
    # A cube on the floor, with and without fingers that touch it.
    lying = write(tmp_path, 0.5, further=floor.format(0.98))
    lying.model.key_ctrl[0] = -1
    row = measure(lying)
    assert row.status == "supported" and row.message == "normal forces carry the weight"


@pytest.mark.parametrize("model", ["coulomb", "rigid_coulomb", "lagged"])
def test_a_dropped_body_says_which_force_its_grip_lacked(tmp_path: Path, model: str) -> None:
    row = measure(write(tmp_path, 2.5), model)
    assert row.status == "dropped"
    had = WEIGHT / (FRICTION * 2.5)
    assert row.normal_force == pytest.approx(had, rel=0.02)
    assert row.needed_force == pytest.approx(WEIGHT / FRICTION, rel=0.01)
    text = (
        r"dropped 'cube' at 0\.\d+ s: the grip needs 1\.96 N and had 0\.7\d* N from 0(\.00\d)? s on"
    )
    assert re.match(text, row.message), row.message
    assert measure(write(tmp_path, 0.9), model).status == "held"


@pytest.mark.parametrize(("jerk", "status"), [(0.02, "held"), (0.3, "dropped")])
def test_a_body_that_its_motion_tears_off_is_answered(
    tmp_path: Path, jerk: float, status: str
) -> None:
    """The grip carries 1.25 times the weight, and the hand rises at once."""
    scene = write(tmp_path, 0.8)
    text = scene.path.read_text()
    fingers = text[text.index("<body pos='0.03") : text.index("</worldbody>")]
    hand = (
        "<body pos='0 0 0'><joint name='lift' type='slide' axis='0 0 1'/><geom size='.01' mass='1' "
        f"pos='0 0 1.2'/>{fingers}</body>"
    )
    text = text.replace(fingers, hand).replace(
        "</actuator>", "<position joint='lift' kp='2000' kv='50'/></actuator>"
    )
    force = WEIGHT / (2 * FRICTION * 0.8)
    keys = "".join(
        f"<key name='{name}' time='{time}' ctrl='{force} {force} {lift}' "
        "qpos='0 0 1 1 0 0 0 0 0 0'/>"
        for name, time, lift in (("closed", 0, 0), ("still", 0.1, 0), ("up", 0.101, jerk))
    )
    text = re.sub("<keyframe>.*</keyframe>", f"<keyframe>{keys}</keyframe>", text)
    text = text.replace(
        "<custom>", "<custom><text name='stiction_controls' data='closed still up'/>"
    )
    scene.path.write_text(text)
    row = measure(stiction.load_scene(scene.path), duration=1.0)
    assert row.status == status, row
    assert ("the motion needs more" in row.message) == (status == "dropped"), row.message
    if status == "dropped":
        assert row.needed_force == pytest.approx(WEIGHT / FRICTION, rel=0.02)
        assert row.normal_force == pytest.approx(WEIGHT / FRICTION / 0.8, rel=0.05)


def test_a_run_that_nothing_touches_or_that_fails_says_so(tmp_path: Path) -> None:
    scene = write(tmp_path, 0.5)
    scene.model.key_qpos[0][7:] = -0.1  # the fingers are away
    scene.model.key_ctrl[0] = 0
    row = measure(scene)
    assert row.status == "not_touched" and "nothing touches 'cube'" in row.message
    row = measure(write(tmp_path, 0.5), options={"max_iterations": 1, "tolerance": 1e-12})
    assert row.status == "failed" and row.message.startswith("at 0")
    row = measure(write(tmp_path, 0.5), "rigid_coulomb", options={"max_memory_gb": 1e-9})
    assert row.status in ("failed", "refused") and row.message


def test_every_status_has_a_test() -> None:
    line = next(x for x in PAGE.read_text().splitlines() if x.startswith("| status "))
    words = set(re.findall(r"`([a-z_]+)`", line)) - {"status"}
    tested = set(re.findall(r'"([a-z_]+)"', Path(__file__).read_text()))
    assert words <= tested and {"held", "slipping", "supported", "dropped"} <= words


# ---- Torsion -----------------------------------------------------------------------------------------

TORSION = 0.003  # coefficient of torsional friction [m]
LEVER = 0.02  # of the weight [m]


def write_beam(tmp_path: Path, share: float, **further: Any) -> stiction.Scene:
    """Two round tips hold the cube beside its center of mass; together they need a share of the bound."""
    scene = write(
        tmp_path,
        share,
        finger=f"condim='4' friction='{FRICTION} {TORSION} 0'",
        body=f"condim='4' friction='{FRICTION} {TORSION} 0'",
        **further,
    )
    text = Path(scene.path).read_text()
    text = text.replace("type='box' size='.01 .02 .02' mass", "type='sphere' size='.01' mass")
    inertia = "<inertial pos='0 {} 0' mass='.1' diaginertia='1e-4 1e-4 1e-4'/>"
    text = text.replace("<freejoint/>", "<freejoint/>" + inertia.format(LEVER))
    Path(scene.path).write_text(text)
    return stiction.load_scene(scene.path)


def calc_joint_share(share: float) -> float:
    """The share of the joint bound of both tips for a share of that of sliding alone."""
    return share * math.hypot(1, FRICTION * LEVER / TORSION)


@pytest.mark.parametrize("model", ["coulomb", "mujoco"])
@pytest.mark.parametrize("joint", [0.5, 0.95, 1.05])
def test_torsion_counts_in_the_margin(tmp_path: Path, model: str, joint: float) -> None:
    row = measure(write_beam(tmp_path, joint / calc_joint_share(1)), model, duration=0.02)
    # Under mj_step the normal force differs by some percent from that of the motors.
    acting = WEIGHT / (FRICTION * row.normal_force) * calc_joint_share(1)
    assert acting == pytest.approx(joint, abs=0.06)
    assert row.slip_margin == pytest.approx(1 - acting, abs=0.005)
    if model == "coulomb":
        assert (row.status == "slipping") == (joint > 1)
        if joint < 0.9:
            assert row.worst_share == pytest.approx(joint, rel=0.05)
    assert row.torsional_limit == pytest.approx(TORSION * row.normal_force, rel=1e-3)


def test_turning_is_a_creep_of_its_own(tmp_path: Path) -> None:
    scene = write_beam(tmp_path, 0.5 / calc_joint_share(1))
    row = measure(scene, duration=0.2)
    data, simulator, angles = scene.make_data(), scene.make_simulator(), []
    for _ in range(200):
        simulator.step(data)
        angles.append(math.atan2(data.xmat[1][7], data.xmat[1][8]))
    turned = abs(float(np.polyfit(np.arange(100) * 1e-3, angles[100:], 1)[0]))
    assert row.status == "held"
    assert row.turning_measured == pytest.approx(turned, rel=0.05, abs=1e-9)
    assert row.turning_predicted == pytest.approx(turned, rel=0.05)
    # The way of the center of mass, which turns about the tips, is no slip of the tips.
    assert abs(row.creep_measured) <= 0.1 * turned * LEVER + 3e-4
    still = measure(scene, duration=0.2, friction_law="elastic")
    assert still.turning_measured < 1e-4
    assert still.turning_predicted == 0


# ---- Remarks -----------------------------------------------------------------------------------------


def test_the_row_of_mj_step_has_its_own_friction(tmp_path: Path) -> None:
    plain = write(tmp_path, 0.5)
    rubber = stiction.load_scene(
        plain.path, {"materials": {"rubber": {"friction": 0.8}}, "geoms": {"*": "rubber"}}
    )
    with pytest.warns(stiction.IgnoredSettingWarning):
        stiction.Simulator(plain.model, "mujoco", properties=rubber.properties)
    without, ignored = (measure(scene, "mujoco") for scene in (plain, rubber))
    used = measure(rubber, "coulomb")
    assert ignored.slip_margin == without.slip_margin == pytest.approx(0.5, abs=0.02)
    assert ignored.torsional_limit == without.torsional_limit
    assert used.slip_margin == pytest.approx(1 - 0.5 * FRICTION / 0.8, abs=0.01)
    assert "ignores contact properties" in ignored.notes[0]
    assert without.notes == used.notes == []


def test_compare_says_what_was_dropped_and_what_mj_step_ignores(tmp_path: Path) -> None:
    held = write(tmp_path, 0.9)
    rubber = {"materials": {"rubber": {"friction": 0.5}}, "geoms": {"*": "rubber"}}
    given = stiction.load_scene(held.path, rubber)
    for scene, dropped, ignored in (
        (held, False, False),
        (given, False, True),
        (write(tmp_path, 2.5), True, False),
    ):
        result = compare_models(scene, ["coulomb", "mujoco"], duration=0.3)
        coulomb, mujoco = (
            next(r for r in result.rows if r.label == n) for n in ("coulomb", "mujoco")
        )
        assert coulomb.status == "ok" and coulomb.dropped == dropped
        assert any("dropped cube" in note for note in coulomb.notes) == dropped
        assert any("ignores contact properties" in note for note in mujoco.notes) == ignored
        assert not any("ignores" in note for note in coulomb.notes)


def test_creep_leads_to_springs(tmp_path: Path) -> None:
    scene = write(tmp_path, 0.5)
    arguments = {"duration": 0.1}
    models = ["coulomb", "rigid_coulomb"]
    soft = measure_grasp(scene, "cube", models, friction_law="soft", **arguments)
    assert soft.find_creeping() == ["coulomb"]
    elastic = measure_grasp(scene, "cube", ["coulomb"], **arguments)
    assert elastic.find_creeping() == []
