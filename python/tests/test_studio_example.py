"""Tests examples/python/studio.py, if MuJoCo Studio of the same version as MuJoCo is installed."""

from __future__ import annotations

import importlib.util
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mujoco
import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "python" / "studio.py"
pytest.importorskip("mujoco.studio.plugin", exc_type=ImportError)


def load_example() -> Any:
    spec = importlib.util.spec_from_file_location("studio_example", EXAMPLE)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_stepper_follows_pause_and_single_steps() -> None:
    example = load_example()
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
    )
    data, stepper = mujoco.MjData(model), example.StictionStepper("sap")
    stepper.on_post_model(SimpleNamespace(model=model, data=data, path=""))
    time.sleep(0.02)
    assert stepper.on_step(SimpleNamespace(model=model, data=data)) is True
    assert data.time > 0
    paused = SimpleNamespace(pause_state=example.sim.PauseState.NORMAL_PAUSED, speed=100)
    stepper.on_step_control(paused)
    stepper.lag, before = 0.0, data.time
    stepper.on_step(SimpleNamespace(model=model, data=data))
    assert data.time == before
    stepper.on_single_step(None)
    stepper.on_step(SimpleNamespace(model=model, data=data))
    assert data.time == pytest.approx(before + model.opt.timestep)
