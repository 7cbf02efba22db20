"""Tests the parts of `stiction study quadruped`.

The robot is compared with its published description and the controller with closed forms; walks are
short.
"""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest

from stiction.evidence.studies.quadruped import study
from stiction.evidence.studies.quadruped.checks import check_counts, check_steps, describe_walk
from stiction.evidence.studies.quadruped.footsteps import (
    STEP_HEIGHT,
    FootSpline,
    Footsteps,
    Gait,
    calc_command,
)
from stiction.evidence.studies.quadruped.leg import (
    JOINTS,
    MAX_TORQUE,
    NAMES,
    TrotController,
    calc_feet,
    calc_jacobians,
    calc_joint_rates,
    calc_pitch,
    solve_legs,
)
from stiction.evidence.studies.quadruped.run import (
    RUBBER,
    VISCOUS,
    PackageWalk,
    WalkRun,
    load_trotter,
    make_trotter_data,
    run_package_walker,
    run_trotter,
)
from stiction.evidence.studies.quadruped.terrain import (
    HILL_HEIGHT,
    ROUGHNESS,
    Terrain,
    make_hills,
    make_rough_terrain,
)
from stiction.evidence.studies.study import Settings
from stiction.inputs.package_scenes import find_scene_file

_DATA = Path(os.environ.get("STICTION_STUDY_PEERS", "../shared/reference")) / "rigid"
needs_data = pytest.mark.skipif(not _DATA.is_dir(), reason=f"no published data in {_DATA}")
PACKAGE_WALK = PackageWalk(
    np.arange(1, 3.0), np.zeros((2, 3)), np.ones(2), np.ones(2), physics_s=1.0, failure=""
)


@pytest.fixture
def trotter() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_path(str(find_scene_file("trotter")))


def find_start(model: mujoco.MjModel) -> np.ndarray:
    return model.key_qpos[0, 7:].reshape(4, 3)


# ---- the robot ------------------------------------------------------------------------------------


def load_published() -> mujoco.MjModel:
    """Loads the published robot with a floating root, which MuJoCo would weld to the world."""
    root = ElementTree.parse(_DATA / "links_quadruped.urdf").getroot()
    ElementTree.SubElement(root, "link", name="earth")
    joint = ElementTree.SubElement(root, "joint", name="base", type="floating")
    ElementTree.SubElement(joint, "parent", link="earth")
    ElementTree.SubElement(joint, "child", link="BODY0")
    return mujoco.MjModel.from_xml_string(ElementTree.tostring(root, encoding="unicode"))


