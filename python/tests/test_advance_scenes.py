"""Simulator.advance on whole scenes: every step meets the accuracy, and none fails."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest

import stiction
from stiction.evidence.experiments.clutter import make_clutter, make_mjcf
from stiction.inputs.package_scenes import find_scene_file
from stiction.runs.controls import default_controls, make_controls
from stiction.scene import load_scene

SCENES = (
    "bubble_gripper", "fingertip", "grasp", "gripper", "pancake", "pick_and_hold", "pinch",
    "quadruped", "spatula", "trotter",
)  # fmt: skip

_SOFT = {"hydroelastic_modulus": 1e6, "resolution_hint": 0.05, "dissipation": 1.0}
_HARD = {**_SOFT, "hydroelastic_modulus": 1e9}
_PATCHES: dict[str, Any] = {
    "materials": {"soft": _SOFT, "hard": _HARD},
    "geoms": {"floor": "soft", "box": "hard"},
}


def _make_box(half_floor: float, height: float) -> mujoco.MjModel:
    """Returns a box of 20 cm with its lower face at a height above a slab."""
    return mujoco.MjModel.from_xml_string(f"""<mujoco><worldbody>
        <geom name="floor" type="box" size="{half_floor} {half_floor} .1" pos="0 0 -.1"/>
        <body pos="0 0 {0.1 + height}"><freejoint/>
        <geom name="box" type="box" size=".1 .1 .1" mass="1"/></body></worldbody></mujoco>""")


def _advance(
    simulator: stiction.Simulator, data: mujoco.MjData, duration: float, accuracy: float, **kw: Any
) -> None:
    """Advances in periods of 20 ms, and expects that each step meets the accuracy."""
    drive = kw.get("drive", lambda data: None)
    start = data.time
    for k in range(round(duration / 0.02)):
        drive(data)
        report = simulator.advance(data, start + 0.02 * (k + 1), accuracy)
        assert report.ok
        assert report.advance is not None
        assert report.advance.accuracy_reached
        assert report.advance.largest_error <= accuracy
        assert report.certificate.ok
        assert np.isfinite(data.qpos).all()


# The trotter collapses without a controller, and its joints then press it against the ground. Fixed
# steps below 1 ms give the same warning.
@pytest.mark.filterwarnings("ignore::stiction.errors.StepWarning")
@pytest.mark.parametrize("accuracy", [1e-3, 1e-4])
@pytest.mark.parametrize("name", SCENES)
def test_scenes_of_the_package(name: str, accuracy: float) -> None:
    scene = load_scene(find_scene_file(name))
    drive = make_controls(default_controls(scene), scene)
    _advance(scene.make_simulator("coulomb"), scene.make_data(), 0.4, accuracy, drive=drive)


@pytest.mark.parametrize("contact_model", ["coulomb", "lagged", "tamsi"])
@pytest.mark.parametrize("accuracy", [1e-3, 1e-6])
def test_clutter(contact_model: str, accuracy: float) -> None:
    model = mujoco.MjModel.from_xml_string(make_mjcf(make_clutter(10)))
    _advance(stiction.Simulator(model, contact_model), mujoco.MjData(model), 0.4, accuracy)


@pytest.mark.parametrize("accuracy", [1e-3, 1e-5, 1e-7])
@pytest.mark.parametrize(("half_floor", "height"), [(0.5, 0.0), (0.5, 1e-4), (0.1, 0.0)])
def test_faces_without_area(half_floor: float, height: float, accuracy: float) -> None:
    """The surface begins without area, with edges that coincide if both boxes have equal sides."""
    model = _make_box(half_floor, height)
    simulator, data = stiction.Simulator(model, properties=_PATCHES), mujoco.MjData(model)
    _advance(simulator, data, 0.2, accuracy)
    assert abs(data.qvel).max() < 0.045  # that of a fall from the height


@pytest.mark.parametrize("contact_model", ["coulomb", "lagged", "tamsi"])
@pytest.mark.parametrize("properties", [None, _PATCHES], ids=["points", "patches"])
@pytest.mark.parametrize("accuracy", [1e-3, 1e-8])
def test_impacts_of_ten_metres_per_second(
    contact_model: str, properties: Any, accuracy: float
) -> None:
    model = _make_box(0.5, 0.2)
    simulator = stiction.Simulator(model, contact_model, properties=properties)
    data = mujoco.MjData(model)
    data.qvel[:] = [0, 0, -10, 3, 2, 1]
    _advance(simulator, data, 0.04, accuracy)
