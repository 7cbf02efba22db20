"""Tests `stiction bench corpus`: which models it takes, how it times them, and its errors."""

from __future__ import annotations

import json
from pathlib import Path

import mujoco
import numpy as np
import pytest
from typer.testing import CliRunner

from stiction import Error, StepError
from stiction.cli import app
from stiction.evidence.bench.corpus import (
    STRIDE,
    CorpusCase,
    StrideRuns,
    _make_case,
    find_worst,
    run_corpus,
    summarize,
)

BALL = """<mujoco><worldbody><geom type='plane' size='1 1 1'/>
  <body pos='0 0 0.1'><freejoint/><geom size='0.1'/></body></worldbody></mujoco>"""
WALL = "<mujoco><worldbody><geom type='plane' size='1 1 1'/></worldbody></mujoco>"
PART = "<mujocoinclude><body><geom size='1'/></body></mujocoinclude>"
BLOWS_UP = """<mujoco><worldbody><body><joint type='slide' stiffness='-1e30'/><geom size='1'/></body>
  </worldbody></mujoco>"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Returns a folder with one model that can be timed among others that cannot."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "ball.xml").write_text(BALL)
    for name, text in {"wall": WALL, "part": PART, "other": "<a/>", "blows_up": BLOWS_UP}.items():
        (tmp_path / f"{name}.xml").write_text(text)
    return tmp_path


def test_models_that_move_are_timed(folder: Path) -> None:
    cases = list(run_corpus([str(folder)], ["sap", "no_slip"], num_steps=15, num_repeats=2))
    assert [case.contact_model for case in cases] == ["sap", "no_slip"]
    for case in cases:
        assert case.file == str(folder / "deep" / "ball.xml")
        assert (case.dofs, case.num_steps, case.failure) == (6, 20, "")
        assert case.contacts == case.mujoco_contacts == 1
        assert case.ratio_to_mujoco == case.us_per_step / case.mujoco_us_per_step
        assert case.median_ratio > 0


def test_the_command_prints_summaries_and_cases(folder: Path) -> None:
    arguments = ["bench", "corpus", str(folder), "--steps", "10", "--repeats", "1"]
    result = CliRunner().invoke(app, [*arguments, "--contact-model", "coulomb", "--json"])
    assert result.exit_code == 0, result.output
    out = json.loads(result.stdout)
    (summary,), (case,) = out["models"], out["cases"]
    assert (summary["contact_model"], summary["models"], summary["failed"]) == ("coulomb", 1, 0)
    assert summary["median"] == summary["p95"] == case["ratio_to_mujoco"]
    table = CliRunner().invoke(app, arguments).stdout
    assert table.count("deep/ball.xml") == 4


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("no_such_package", "neither a file, a folder nor an installed package"),
        ("json.tool", "neither a file, a folder nor an installed package"),
        ("empty", "has no MJCF or URDF file"),
        ("wall.xml", "has no model that moves"),
    ],
)
def test_an_error_says_why_there_is_nothing_to_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, reason: str
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "wall.xml").write_text(WALL)
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["bench", "corpus", name])
    assert isinstance(result.exception, Error) and reason in str(result.exception)
    assert name in str(result.exception)


def make_runs(step: object, max_seconds: float = 10) -> StrideRuns:
    return StrideRuns(mujoco.MjModel.from_xml_string(BALL), step, 5, max_seconds)  # type: ignore[arg-type]


def test_a_run_ends_at_a_step_that_fails() -> None:
    def fail(data: mujoco.MjData) -> None:
        data.time += 1
        if data.time > 2 * STRIDE:
            raise StepError(type("Report", (), {"status": "time_out", "message": "slow"})())

    runs = make_runs(fail)
    for _ in range(2):
        runs.start()
        for _ in range(5):
            runs.advance()
    assert (runs.failure, runs.num_strides) == ("time_out", 2)
    assert runs.calc_us(2) > 0


def test_a_run_ends_when_its_time_is_used_up() -> None:
    runs = make_runs(lambda data: None, max_seconds=0)
    runs.start()
    for _ in range(5):
        runs.advance()
    assert (runs.failure, runs.num_strides) == ("", 1)


def test_time_per_step_is_the_mean_of_the_strides_minima() -> None:
    runs = make_runs(lambda data: None)
    runs._times = [[10, 30, 70], [20, 20, 90], [60, 40, 50]]
    assert runs.calc_us(2) == (10 + 20) / 2 / STRIDE
    assert runs.calc_us(3, np.median) == (20 + 30 + 70) / 3 / STRIDE


def test_a_run_without_a_step_has_no_ratio() -> None:
    def refuse(data: mujoco.MjData) -> None:
        raise StepError(type("Report", (), {"status": "non_finite", "message": ""})())

    peer, ours = make_runs(lambda data: None), make_runs(refuse)
    for runs in (peer, ours):
        runs.start()
        runs.advance()
    case = _make_case(Path("a.xml"), "sap", 6, ours, peer)
    assert (case.num_steps, case.ratio_to_mujoco, case.failure) == (0, None, "non_finite")


def test_summaries_leave_out_failures() -> None:
    def make(file: str, ratio: float, mujoco_us: float, failure: str = "") -> CorpusCase:
        return CorpusCase(
            file, "sap", 1, 0, 0, 10, ratio * mujoco_us, mujoco_us, ratio, ratio, failure
        )

    cases = [make("a", 1, 10), make("b", 5, 30), make("c", 2, 40), make("d", 90, 9, "time_out")]
    (summary,) = summarize(cases)
    assert (summary.models, summary.failed, summary.median, summary.largest) == (3, 1, 2, 5)
    assert (summary.slow_models, summary.slow_median) == (2, 3.5)
    assert [case.file for case in find_worst(cases, 2)] == ["d", "b"]
    assert summarize(cases[3:]) == []
