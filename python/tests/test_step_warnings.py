"""Warnings of steps: as Python warnings, in the report, in the simulator, and in commands."""

from __future__ import annotations

import gc
import pickle
import re
import subprocess
import sys
import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest

import stiction

ROOT = Path(__file__).resolve().parents[2]
# A box that overlaps two opposite walls: no velocity corrects both overlaps.
SQUEEZED = """<mujoco><worldbody><geom type="box" size=".1 1 1" pos="-.19 0 0"/>
<geom type="box" size=".1 1 1" pos=".19 0 0"/><body><joint type="slide" axis="1 0 0"/>
<geom type="box" size=".1 .1 .1"/></body></worldbody></mujoco>"""


def make_squeezed() -> tuple[mujoco.MjData, stiction.Simulator]:
    model = mujoco.MjModel.from_xml_string(SQUEEZED)
    return mujoco.MjData(model), stiction.Simulator(model, "no_slip")


def test_a_kind_of_warning_is_given_once_by_each_simulator():
    for _ in range(2):
        data, simulator = make_squeezed()
        with pytest.warns(stiction.StepWarning, match="cannot be corrected together") as caught:
            simulator.step(data)
        assert len(caught) == 1
        assert caught[0].message.kind == "conflict"
        assert caught[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            simulator.step(data, nstep=3)


def test_report_and_simulator_count_the_warnings():
    data, simulator = make_squeezed()
    assert simulator.warning_counts == {}
    with pytest.warns(stiction.StepWarning):
        report = simulator.step(data)
    assert report.warnings == {"conflict": (1, report.warning)}
    report = simulator.step(data, nstep=3)
    assert report.warnings["conflict"][0] == report.num_warnings == 3
    assert report.warning_counts == {"conflict": 3}
    assert simulator.warning_counts == {"conflict": 4}


OVERLAPPING = SQUEEZED.replace(
    '<geom type="box" size=".1 .1 .1"/>', '<geom name="box" type="box" size=".1 .1 .1"/>'
)


def test_the_text_of_a_warning_outlives_the_model():
    model = mujoco.MjModel.from_xml_string(OVERLAPPING)
    stiff = {"materials": {"steel": {"stiffness": 1e9}}, "geoms": {"*": "steel"}}
    simulator = stiction.Simulator(model, "lagged_regularized", properties=stiff)
    with pytest.warns(stiction.StepWarning, match="press on each other") as caught:
        report = simulator.step(mujoco.MjData(model))
    del model, simulator
    gc.collect()
    assert report.warning_counts == {"large_force": 1}
    assert report.warnings == {"large_force": (1, report.warning)}
    assert "geom 'box'" in report.warning
    assert report.warning in str(caught[0].message)
    copy = pickle.loads(pickle.dumps(report))
    assert copy.warnings == report.warnings
    assert copy.warning == report.warning


def test_forward_warns_as_a_step_does():
    data, simulator = make_squeezed()
    with pytest.warns(stiction.StepWarning, match="cannot be corrected together") as caught:
        simulator.forward(data)
    assert caught[0].filename == __file__
    assert simulator.warning_counts == {"conflict": 1}


def test_steps_without_warnings_report_none():
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
    )
    simulator = stiction.Simulator(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = simulator.step(mujoco.MjData(model), nstep=10)
    assert report.warnings == simulator.warning_counts == {}


def test_commands_show_the_text_without_the_noise_of_python(tmp_path: Path):
    scene = tmp_path / "squeezed.xml"
    scene.write_text(SQUEEZED)
    command = [
        sys.executable,
        "-m",
        "stiction",
        "run",
        str(scene),
        "--contact-model",
        "no_slip",
        "--duration",
        "10ms",
    ]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "cannot be corrected together" in result.stderr + result.stdout
    assert "StepWarning" not in result.stderr + result.stdout


def test_a_step_names_the_memory_that_a_checkpoint_lacks() -> None:
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 0.1'><freejoint/>"
        "<geom type='box' size='0.1 0.1 0.1'/></body></worldbody></mujoco>"
    )
    data, spec = mujoco.MjData(model), mujoco.mjtState.mjSTATE_INTEGRATION
    simulator = stiction.Simulator(model, "no_slip")
    assert simulator.step(data, 20).missing_memory == ()
    state, memory = np.empty(mujoco.mj_stateSize(model, spec)), simulator.get_state()
    mujoco.mj_getState(model, data, state, spec)
    for with_memory in (False, True):
        restored, other = mujoco.MjData(model), stiction.Simulator(model, "no_slip")
        mujoco.mj_setState(model, restored, state, spec)
        if with_memory:
            other.set_state(memory)
        report = other.step(restored)
        assert report.missing_memory == (() if with_memory else ("active_set",))
        assert pickle.loads(pickle.dumps(report)).missing_memory == report.missing_memory


def test_the_docstring_of_warnings_names_every_kind():
    header = (ROOT / "src" / "stiction" / "sim" / "report" / "warning_text.hpp").read_text()
    (body,) = re.findall(r"enum class WarningKind \{(.*?)\};", header, re.DOTALL)
    kinds = re.findall(r"^  (\w+),", body, re.MULTILINE)
    assert len(kinds) > 8
    assert re.findall(r"'(\w+)'", stiction.StepWarning.__doc__ or "") == kinds