def calc_inertia(model: mujoco.MjModel, qpos: np.ndarray) -> np.ndarray:
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_forward(model, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    return M


@needs_data
def test_the_robot_has_the_published_inertia_in_every_pose(trotter: mujoco.MjModel) -> None:
    published = load_published()
    assert published.nq == trotter.nq
    random = np.random.default_rng(1)
    for _ in range(10):
        qpos = np.concatenate([[0.1, 0.2, 0.3], random.normal(size=16)])
        qpos[3:7] /= np.linalg.norm(qpos[3:7])
        ours, theirs = calc_inertia(trotter, qpos), calc_inertia(published, qpos)
        # The published values have nine digits, and right angles of 1.5708.
        assert ours == pytest.approx(theirs, abs=1e-7)
        assert ours[0, 0] == pytest.approx(1.34)


@needs_data
def test_the_robot_has_the_published_numbers(trotter: mujoco.MjModel) -> None:
    published = json.loads((_DATA / "quadruped_controller.json").read_text())
    assert trotter.key_qpos[0, 7:] == pytest.approx(published["q0"])
    assert trotter.key_qpos[0, :3] == pytest.approx(published["base_start_xyz_rpy"][:3])
    assert [MAX_TORQUE] * 12 == published["max_torque"]
    assert trotter.actuator_ctrlrange[:, 1].tolist() == published["max_torque"]
    locomotion = published["locomotion"]
    gait = Gait()
    assert list(gait.touchdown) == locomotion["gait_touchdown"]
    assert [gait.duty] * 4 == locomotion["duty_factor"]
    assert gait.period == locomotion["gait_duration_s"]
    assert locomotion["step_height_m"] == STEP_HEIGHT
    ends = [calc_command(0.011)[0], calc_command(0.009)[0]]
    assert np.mean(ends) == pytest.approx(locomotion["command"][0])


def test_only_feet_and_ends_touch_the_ground(trotter: mujoco.MjModel) -> None:
    touching = {
        trotter.geom(i).name for i in range(trotter.ngeom) if trotter.geom_conaffinity[i] == 1
    }
    assert touching == {f"{leg}_foot" for leg in NAMES} | {"front_end", "rear_end"}
    assert trotter.geom_contype.sum() == 1  # only the ground has a contype


# ---- legs -----------------------------------------------------------------------------------------


def test_forward_kinematics_agree_with_mujoco(trotter: mujoco.MjModel) -> None:
    data = mujoco.MjData(trotter)
    random = np.random.default_rng(2)
    names = [f"{leg}_{joint}" for leg in NAMES for joint in JOINTS]
    for _ in range(10):
        q = random.uniform(-np.pi, np.pi, (4, 3))
        for name, angle in zip(names, q.ravel(), strict=True):
            data.joint(name).qpos[0] = angle
        mujoco.mj_kinematics(trotter, data)
        centers = np.array([data.geom(f"{leg}_foot").xpos for leg in NAMES])
        assert calc_feet(q) == pytest.approx(centers - data.body("base").xpos, abs=1e-14)


def test_jacobians_agree_with_finite_differences() -> None:
    q = np.random.default_rng(3).uniform(-2, 2, (4, 3))
    J = calc_jacobians(q)
    for joint in range(3):
        step = np.zeros((4, 3))
        step[:, joint] = 1e-6
        difference = (calc_feet(q + step) - calc_feet(q - step)) / 2e-6
        assert J[:, :, joint] == pytest.approx(difference, abs=1e-9)


def test_inverse_kinematics_reach_the_feet(trotter: mujoco.MjModel) -> None:
    start = find_start(trotter)
    random = np.random.default_rng(4)
    for _ in range(50):
        feet = calc_feet(start) + random.uniform(-0.03, 0.03, (4, 3))
        q = solve_legs(feet, start)
        assert np.linalg.norm(calc_feet(q) - feet, axis=1).max() <= 1e-6
        # The knees bend in the same direction as at the start.
        assert np.array_equal(np.sign(q), np.sign(start))


def test_a_leg_is_stretched_toward_a_position_out_of_reach(trotter: mujoco.MjModel) -> None:
    start = find_start(trotter)
    feet = calc_feet(start)
    feet[:, 2] = -0.5
    q = solve_legs(feet, start)
    assert np.isfinite(q).all()
    assert calc_feet(q)[:, 2].max() < -0.19  # thigh and shank are 0.2 m long together


def test_joint_rates_move_the_feet(trotter: mujoco.MjModel) -> None:
    q, wanted = find_start(trotter), np.random.default_rng(5).normal(size=(4, 3))
    rates = calc_joint_rates(q, wanted)
    moved = (calc_feet(q + 1e-6 * rates) - calc_feet(q - 1e-6 * rates)) / 2e-6
    assert moved == pytest.approx(wanted, abs=1e-5)


# ---- gait and steps -------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [2, 3, 4, 7])
def test_splines_pass_through_their_points_and_are_smooth(count: int) -> None:
    random = np.random.default_rng(count)
    points, velocity = random.normal(size=(count, 3)), random.normal(size=3)
    spline = FootSpline(0.3, 0.6, points, velocity)
    h = 0.6 / (count - 1)
    for i, point in enumerate(points):
        assert spline.calc_motion(0.3 + i * h)[0] == pytest.approx(point, abs=1e-12)
    for end in (0.3, 0.9):
        assert spline.calc_motion(end)[1] == pytest.approx(velocity, abs=1e-12)
    for i in range(1, count - 1):
        knot, small = 0.3 + i * h, 1e-5
        before, at, after = (spline.calc_motion(knot + s * small) for s in (-1, 0, 1))
        assert at[1] == pytest.approx((after[0] - before[0]) / (2 * small), abs=1e-5)
        # The third derivative jumps, so one-sided differences of v agree only to O(small).
        jump = (after[1] - at[1]) / small - (at[1] - before[1]) / small
        assert np.abs(jump).max() <= 1e5 * small * np.abs(points).max()
    assert spline.calc_motion(5.0)[0] == pytest.approx(points[-1])


def test_a_cubic_is_its_own_spline() -> None:
    # t^3 - 3 t^2 has slope 0 at t = 0 and t = 2. The linear term adds the same slope to both ends.
    bend, slope, start = np.array([1, -2, 0.5]), np.array([2, 0, -1]), np.array([1, 2, 3])

    def calc(t: float) -> np.ndarray:
        return start + slope * t + bend * (t**3 - 3 * t**2)

    spline = FootSpline(0, 2, np.array([calc(t) for t in (0, 0.5, 1, 1.5, 2)]), slope)
    for t in (0.2, 1.1, 1.9):
        x, v = spline.calc_motion(t)
        assert x == pytest.approx(calc(t), abs=1e-12)
        assert v == pytest.approx(slope + bend * (3 * t**2 - 6 * t), abs=1e-12)


def test_feet_stand_for_a_fixed_fraction_of_the_period() -> None:
    gait = Gait()
    stance = np.array([gait.is_stance(0.001 * i) for i in range(700)])
    assert stance.sum(axis=0).tolist() == [525] * 4
    # The left front and the right rear foot swing first and together.
    swings = ~stance
    assert np.flatnonzero(swings[:, 0]).tolist() == list(range(175))
    assert np.flatnonzero(swings[:, 1]).tolist() == list(range(350, 525))
    assert np.array_equal(stance[:, 0], stance[:, 3]) and np.array_equal(stance[:, 1], stance[:, 2])
    assert gait.calc_remaining(0.1) == pytest.approx([0.075, 0.25, 0.25, 0.075])
    assert gait.calc_remaining(0.7) == pytest.approx([0.175, 0.35, 0.35, 0.175], abs=1e-8)


def test_the_command_is_twice_the_speed_or_zero() -> None:
    assert calc_command(0.0101).tolist() == pytest.approx([0.1, 0])
    assert calc_command(0.0099).tolist() == pytest.approx([0, 0])
    turn = np.empty(9)
    mujoco.mju_quat2Mat(turn, np.array([np.cos(0.1), 0, np.sin(0.1), 0]))
    R_WB = turn.reshape(3, 3)
    assert calc_pitch(R_WB) == pytest.approx(0.2)
    assert (R_WB @ [1, 0, 0])[2] < 0  # the nose is down


def test_steps_in_place_go_up_and_return(trotter: mujoco.MjModel) -> None:
    origin = calc_feet(find_start(trotter))
    steps = Footsteps(Gait(), origin)
    ways = np.array(
        [steps.calc_motion(0.001 * i, np.zeros(2), np.zeros(2))[0] for i in range(1401)]
    )
    assert np.abs(ways[-1] - origin).max() < 1e-12
    height = (ways - origin)[:, :, 2].max(axis=0)
    # The spline overshoots between its two upper points, at one and two thirds of the swing.
    assert (height >= STEP_HEIGHT).all() and (height < 1.3 * STEP_HEIGHT).all()
    assert np.abs(ways - origin)[:, :, :2].max() < 1e-12


def test_a_whole_stride_is_closed_if_the_body_has_the_commanded_velocity(
    trotter: mujoco.MjModel,
) -> None:
    origin = calc_feet(find_start(trotter))
    steps, command = Footsteps(Gait(), origin), np.array([0.1, 0.0])
    ways = np.array([steps.calc_motion(0.001 * i, command, command)[0] for i in range(2800)])
    # A foot is v T / 2 ahead of the origin at the end of a swing, and at the origin at the end of a
    # stance.
    ahead = ways[[1400 + 175, 1400 + 350 + 175], [0, 1]] - origin[[0, 1]]
    assert ahead == pytest.approx(np.array([[0.1 * 0.7 / 2, 0, 0]] * 2), abs=1e-9)
    assert ways[2100, 0] == pytest.approx(origin[0], abs=1e-9)


def test_footsteps_alone_move_the_body_at_three_quarters_of_the_command(
    trotter: mujoco.MjModel,
) -> None:
    steps, gait = Footsteps(Gait(), calc_feet(find_start(trotter))), Gait()
    speeds = [0.0]
    for i in range(4200):
        velocity = np.array([speeds[-1], 0.0])
        _, v = steps.calc_motion(0.001 * i, np.array([0.1, 0.0]), velocity)
        speeds.append(-v[gait.is_stance(0.001 * i), 0].mean())  # mean of the standing feet
    assert np.mean(speeds[-2800:]) == pytest.approx(0.0741, rel=1e-3)


def test_torques_are_limited(trotter: mujoco.MjModel) -> None:
    data = mujoco.MjData(trotter)
    mujoco.mj_resetDataKeyframe(trotter, data, 0)
    controller = TrotController(trotter)
    controller(data)
    assert data.ctrl == pytest.approx(np.zeros(12), abs=1e-9)  # all feet are at their start
    data.qpos[7:] += 1.0
    controller(data)
    assert np.abs(data.ctrl).max() == MAX_TORQUE


# ---- the ground -----------------------------------------------------------------------------------


def test_heights_of_a_terrain_agree_with_mujocos() -> None:
    heights = np.random.default_rng(6).uniform(0, 0.01, (5, 9))
    terrain = Terrain(heights, 0.1, (0.3, 0.0))
    assert terrain.calc_height(-0.1, -0.2) == pytest.approx(heights[0, 0])
    assert terrain.calc_height(0.7, 0.2) == pytest.approx(heights[4, 8])
    assert terrain.calc_height(0.0, 0.1) == pytest.approx(heights[3, 1])
    assert terrain.calc_height(0.05, -0.2) == pytest.approx(heights[0, 1:3].mean())
    model = load_trotter(terrain)
    data = make_trotter_data(model, terrain)
    data.qpos[2] = 10  # move the robot out of the way of the rays
    mujoco.mj_kinematics(model, data)
    for x, y, height in ((0.0, 0.1, heights[3, 1]), (0.4, -0.1, heights[1, 5])):
        start, down, geom = np.array([x, y, 0.1]), np.array([0, 0, -1.0]), np.zeros(1, np.int32)
        distance = mujoco.mj_ray(model, data, start, down, None, 1, -1, geom)
        assert 0.1 - distance == pytest.approx(height, abs=1e-6)


def test_the_floor_is_white_noise() -> None:
    terrain = make_rough_terrain()
    heights = terrain.heights
    assert heights.shape == (250, 499)
    assert heights.std() == pytest.approx(ROUGHNESS, rel=0.02)
    assert abs(np.corrcoef(heights[:-1].ravel(), heights[1:].ravel())[0, 1]) < 0.01
    assert terrain.half_size == pytest.approx((1.0, 0.5))
    assert np.array_equal(heights, make_rough_terrain().heights)


@needs_data
def test_hills_are_as_rough_as_the_published() -> None:
    published = np.loadtxt(_DATA / "heightmap_hills_generator_sample.csv", delimiter=",")
    ours = make_hills().heights
    assert ours.shape == published.shape
    assert ours.min() == 0 and ours.max() == pytest.approx(HILL_HEIGHT)
    # These are single samples; the standard deviation of three other seeds scatters by 8 %.
    assert ours.std() == pytest.approx(published.std(), rel=0.2)
    slopes = [np.diff(heights, axis=0).std() for heights in (ours, published)]
    assert slopes[0] == pytest.approx(slopes[1], rel=0.2)


# ---- walks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("contact_model", ["lagged", "coulomb", "mujoco"])
def test_the_robot_follows_the_command(contact_model: str) -> None:
    run = run_trotter(
        make_rough_terrain(), 1.4, contact_model, command=lambda pitch: np.array([0.1, 0])
    )
    figures = describe_walk(run)
    assert figures["failure"] == "" and figures["steps"] == 1400
    assert 0.07 < figures["speed"] < 0.1
    assert figures["largest_tilt"] < 0.1
    assert 0.13 < figures["heights"][0] < figures["heights"][1] < 0.15
    # Each foot is a sphere, most of the time on one face of the ground.
    assert figures["contacts"]["mean"] > 3


def test_the_published_rule_makes_the_robot_step_in_place() -> None:
    run = run_trotter(make_rough_terrain(), 1.4, "coulomb")
    assert run.command.max() == 0
    assert abs(run.base[-1, 0]) < 0.005
    assert run.contacts.max() <= 30


def test_a_failed_run_has_a_reason() -> None:
    run = run_trotter(make_rough_terrain(), 0.1, "lagged", max_iterations=1, tolerance=1e-12)
    assert "not_converged" in run.failure
    assert len(run.time) < 100
    assert np.isnan(describe_walk(run)["largest_slip"])


@pytest.mark.slow
def test_rigid_models_get_their_options(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replaces all models by `coulomb`, and tests the options and the evaluation of the runs."""
    asked: list[tuple[str, dict[str, Any]]] = []

    def run(terrain: Terrain | None, duration: float, name: str, **options: Any) -> WalkRun:
        command = {key: options.pop(key) for key in ("command",) if key in options}
        asked.append((name, options))
        return run_trotter(terrain, duration, "coulomb", **command)

    monkeypatch.setattr(study, "run_trotter", run)
    monkeypatch.setattr(study, "run_package_walker", lambda duration, name, **_: PACKAGE_WALK)
    monkeypatch.setattr(study, "QUICK_DURATION", 0.8)
    settings = Settings(True, ("no_slip", "drumwright_shell", "viscous"))
    result = study.STUDY.run(settings)
    assert asked.count(("no_slip", {})) == 4
    assert asked.count(("drumwright_shell", {"properties": RUBBER})) == 4
    events = {"integrator": "event_driven"}  # as published: a walk, and three floors
    assert asked.count(("no_slip", events)) == 4
    assert asked.count(("drumwright_shell", {**events, "properties": RUBBER})) == 1
    oil = {"properties": VISCOUS, "integrator": "rk4"}
    assert asked[-2:] == [
        ("viscous", {"lcp_solver": solver, **oil}) for solver in ("ppm_ratio", "lemke")
    ]
    assert set(result.figures["time_ratios"]) == {
        "in place, drumwright_shell to no_slip",
        "in place, event-driven, drumwright_shell to no_slip",
        "ahead, drumwright_shell to no_slip",
        "hills, drumwright_shell to no_slip",
        "viscous, lemke to ppm_ratio",
    }
    failed = {check.name for check in result.checks if not check.passed}
    assert "in place, no_slip: largest slip [m/s]" in failed  # coulomb slips
    assert "viscous, lemke: failures" not in failed
    agreement = [check for check in result.checks if "base between solvers" in check.name]
    assert len(agreement) == 1 and agreement[0].value == 0  # both runs are the same
    assert "viscous" in result.plots


def test_contacts_are_those_that_a_step_can_close_whatever_the_grid() -> None:
    def describe(mean: float, touching: float) -> dict[str, Any]:
        return {"contacts": {"mean": mean, "mean_touching": touching, "standing_feet": 3.0}}

    good = {2e-3: describe(3.9, 3.5), 4e-3: describe(3.8, 3.5), 8e-3: describe(3.4, 3.4)}
    assert all(check.passed for check in check_counts(good))
    kept = {**good, 2e-3: describe(5.8, 3.5)}
    assert [check.passed for check in check_counts(kept)] == [True] * 3 + [False, True]
    lost = {**good, 8e-3: describe(4.3, 3.4)}
    assert [check.passed for check in check_counts(lost)] == [True] * 4 + [False]
    piled = {**good, 2e-3: describe(3.9, 9.0)}
    assert [check.passed for check in check_counts(piled)] == [False] + [True] * 4


def test_a_robot_that_cannot_lift_its_feet_fails() -> None:
    run = run_trotter(None, 1.5, "coulomb")
    stuck = dataclasses.replace(run, feet=np.broadcast_to(run.feet[-1], run.feet.shape))
    assert check_steps(describe_walk(run), "")[0].passed
    assert not check_steps(describe_walk(stuck), "")[0].passed


def test_dm_controls_quadruped_walks() -> None:
    pytest.importorskip("dm_control", reason="scenes of dm_control are not installed")
    walk = run_package_walker(2.5, "coulomb")
    assert walk.failure == ""
    assert walk.upright.min() > 0.9
    assert walk.base[-1, 0] - walk.base[199, 0] > 0.1  # distance walked after 1 s [m]
