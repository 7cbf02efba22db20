"""Tests `stiction study pancake`: its parts against closed forms, and the whole study."""

from __future__ import annotations

import importlib.util
import json
import math
from collections.abc import Iterator
from pathlib import Path

import mujoco
import numpy as np
import pytest
from typer.testing import CliRunner

import stiction
from stiction.cli import app
from stiction.evidence.studies.checks import Check
from stiction.evidence.studies.pages import add_page
from stiction.evidence.studies.pancake import scene
from stiction.evidence.studies.pancake.robot import (
    ArmReference,
    Command,
    Pose,
    calc_rotation_vector,
    interpolate,
    make_rotation,
)
from stiction.evidence.studies.pancake.run import PancakeRun, run_pancake
from stiction.evidence.studies.pancake.scene import (
    GRIDS,
    JOINT_SPEEDS,
    SPATULA_MASS,
    START,
    STOVE_HEIGHT,
    make_pancake_model,
)
from stiction.evidence.studies.pancake.study import STUDY, _check_flip, _fit_exponents, run_study
from stiction.evidence.studies.pancake.task import X_SG, Task, TaskError
from stiction.evidence.studies.study import Settings, StudyResult, describe_result, write_result
from stiction.view.readers import can_view

needs_arm = pytest.mark.skipif(
    importlib.util.find_spec("dm_control") is None, reason="the arm of dm_control is not installed"
)


# ---- parts ----------------------------------------------------------------------------------------


def test_interpolation_halves_the_translation_and_the_angle() -> None:
    first = Pose(make_rotation((0, 0, 1), 0.3), np.array([1.0, 0, 0]))
    last = Pose(first.R @ make_rotation((0, 1, 0), 1.2), np.array([1.0, 2, 0]))
    middle = interpolate(first, last, 0.5)
    assert middle.p == pytest.approx([1, 1, 0])
    assert calc_rotation_vector(first.R.T @ middle.R) == pytest.approx([0, 0.6, 0])
    assert interpolate(first, first, 0.5).R == pytest.approx(first.R)


def test_poses_compose_as_matrices() -> None:
    X = Pose(make_rotation((1, 0, 0), 0.4), np.array([0.1, 0.2, 0.3]))
    Y = X.inverse() @ X
    assert pytest.approx(np.eye(3)) == Y.R
    assert Y.p == pytest.approx([0, 0, 0], abs=1e-15)


def test_the_grasp_is_along_the_handle_of_the_scene() -> None:
    model = mujoco.MjModel.from_xml_path(
        str(stiction.inputs.package_scenes.find_scene_file("pancake"))
    )
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    spatula, handle = data.body("spatula"), data.geom("handle")
    R_WS = spatula.xmat.reshape(3, 3)
    assert R_WS.T @ (handle.xpos - spatula.xpos) == pytest.approx(X_SG.p, abs=1e-6)
    axis = R_WS.T @ handle.xmat.reshape(3, 3)[:, 2]
    assert abs(axis @ X_SG.R[:, 2]) == pytest.approx(1, abs=1e-6)
    assert np.linalg.det(X_SG.R) == pytest.approx(1)
    assert model.body("spatula").mass[0] == pytest.approx(SPATULA_MASS)
    assert data.body("pancake").xpos[2] - STOVE_HEIGHT == pytest.approx(
        model.geom("pancake").size[2]
    )


@needs_arm
def test_the_arm_reaches_a_pose_within_its_speed_limits() -> None:
    arm = ArmReference(make_pancake_model(), START)
    start = arm.calc_pose()
    wanted = Pose(make_rotation((0, 0, 1), 0.3) @ start.R, start.p + np.array([0.05, -0.1, 0.05]))
    for _ in range(400):
        before = arm.q
        arm.follow(wanted, 0.005)
        assert np.all(np.abs(arm.q - before) <= 0.005 * JOINT_SPEEDS + 1e-12)
    reached = arm.calc_pose()
    assert reached.p == pytest.approx(wanted.p, abs=1e-5)
    assert calc_rotation_vector(reached.R.T @ wanted.R) == pytest.approx([0, 0, 0], abs=1e-4)


@needs_arm
def test_a_grip_without_force_ends_the_task() -> None:
    class NoForce:
        start = Pose(np.eye(3), np.zeros(3))
        grip_force = 0.0
        handle_force = np.zeros(3)

    task = Task(NoForce(), 0.1, Pose(np.eye(3), np.zeros(3)), np.zeros(3))  # type: ignore[arg-type]

    def run() -> Iterator[Command]:
        yield from task.grab()

    with pytest.raises(TaskError, match="the grip is 0.00 N"):
        list(run())
    assert task.phase == "grasp"


