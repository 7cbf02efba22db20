"""Tests that the programs in examples/python run and print correct results."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import stiction
from stiction.view.readers import can_view

FOLDER = Path(__file__).parents[2] / "examples" / "python"
STUDIO = "studio.py"  # it needs another version of MuJoCo; test_studio_example.py tests it


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
    tests = Path(__file__).read_text()
    names = {path.name for path in FOLDER.glob("*.py")} - {STUDIO}
    assert {name for name in names if f'run("{name}"' not in tests} == set()
    assert len(names) >= 10


def test_every_example_is_short_and_on_its_page() -> None:
    page = (FOLDER.parents[1] / "docs" / "examples.md").read_text()
    for path in set(FOLDER.glob("*.py")) - {FOLDER / STUDIO}:
        assert len(path.read_text().splitlines()) < 60, path.name
        assert f"../examples/python/{path.name}" in page


def read_numbers(line: str) -> list[float]:
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?(?:e[+-]\d+)?", line)]


def test_the_box_creeps_on_the_slope_as_the_readme_says(tmp_path: Path) -> None:
    by_mujoco, by_stiction, *contacts, bound = run("slope.py", tmp_path)
    assert read_numbers(by_mujoco) == [1750]
    assert read_numbers(by_stiction) == [0]
    assert [line.split()[-1] for line in contacts] == ["sticks"] * 4
    assert 0 < read_numbers(bound)[0] < 1e-5


def test_the_ball_rests_where_its_own_law_carries_it(tmp_path: Path) -> None:
    difference, _, forces = run("own_law.py", tmp_path)
    assert read_numbers(difference)[0] < 1e-6
    force, weight = read_numbers(forces)
    assert force == pytest.approx(weight, abs=2e-3)


def test_a_failed_step_raises_or_keeps_the_best(tmp_path: Path) -> None:
    failed, hasty, warned, patient = run("safe_steps.py", tmp_path)
    assert "not_converged: the island of body 'trunk'" in failed
    assert read_numbers(hasty)[0] > 10
    assert "coupling" in warned
    assert read_numbers(patient)[0] == 0
    assert read_numbers(patient)[-1] < 1e-3


def test_the_boxes_of_the_batch_stop_where_they_should(tmp_path: Path) -> None:
    *rows, last = run("batch_friction.py", tmp_path)
    assert len(rows) == 8
    for row in rows:
        _, distance, exact = read_numbers(row)
        # The first step of 1 ms loses v dt / 2, which is 1 mm.
        assert distance == pytest.approx(exact - 1e-3, abs=2e-4)
    assert read_numbers(last)[0] < 0.6


def test_the_table_of_contacts_carries_the_weight(tmp_path: Path) -> None:
    *_, weight = run("contact_table.py", tmp_path, "--out", "contacts.csv")
    carried, expected = read_numbers(weight)
    assert carried == pytest.approx(expected, rel=1e-4)
    heading, *rows = (tmp_path / "contacts.csv").read_text().splitlines()
    assert heading == "geom1,geom2,x,y,z,fx,fy,fz"
    assert len(rows) == 4


@pytest.mark.slow
@pytest.mark.skipif(not can_view(), reason="viser and mjviser are not installed")
def test_the_page_of_the_replay_is_written(tmp_path: Path) -> None:
    (line,) = run("replay_page.py", tmp_path, "run.html")
    assert line.startswith("run.html: 150 frames of two contact models")
    assert (tmp_path / "run.html").stat().st_size > 1e6


def test_the_error_falls_with_the_time_step(tmp_path: Path) -> None:
    lines = run("time_step.py", tmp_path)
    assert [line for line in lines if line.endswith(":")] == ["coulomb, ok:", "sap, ok:"]
    for lines_of_model in (lines[1:5], lines[7:11]):
        errors = [read_numbers(line)[-1] for line in lines_of_model]
        assert errors == sorted(errors, reverse=True)
        assert errors[0] > 4 * errors[-1]


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


@pytest.mark.slow
def test_the_creep_is_as_predicted_under_every_model(tmp_path: Path) -> None:
    title, _, *lines = run("compare_models.py", tmp_path)
    assert title == "creep of 'cube' from 2.1 s on"
    rows = {cells[0]: cells[1:] for line in lines if (cells := line.rsplit(maxsplit=3))}
    assert list(rows) == [
        "coulomb", "sap", "lagged", "similar", "tamsi", "no_slip",
        "mujoco", "mujoco impratio 10", "mujoco impratio 100",
        "mujoco noslip", "mujoco impratio 100 noslip",
    ]  # fmt: skip
    for name in ("coulomb", "no_slip"):
        assert abs(float(rows[name][0])) < 1e-4
    for name in ("sap", "lagged", "similar", "tamsi", "mujoco"):
        assert float(rows[name][0]) == pytest.approx(float(rows[name][1]), rel=0.05)
    assert rows["mujoco"][2] == "-"


@pytest.mark.slow
def test_the_taxels_carry_the_load_of_the_fingertip(tmp_path: Path) -> None:
    lines = run("fingertip.py", tmp_path, "--out", "pictures")
    assert len(lines) == 4
    for line in lines:
        force = line.split("(")[1].split(")")[0].split(", ")
        assert float(force[2]) == pytest.approx(3, rel=5e-3)  # the motor presses with 3 N
    assert (tmp_path / "pictures" / "imprint.png").stat().st_size > 10_000
