"""Recordings of Simulator.advance: each call is a step, which replays bit for bit."""

from __future__ import annotations

import json
import math
from pathlib import Path

import mujoco
import numpy as np
import pytest

import stiction
from stiction._core import StepReport
from stiction.recording.step import ADVANCE_DTYPE, unpack_advance

_PILE = """<mujoco><worldbody><geom type="plane" size="2 2 .1"/>
<body pos="0 0 .12"><freejoint/><geom type="box" size=".1 .1 .1" friction=".7"/></body>
<body pos=".05 .02 .34"><freejoint/><geom type="box" size=".1 .08 .1"/></body>
<body pos="0 0 .6"><joint name="z" type="slide" axis="0 0 1"/><geom size=".08"/></body></worldbody>
<actuator><motor joint="z"/></actuator></mujoco>"""


def _record(path: Path, model: mujoco.MjModel, contact_model: str) -> list[StepReport]:
    """Records calls of several periods, accuracies and arguments, ordinary steps, and a reset."""
    simulator = stiction.Simulator(model, contact_model)
    data = mujoco.MjData(model)
    reports = []
    with stiction.Recorder(path, simulator) as recorder:
        for k in range(12):
            data.ctrl[:] = math.sin(k)
            until = data.time + 0.01 + 0.003 * k
            reports.append(recorder.advance(data, until, 10.0 ** -(2 + k % 4)))
        reports.append(recorder.step(data))
        reports.append(recorder.advance(data, data.time + 0.05, 1e-3, max_time_step=0.004))
        reports.append(recorder.advance(data, data.time + 0.05, 1e-3, extrapolate=False))
        reports.append(recorder.advance(data, data.time + 0.05, 1e-3, first_step=1e-4))
        data.qvel[0] += 0.3  # by hand
        reports.append(recorder.advance(data, data.time + 0.05, 1e-4))
    return reports


@pytest.fixture
def model() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(_PILE)


@pytest.mark.parametrize("contact_model", ["coulomb", "lagged", "tamsi"])
def test_replays_are_bit_exact(contact_model: str, model: mujoco.MjModel, tmp_path: Path) -> None:
    reports = _record(tmp_path / "a.mcap", model, contact_model)
    recording = stiction.Recording(tmp_path / "a.mcap")
    for from_step in (0, 5, 13):
        replayed = list(stiction.Replay(recording, from_step=from_step))
        assert len(replayed) == len(reports) - from_step
        assert [step.find_difference() for step in replayed] == [None] * len(replayed)


def test_the_record_has_what_the_report_has(model: mujoco.MjModel, tmp_path: Path) -> None:
    reports = _record(tmp_path / "a.mcap", model, "coulomb")
    steps = list(stiction.Recording(tmp_path / "a.mcap"))
    assert len(steps) == len(reports)
    for step, report in zip(steps, reports, strict=True):
        if report.advance is None:
            assert step.advance is None
            continue
        assert step.advance is not None
        for name, value in step.advance.items():
            if hasattr(report.advance, name):
                assert value == getattr(report.advance, name), name
        assert step.advance["duration"] == report.time_step
        assert step.time == step.advance["until"]
    arguments = [step.advance for step in steps if step.advance is not None]
    assert arguments[-4]["max_time_step"] == 0.004
    assert arguments[-3]["extrapolate"] == 0
    assert arguments[-2]["first_step"] == 1e-4
    # Forces of the table are averages over calls of different lengths.
    table = stiction.Recording(tmp_path / "a.mcap").table()
    rows = table[table["step"] == 3]
    force = reports[2].contacts.force.sum(axis=0)
    assert np.allclose(rows["force"].sum(axis=0), force, rtol=1e-5, atol=1e-6)


def test_a_damaged_record_is_named() -> None:
    with pytest.raises(ValueError, match=f"has 3 bytes, expected {ADVANCE_DTYPE.itemsize}"):
        unpack_advance(b"abc")


def test_a_failed_call_is_recorded(model: mujoco.MjModel, tmp_path: Path) -> None:
    simulator = stiction.Simulator(model, iteration_budget=1, on_failure="stop")
    data = mujoco.MjData(model)
    with stiction.Recorder(tmp_path / "a.mcap", simulator) as recorder:
        report = recorder.advance(data, 1.0, 1e-4)
    assert report.status == "out_of_iterations"
    assert data.time == 0
    recording = stiction.Recording(tmp_path / "a.mcap")
    (step,) = recording.all_steps()
    assert not step.completed
    (replayed,) = stiction.Replay(recording)
    assert replayed.find_difference() is None


def test_the_command_records_and_replays(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    import stiction.cli  # noqa: F401  # registers the commands
    from stiction.commands.app import app

    scene = Path(__file__).parents[3] / "scenes" / "pinch.xml"
    path = tmp_path / "a.mcap"
    arguments = ["--accuracy", "1e-4", "--duration", "1s", "--period", "50ms", "--json"]
    result = CliRunner().invoke(app, ["run", str(scene), "--record", str(path), *arguments])
    assert result.exit_code == 0, result.output
    figures = json.loads(result.stdout)
    assert figures["accuracy"] == 1e-4
    assert figures["period"] == 0.05
    assert figures["num_steps"] == 20
    assert figures["simulated_time"] == pytest.approx(1)
    assert figures["advance"]["num_steps"] >= 20
    assert figures["advance"]["largest_error"] <= 1e-4
    result = CliRunner().invoke(app, ["replay", str(path), "--verify"])
    assert result.exit_code == 0, result.output
    assert "bit-exact: 20 steps" in result.stdout
    wrong = CliRunner().invoke(app, ["run", str(scene), "--period", "1ms"])
    assert wrong.exit_code != 0
