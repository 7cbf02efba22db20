"""Tests the verdicts of `doctor`, `converge` and the artifacts on each side of their limits.

Those of `grasp` and `compare` are in grasp/test_verdicts.py, those of `check` in test_check.py for
scenes, and in verify for recordings.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stiction
from stiction.analysis import doctor
from stiction.analysis.artifacts.creep import solve_creep
from stiction.analysis.artifacts.predictions import PairProperties, describe_stiffening
from stiction.analysis.converge import measure_convergence
from stiction.analysis.converge.convergence import ModelConvergence
from stiction.setup.options import DEFAULTS

# ---- doctor ------------------------------------------------------------------------------------------


def find_status(monkeypatch: pytest.MonkeyPatch, name: str, **changed: Any) -> dict[str, str]:
    """Returns the status of what begins with a name, with changed attributes of the module."""
    with monkeypatch.context() as patch:
        for attribute, value in changed.items():
            patch.setattr(doctor, attribute, value)
        return {d.name: d.status for d in doctor.examine() if d.name.startswith(name)}


ALL = "avx2 fma bmi2 movbe f16c"


@pytest.mark.parametrize(
    ("name", "good", "bad", "status"),
    [
        (
            "processor",
            {"_read_processor": lambda: ("chip", ALL)},
            {"_read_processor": lambda: ("chip", ALL.replace("fma ", ""))},
            "failed",
        ),
        (
            "temporary files",
            {"_try_to_write": lambda folder: ""},
            {"_try_to_write": lambda folder: "is read-only"},
            "failed",
        ),
        (
            "extra gym",
            {"_find_version": lambda package: "1.0"},
            {"_find_version": lambda package: None},
            "missing",
        ),
        # A ball that has not come to rest presses with another force.
        ("step, coulomb", {"_SMOKE_STEPS": 200}, {"_SMOKE_STEPS": 1}, "failed"),
    ],
)
def test_the_doctor_tells_sick_from_sound(
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    good: dict[str, Any],
    bad: dict[str, Any],
    status: str,
) -> None:
    assert set(find_status(monkeypatch, name, **good).values()) == {"ok"}
    assert set(find_status(monkeypatch, name, **bad).values()) == {status}


# ---- converge ----------------------------------------------------------------------------------------

BOX = (
    '<mujoco><worldbody><geom name="floor" type="plane" size="9 9 1"/>'
    '<body pos="0 0 .12" euler="35 20 10"><freejoint/>'
    '<geom type="box" size=".03 .05 .07" mass="1"/></body></worldbody></mujoco>'
)
SOFT = {"materials": {"soft": {"stiffness": 2e3, "dissipation": 0}}, "geoms": {"*": "soft"}}


def converge(
    tmp_path: Path, model: str, properties: Any = None, **arguments: Any
) -> ModelConvergence:
    path = tmp_path / "box.xml"
    path.write_text(BOX)
    scene = stiction.load_scene(path, properties)
    arguments = {"duration": 0.4, "num_steps": 4, "time_step": 0.004, **arguments}
    return measure_convergence(scene, [model], **arguments).models[0]


def test_a_box_on_its_corner_converges_with_a_stiffness_and_not_without(tmp_path: Path) -> None:
    soft = converge(tmp_path, "coulomb", SOFT)
    assert soft.status == "ok" and soft.message == "" and soft.order == pytest.approx(0.8, abs=0.4)
    rigid = converge(tmp_path, "coulomb")
    assert rigid.status == "not_converging" and "stiffness" in rigid.message


def test_a_model_fails_or_is_refused_only_with_a_reason(tmp_path: Path) -> None:
    refused = converge(tmp_path, "rigid_coulomb", options={"integrator": "rk4"})
    assert refused.status == "refused" and "rk4" in refused.message
    failed = converge(tmp_path, "coulomb", options={"iteration_budget": 1})
    assert failed.status == "failed" and "out_of_iterations" in failed.message
    assert converge(tmp_path, "coulomb", SOFT, options={"iteration_budget": 500}).status == "ok"


# ---- artifacts ---------------------------------------------------------------------------------------


def test_stiffening_is_said_from_a_tenth_on() -> None:
    """1 + mu d |v_t| with mu = 0.5 and d = 20 s/m."""
    pair = PairProperties(friction=0.5, stiffness=1e5, dissipation=20, relaxation_time=0)
    options = {**DEFAULTS, "contact_model": "similar", "friction_law": "soft", "time_step": 0.01}
    assert describe_stiffening(options, pair, 0.0099) is None
    assert "1.11 times as stiff" in (describe_stiffening(options, pair, 0.0111) or "")
    assert describe_stiffening({**options, "contact_model": "coulomb"}, pair, 1.0) is None


def test_creep_grows_without_limit_only_at_the_bound() -> None:
    for share, tolerances in ((0.5, 0.577), (0.99, 7.02), (0.9999, 70.7)):
        speed = solve_creep(np.array([1.0]), np.array([1e-4]), share)
        assert speed == pytest.approx(1e-4 * tolerances, rel=1e-3)
