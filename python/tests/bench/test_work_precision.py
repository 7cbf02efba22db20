"""Tests `stiction bench work_precision`: known errors, and that timed and measured runs agree."""

from __future__ import annotations

import json
import math
from pathlib import Path

import mujoco
import numpy as np
import pytest
from typer.testing import CliRunner, Result

from stiction.cli import app
from stiction.commands.work_precision import SCENES
from stiction.evidence.bench import clutter_work, planar_work
from stiction.evidence.bench.planar_work import (
    MUJOCO_VARIANTS,
    PLANAR_WORK,
    MujocoStepper,
    StictionStepper,
    record_positions,
    run_planar_work,
)
from stiction.evidence.bench.work_plots import draw_work
from stiction.evidence.bench.work_precision import WorkCurves, WorkPoint
from stiction.evidence.engines import drake_plant
from stiction.evidence.engines.drake_planar import DRAKE_MODELS, DrakeStepper


def run_command(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["bench", "work_precision", *arguments])


# ---- planar scenes --------------------------------------------------------------------------------


@pytest.mark.parametrize("scene", PLANAR_WORK)
def test_time_steps_divide_the_duration_and_are_multiples_of_the_sampling(scene: str) -> None:
    work = PLANAR_WORK[scene]
    case = work.case
    for step in {*work.steps, *work.quick_steps}:
        for longer, shorter in ((case.duration, step), (step, case.sampling)):
            if shorter:
                assert longer / shorter == pytest.approx(round(longer / shorter), abs=1e-9)
    assert set(work.quick_steps) <= set(work.steps)
    for step in case.reference_steps + case.quick_reference_steps:
        assert step < 0.5 * min(work.steps)


@pytest.mark.parametrize("scene", PLANAR_WORK)
def test_the_stepper_makes_the_trajectory_of_the_study(scene: str) -> None:
    case = PLANAR_WORK[scene].case
    step = max(case.steps)
    positions, failed = record_positions(
        StictionStepper(case, step, "lagged", 1e-10), round(case.duration / step)
    )
    assert failed == 0
    assert np.array_equal(positions, case.run("lagged", step).q)


def test_runs_in_strides_and_in_single_steps_end_in_the_same_state() -> None:
    """The timed runs agree with the measured ones, also after a reset."""
    case = PLANAR_WORK["conveyor"].case
    for stepper in (
        StictionStepper(case, 1e-2, "similar", 1e-5),
        MujocoStepper(case, 1e-2, MUJOCO_VARIANTS["mujoco elliptic"]),
    ):
        positions, _ = record_positions(stepper, 200)
        for _ in range(2):
            stepper.reset()
            assert stepper.get_position()[0] == pytest.approx(0, abs=1e-15)
            stepper.advance(150)
            stepper.advance(50)
            assert np.array_equal(stepper.get_position(), positions[-1])


@pytest.mark.parametrize("variant", MUJOCO_VARIANTS)
def test_every_variant_of_mujoco_falls_freely_before_it_touches(variant: str) -> None:
    case = PLANAR_WORK["falling_sphere"].case
    stepper = MujocoStepper(case, 1e-3, MUJOCO_VARIANTS[variant])
    stepper.reset()
    stepper.advance(80)
    x, z, _ = stepper.get_position()
    assert x == pytest.approx(2.0 * 0.08)
    # The fall of semi-implicit Euler is g dt^2 n (n + 1) / 2.
    assert z == pytest.approx(0.075 - 9.81 * 1e-6 * 80 * 81 / 2)


def test_the_default_of_mujoco_is_softer_than_its_stiff_variants() -> None:
    case = PLANAR_WORK["falling_sphere"].case
    lowest = {}
    for name, variant in MUJOCO_VARIANTS.items():
        positions, _ = record_positions(MujocoStepper(case, 2e-3, variant), 150)
        lowest[name] = float(positions[:, 1].min())
    assert lowest["mujoco default"] < lowest["mujoco elliptic"] - 1e-3


@pytest.mark.skipif(not drake_plant.is_installed(), reason="needs Drake")
@pytest.mark.parametrize("model", DRAKE_MODELS)
def test_drakes_box_slips_on_its_belt(model: str) -> None:
    """The box slips at first, and its acceleration is mu g under every model."""
    case = PLANAR_WORK["conveyor"].case
    positions, _ = record_positions(DrakeStepper(case, 1e-3, model), 50)
    ours, _ = record_positions(StictionStepper(case, 1e-3, "lagged", 1e-10), 50)
    assert positions[:, 0] == pytest.approx(ours[:, 0], abs=2e-4)
    assert abs(ours[-1, 0]) > 1e-3


@pytest.mark.slow
def test_errors_and_times_of_the_falling_sphere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planar_work, "_TIMED_STEPS", 1)
    curves = run_planar_work(
        "falling_sphere", ["lagged", "mujoco"], quick=True, num_repeats=1, with_drake=False
    )
    assert curves.steppers() == ["lagged", *MUJOCO_VARIANTS]
    lagged = curves.of_stepper("lagged")
    assert [point.setting for point in lagged] == [1e-2, 2e-3, 4e-4]
    # The errors are those in docs/studies.md, which are computed with a tolerance of 1e-10.
    assert [point.error for point in lagged] == pytest.approx([2.8e-3, 5.7e-4, 1.1e-4], rel=0.05)
    assert curves.floor is not None and curves.floor < 0.2 * lagged[-1].error
    for point in curves.points:
        assert 0 < point.cpu_ms == point.cpu_ms_median
        assert point.failed_steps == 0
    assert lagged[-1].cpu_ms > 5 * lagged[0].cpu_ms  # it makes 25 times as many steps


