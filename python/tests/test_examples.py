"""Tests that the programs in examples/python run and print correct results."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import stiction

FOLDER = Path(__file__).parents[2] / "examples" / "python"


def run(name: str, folder: Path, *arguments: str) -> list[str]:
    """Runs an example in a folder and returns the lines that it prints."""
    result = subprocess.run(
        [sys.executable, FOLDER / name, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout.splitlines()


def test_every_example_is_tested() -> None:
    assert {path.name for path in FOLDER.glob("*.py")} == {
        "compare_models.py", "fingertip.py", "grasp.py", "record_replay.py",
    }  # fmt: skip


def test_the_grasp_carries_the_weight_of_the_cube(tmp_path: Path) -> None:
    heading, *lines, height, bound = run("grasp.py", tmp_path)
    assert "normal force [N]" in heading
    rows = [line.rsplit(maxsplit=3) for line in lines]
    # Each pad presses with 20 N at four corners, and friction carries 45 g.
    assert sorted(row[0] for row in rows) == ["left_pad, cube"] * 4 + ["right_pad, cube"] * 4
    assert sum(float(row[1]) for row in rows) == pytest.approx(40, rel=1e-3)
    assert sum(float(row[2]) for row in rows) == pytest.approx(0.045 * 9.81, rel=1e-2)
    assert float(height.split()[-2]) == pytest.approx(0.12, abs=1e-3)
    assert 0 < float(bound.split()[-2]) < 1e-4


def test_the_recorded_run_is_replayed_bit_for_bit(tmp_path: Path) -> None:
    first, last = run("record_replay.py", tmp_path, "run.mcap")
    assert first.startswith("run.mcap: 500 steps, 1 s")
    assert last == "the replay of 500 steps is bit-exact"
    recording = stiction.Recording(tmp_path / "run.mcap")
    assert recording.damage is None
    assert recording.notes == {"seed": "1"}


def test_the_creep_is_as_predicted_under_every_model(tmp_path: Path) -> None:
    title, _, *lines = run("compare_models.py", tmp_path)
    assert title == "creep of 'cube' from 2.1 s on"
    rows = {cells[0]: cells[1:] for line in lines if (cells := line.rsplit(maxsplit=3))}
    assert list(rows) == [
        "coulomb", "sap", "lagged", "similar", "tamsi", "no_slip",
        "mujoco", "mujoco impratio 10", "mujoco impratio 100",
    ]  # fmt: skip
    assert abs(float(rows["no_slip"][0])) < 1e-6
    for name in ("coulomb", "sap", "lagged", "similar", "tamsi", "mujoco"):
        assert float(rows[name][0]) == pytest.approx(float(rows[name][1]), rel=0.05)
    assert rows["mujoco"][2] == "-"


def test_the_taxels_carry_the_load_of_the_fingertip(tmp_path: Path) -> None:
    lines = run("fingertip.py", tmp_path, "--out", "pictures")
    assert len(lines) == 4
    for line in lines:
        force = line.split("(")[1].split(")")[0].split(", ")
        assert float(force[2]) == pytest.approx(3, rel=5e-3)  # the motor presses with 3 N
    assert (tmp_path / "pictures" / "imprint.png").stat().st_size > 10_000