def make_run(
    turn_deg: float, height: float, speed: float, *, on_stove: bool = True, raised: float = 0.2
) -> PancakeRun:
    run = PancakeRun(230, "sap", "polygon", pancake_speed=speed, on_stove=on_stove)
    run.phases = [("set down", 1.0)]
    run.samples["time"] = np.array([0.0, 1.0, 2.0])
    run.samples["turn_deg"] = np.array([0, 0, turn_deg])
    run.samples["pancake_height"] = np.array([0, raised, height])
    return run


def test_the_checks_of_the_flip_need_rotation_and_rest_on_the_stove() -> None:
    def list_passed(run: PancakeRun) -> list[bool]:
        return [check.passed for check in _check_flip(run)]

    assert list_passed(make_run(179, 0.128, 1e-6)) == [True] * 4
    assert list_passed(make_run(179, 0.128, 1e-6, raised=0.13)) == [False, True, True, True]
    assert list_passed(make_run(149, 0.128, 1e-6)) == [True, False, True, True]
    assert list_passed(make_run(179, 0.008, 1e-6)) == [True, True, False, True]
    assert list_passed(make_run(179, 0.128, 1e-6, on_stove=False)) == [True, True, False, True]
    assert list_passed(make_run(179, 0.128, 0.1)) == [True, True, True, False]
    assert not any(list_passed(PancakeRun(230, "sap", "polygon")))


def test_exponents_are_those_of_powers() -> None:
    runs = []
    for faces in (100, 400, 1000):
        run = PancakeRun(faces, "sap", "polygon", phases=[("lift", -1.0)])
        run.samples = {"time": np.zeros(1), "faces": np.array([faces])}
        for i, name in enumerate(("surfaces_us", "solve_us", "step_us")):
            run.samples[name] = np.array([3.0 * faces ** (1 + i / 10)])
        runs.append(run)
    assert list(_fit_exponents(runs).values()) == pytest.approx([1.0, 1.1, 1.2])


def test_without_the_arm_the_error_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scene.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(stiction.Error, match="pip install dm_control"):
        run_study(Settings(True, ("sap",)))


def test_models_without_patches_are_refused() -> None:
    with pytest.raises(stiction.Error, match="mujoco: has no patches.*sap"):
        run_study(Settings(True, ("mujoco",)))


# ---- runs -----------------------------------------------------------------------------------------


@pytest.mark.slow
@needs_arm
def test_triangles_have_more_faces_and_the_same_forces() -> None:
    polygons, triangles = (
        run_pancake(230, "sap", tessellation=name, only_grab=True)
        for name in ("polygon", "triangle")
    )
    assert triangles.mean("faces") > 3 * polygons.mean("faces")
    for run in (polygons, triangles):
        assert run.failure is None
        assert run.handle_force == pytest.approx(9.81 * SPATULA_MASS, rel=5e-3)
        assert math.isinf(run.find_start("scoop"))


@pytest.mark.slow
@needs_arm
@pytest.mark.filterwarnings("ignore::stiction.StepWarning")
def test_the_pancake_is_flipped_on_the_coarsest_grid() -> None:
    run = run_pancake(min(GRIDS), "lagged_regularized")
    assert run.failure is None
    failed: list[Check] = [check for check in _check_flip(run) if not check.passed]
    assert not failed
    assert len(run.film.frames) > 300
    run.film.frames = run.film.frames[::100]
    result = StudyResult()
    add_page("replay", "pancake", [run.film], result)
    page = result.pages.get("replay") if can_view() else "<! __VISER_EMBED_DATA__"
    assert page and page.startswith("<!") and "__VISER_EMBED_DATA__" in page


@pytest.mark.slow
@needs_arm
def test_a_grip_that_fails_on_every_grid_fails_checks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(self: Task) -> Iterator[Command]:
        yield from ()
        raise TaskError("the grip is 0.00 N")

    monkeypatch.setattr(Task, "_grasp", fail)
    settings = Settings(False, ("sap",))
    result = run_study(settings)
    failed = {check.name for check in result.checks if not check.passed}
    assert "exponent of the step's time over faces, sap" in failed
    assert "rotation of the pancake, sap, 230 faces [deg]" in failed
    assert sum("the grip is 0.00 N" in note for note in result.notes) == len(GRIDS) + 1
    assert write_result(describe_result(STUDY, settings, result), result, tmp_path).exists()


@pytest.mark.slow
@needs_arm
def test_quick_study_passes_and_writes_its_plots(tmp_path: Path) -> None:
    arguments = ["study", "pancake", "--quick", "--json", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, arguments, standalone_mode=False)
    assert result.exception is None, result.output
    printed = json.loads(result.stdout)
    assert [check for check in printed["checks"] if not check["passed"]] == []
    assert len(printed["checks"]) >= 30  # five checks for each of six models
    plots = sorted(f"{plot}.png" for plot in STUDY.plots)
    assert plots == sorted(printed["plots"])
    assert plots == sorted(path.name for path in tmp_path.glob("*.png"))
