"""A scene for the viewer: a soft box on a rigid plane, whose pressure is uniform, and a hard ball."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import stiction

sys.path.append(str(Path(__file__).parent))  # for viewer_client

SCENE = """
<mujoco>
  <option timestep="0.01"/>
  <statistic center="0 0 0.05" extent="0.4"/>
  <visual><global azimuth="90" elevation="-35"/></visual>
  <custom><text name="stiction" data="box.contact.yaml"/></custom>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 .1"/>
    <body name="box" pos="0 0 0.0497">
      <freejoint/><geom name="box" type="box" size=".1 .1 .05" mass="1" rgba=".8 .3 .2 1"/>
    </body>
    <body name="ball" pos="0.2 0 0.0299">
      <freejoint/><geom name="ball" size=".03" mass=".1"/>
    </body>
  </worldbody>
</mujoco>
"""

PROPERTIES = """
materials:
  soft: {hydroelastic_modulus: 1e5, resolution_hint: 0.1, dissipation: 5, friction: 0.5}
  hard: {rigid: true, friction: 0.5}
geoms: {box: soft, floor: hard}
"""


@pytest.fixture
def scene(tmp_path: Path) -> stiction.Scene:
    """The scene, loaded from a file."""
    path = tmp_path / "box.xml"
    path.write_text(SCENE)
    (tmp_path / "box.contact.yaml").write_text(PROPERTIES)
    return stiction.load_scene(path)


@pytest.fixture
def recording(scene: stiction.Scene, tmp_path: Path) -> Path:
    """A recording of the scene's first 40 steps under sap."""
    path = tmp_path / "box.mcap"
    simulator, data = scene.make_simulator("sap"), scene.make_data()
    with stiction.Recorder(path, simulator, scene=scene.path) as recorder:
        recorder.step(data, nstep=40)
    return path