@pytest.mark.slow
def test_without_drake_there_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drake_plant, "is_installed", lambda: False)
    curves = run_planar_work("falling_sphere", [], quick=True, num_repeats=1)
    assert curves.points == []
    assert "not installed" in curves.notes[0]


@pytest.mark.slow
def test_a_failed_stepper_has_no_error_and_all_steps_failed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Fails:
        def __init__(self, *_: object, **__: object) -> None: ...

        def reset(self) -> None: ...

        def get_position(self) -> np.ndarray:
            return np.zeros(3)

        def advance(self, num_steps: int) -> None:
            raise RuntimeError("did not converge")

    monkeypatch.setattr(planar_work, "StictionStepper", Fails)
    curves = run_planar_work(
        "falling_sphere", ["tamsi"], quick=True, num_repeats=1, with_drake=False
    )
    assert {point.error for point in curves.points} == {None}
    assert [point.failed_steps for point in curves.points] == [30, 150, 750]


# ---- clutter --------------------------------------------------------------------------------------


def test_errors_of_a_step_decrease_with_the_tolerance() -> None:
    curves = clutter_work.run_clutter_work(
        ["lagged_regularized", "tamsi", "mujoco"], num_bodies=10, quick=True, num_repeats=1
    )
    assert curves.steppers() == [
        "lagged_regularized", "mujoco newton", "mujoco cg", "mujoco pgs",
    ]  # fmt: skip
    assert any("tamsi" in note for note in curves.notes)
    errors = [point.error for point in curves.of_stepper("lagged_regularized")]
    assert errors[0] > errors[-1]
    assert errors[-1] < 1e-6
    newton = [point.error for point in curves.of_stepper("mujoco newton")]
    assert newton[-1] < 1e-6
    # The solvers solve the same problem, so CG approaches the solution of Newton's method.
    cg = [point.error for point in curves.of_stepper("mujoco cg")]
    assert cg[-1] < 1e-3 * cg[0]
    assert all(0 < point.cpu_ms for point in curves.points)


def test_weights_are_the_mass_matrix() -> None:
    course = clutter_work._make_course(10, [0.2])
    model, data = course.scene.model, course.make_data(course.states[0])
    mujoco.mj_forward(model, data)
    v = np.random.default_rng(1).normal(size=model.nv)
    product = np.zeros(model.nv)
    mujoco.mj_mulM(model, data, product, v)
    assert course.weights * v == pytest.approx(product, rel=1e-9)


# ---- curves and the command -----------------------------------------------------------------------


def test_the_plot_has_a_line_per_stepper_without_failed_points() -> None:
    points = [
        WorkPoint("lagged", "time_step", 1e-2, 1e-3, 1.0, 1.0),
        WorkPoint("lagged", "time_step", 1e-3, 1e-4, 9.0, 9.5),
        WorkPoint("drake tamsi", "time_step", 1e-2, None, None, None, 30),
        WorkPoint("drake tamsi", "time_step", 1e-3, 2e-4, 90.0, 95.0),
    ]
    figure = draw_work([WorkCurves("conveyor", "error", "time", 1e-6, points)])
    lines = {line.get_label(): line for line in figure.axes[0].lines}
    assert lines["lagged"].get_xydata().tolist() == [[1.0, 1e-3], [9.0, 1e-4]]
    assert lines["drake tamsi"].get_xydata().tolist() == [[90.0, 2e-4]]
    assert lines["lagged"].get_color() != lines["drake tamsi"].get_color()
    assert {text.get_text() for text in figure.legends[0].get_texts()} == set(lines)


@pytest.mark.slow
def test_the_command_prints_writes_and_plots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planar_work, "_TIMED_STEPS", 1)
    arguments = ("falling_sphere", "--quick", "--contact-model", "sap", "--repeats", "1")
    arguments += ("--no-drake", "--out", str(tmp_path / "a"))
    result = run_command(*arguments)
    assert result.exit_code == 0, result.output
    assert "falling_sphere: RMS error of x, z [m]" in result.stdout
    heading, row = result.stdout.splitlines()[1:3]
    assert heading.split() == ["stepper", "0.01", "0.002", "0.0004"]
    assert row.split()[0] == "sap" and len(row.split()) == 1 + 2 * 3
    assert (tmp_path / "a" / "work_precision.png").read_bytes().startswith(b"\x89PNG")
    written = json.loads((tmp_path / "a" / "work_precision.json").read_text())
    printed = json.loads(run_command(*arguments, "--json").stdout)
    for one, other in zip(*(d["scenes"][0]["points"] for d in (written, printed)), strict=True):
        assert one["error"] == other["error"]
        assert one["setting"] == other["setting"]
        assert math.isfinite(one["cpu_ms"])


def test_a_misspelt_scene_gives_a_suggestion() -> None:
    result = run_command("conveyer")
    assert result.exit_code == 2
    assert "did you mean 'conveyor'" in " ".join(result.stderr.replace("│", " ").split())
    assert set(SCENES) == {*PLANAR_WORK, "clutter"}
