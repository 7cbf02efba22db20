"""Tests the integrators through Python and the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import mujoco
import pytest

import stiction

BALL = """
<mujoco><option timestep="0.001"/><worldbody><geom name="floor" type="plane" size="9 9 1"/>
<body pos="0 0 0.3"><freejoint/><geom name="ball" size="0.1"/></body></worldbody></mujoco>
"""


def test_the_names_of_integrators_are_listed() -> None:
    assert stiction.integrators() == ["euler", "event_driven", "rk4"]


@pytest.mark.parametrize(
    ("integrator", "contact_model"),
    [("event_driven", "no_slip"), ("event_driven", "stewart_trinkle"), ("rk4", "viscous")],
)
def test_the_step_of_a_landing_is_divided(integrator: str, contact_model: str) -> None:
    model = mujoco.MjModel.from_xml_string(BALL)
    data = mujoco.MjData(model)
    simulator = stiction.Simulator(model, contact_model, integrator=integrator)
    events = parts = 0
    for _ in range(300):
        statistics = simulator.step(data).statistics
        events += statistics.num_events
        parts += statistics.num_parts
    assert events == 1
    assert parts > 300
    assert abs(data.qpos[2] - 0.1) < 2e-6
    assert abs(data.time - 0.3) < 1e-12


@pytest.mark.parametrize(
    ("integrator", "contact_model", "remedy"),
    [
        ("rk4", "no_slip", "event_driven"),
        ("event_driven", "lagged", "euler"),
        ("rk5", "viscous", "rk4"),
    ],
)
def test_an_integrator_that_does_not_fit_the_model_is_refused(
    integrator: str, contact_model: str, remedy: str
) -> None:
    model = mujoco.MjModel.from_xml_string(BALL)
    with pytest.raises(stiction.Error, match=remedy):
        stiction.Simulator(model, contact_model, integrator=integrator)


def test_run_reports_events(tmp_path: Path) -> None:
    scene = tmp_path / "ball.xml"
    scene.write_text(BALL)
    command = [sys.executable, "-m", "stiction", "run", str(scene), "--json", "--duration", "0.3s"]
    command += ["--contact-model", "viscous", "--integrator", "rk4"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    figures = json.loads(result.stdout)
    assert figures["integrator"] == "rk4"
    assert figures["events"] == 1
    assert figures["parts"] > figures["num_steps"] == 300
