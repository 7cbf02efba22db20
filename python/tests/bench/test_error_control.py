"""Tests `stiction bench error_control`: errors of known runs, and the comparison with CENIC."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from stiction.cli import app
from stiction.evidence.bench.error_control import (
    SCENES,
    calc_advantages,
    run_control,
    run_error_control,
    start_cenic,
    start_stiction,
)
from stiction.evidence.bench.work_precision import WorkCurves, WorkPoint
from stiction.evidence.engines import drake_plant


def run_command(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["bench", "error_control", *arguments])


@pytest.mark.parametrize("name", SCENES)
def test_errors_fall_with_the_accuracy(name: str) -> None:
    """From 0.1 to 1e-5 m the error falls at least tenfold, and it is 0.1 mm at most in the end."""
    scene = SCENES[name]()
    times = scene.sample_times()
    assert times[-1] == scene.duration
    reference = run_control(scene, start_stiction(scene, 1e-6))
    errors = {
        accuracy: float(
            np.abs(run_control(scene, start_stiction(scene, accuracy)) - reference).max()
        )
        for accuracy in (1e-1, 1e-5)
    }
    assert errors[1e-5] < 2e-4
    if scene.law is None:
        assert errors[1e-5] < errors[1e-1]
    else:  # the creep is that of the slip tolerance at every accuracy
        law = scene.law(times)
        for accuracy in (1e-1, 1e-3, 1e-5):
            positions = run_control(scene, start_stiction(scene, accuracy))
            moved = positions - positions[0]
            assert np.allclose(moved, law - law[0], rtol=0.01, atol=0)


def test_the_advantage_is_the_ratio_of_error_times_time() -> None:
    points = [
        WorkPoint("coulomb", "accuracy", 1e-3, 1e-4, 2.0, 2.0),
        WorkPoint("drake cenic", "accuracy", 1e-3, 1e-3, 4.0, 4.0),
        WorkPoint("coulomb", "accuracy", 1e-4, 1e-5, 2.0, 2.0),
        WorkPoint("drake cenic", "accuracy", 1e-4, None, None, None, 1),
    ]
    curves = WorkCurves("sphere", "", "", None, points)
    assert calc_advantages(curves) == {1e-3: pytest.approx(20)}


def test_the_command_writes_a_report(tmp_path: Path) -> None:
    result = run_command("sphere", "--quick", "--repeats", "1", "--json", "--out", str(tmp_path))
    assert result.exit_code == 0, result.output
    figures = json.loads((tmp_path / "error_control.json").read_text())
    (scene,) = figures["scenes"]
    assert scene["scene"] == "sphere"
    assert {point["setting"] for point in scene["points"]} == {1e-2, 1e-3}
    assert (tmp_path / "error_control.png").read_bytes().startswith(b"\x89PNG")
    assert run_command("spere").exit_code == 2


@pytest.mark.skipif(not drake_plant.is_installed(), reason="Drake is not installed")
def test_the_same_motion_as_cenic() -> None:
    """Both simulate the same scene: they agree where errors are small."""
    for name, distance in (("sphere", 2e-3), ("gripper", 2e-3)):
        scene = SCENES[name]()
        ours = run_control(scene, start_stiction(scene, 1e-6))
        theirs = run_control(scene, start_cenic(scene, 1e-6))
        assert np.abs(ours - theirs).max() < distance


@pytest.mark.skipif(not drake_plant.is_installed(), reason="Drake is not installed")
@pytest.mark.parametrize("name", ["sphere", "incline", "gripper"])
def test_error_times_time_is_at_most_a_fifth_of_that_of_cenic(name: str) -> None:
    advantages = calc_advantages(run_error_control(name))
    for accuracy in (1e-3, 1e-4, 1e-5):
        assert advantages[accuracy] > 5
