"""Small scenes with all components of MuJoCo's state, and random inputs for them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np
import pytest

import stiction

PILE = """
<mujoco>
  <worldbody>
    <geom type="plane" size="2 2 .1"/>
    <body pos="0 0 .12"><freejoint/><geom type="box" size=".1 .1 .1" friction=".7"/></body>
    <body pos=".05 .02 .34"><freejoint/><geom type="box" size=".1 .08 .1"/></body>
    <body pos="-.3 .1 .2"><freejoint/><geom type="capsule" size=".05 .1"/></body>
    <body pos="-.3 .12 .5"><freejoint/><geom size=".08" condim="6"/></body>
  </worldbody>
</mujoco>
"""

# Three kinds of activations, plastic springs of a joint and a tendon, limits, and dry friction.
ACTIVATION = """
<mujoco>
  <worldbody>
    <geom type="plane" size="2 2 .1"/>
    <body pos="0 0 .5">
      <joint name="shoulder" axis="0 1 0" range="-100 100" damping=".1" stiffness="2"
             springyield="5"/>
      <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/>
      <body pos=".3 0 0">
        <joint name="elbow" axis="0 1 0" damping=".1" frictionloss=".05"/>
        <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/>
      </body>
    </body>
  </worldbody>
  <tendon>
    <fixed name="both" springyield=".1" stiffness="3" springlength="0">
      <joint joint="shoulder" coef="1"/><joint joint="elbow" coef="-1"/>
    </fixed>
  </tendon>
  <actuator>
    <position name="servo" joint="shoulder" kp="20" kv="1" timeconst=".05" ctrlrange="-1 1"/>
    <intvelocity joint="elbow" kp="5" actrange="-1 1" ctrlrange="-2 2"/>
    <muscle tendon="both" lengthrange="-2 2" ctrlrange="0 1" force="5"/>
  </actuator>
</mujoco>
"""

# A mocap body, and equality constraints that drive() switches on and off.
MOCAP = """
<mujoco>
  <worldbody>
    <geom type="plane" size="2 2 .1"/>
    <body name="hand" mocap="true" pos="0 0 .5">
      <geom type="box" size=".02 .02 .02" contype="0"/>
    </body>
    <body name="cube" pos="0 0 .4"><freejoint/><geom type="box" size=".05 .05 .05"/></body>
    <body name="ball" pos=".3 0 .3"><freejoint/><geom size=".05"/></body>
  </worldbody>
  <equality>
    <weld name="grasp" body1="hand" body2="cube"/>
    <connect body1="cube" body2="ball" anchor=".15 0 0" active="false"/>
  </equality>
</mujoco>
"""

# Controls and sensors with history, user data, and a ball joint.
DELAYS = """
<mujoco>
  <size nuserdata="5"/>
  <worldbody>
    <geom type="plane" size="2 2 .1"/>
    <body pos="0 0 .3">
      <joint name="lift" type="slide" axis="0 0 1"/>
      <joint name="roll" type="ball" damping=".01"/>
      <geom type="box" size=".1 .05 .05"/>
      <site name="imu"/>
    </body>
  </worldbody>
  <actuator>
    <motor joint="lift" gear="20" nsample="8" delay=".012" interp="linear" ctrlrange="-1 1"/>
  </actuator>
  <sensor>
    <jointpos joint="lift" nsample="5" delay=".006" interval=".005"/>
    <accelerometer site="imu" nsample="3" delay=".004"/>
    <framequat objtype="site" objname="imu" nsample="4" interval=".01"/>
  </sensor>
</mujoco>
"""

SCENES = {"pile": PILE, "activation": ACTIVATION, "mocap": MOCAP, "delays": DELAYS}

RecordRun = Callable[..., stiction.Recording]
RunCommand = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def scenes() -> dict[str, str]:
    """Scenes as MJCF by name. A test may change or add scenes."""
    return dict(SCENES)


@pytest.fixture
def record_run(tmp_path: Path, scenes: dict[str, str]) -> RecordRun:
    """Records a driven run and opens the recording."""

    def record(
        scene: str, contact_model: str = "lagged", num_steps: int = 150, **options: object
    ) -> stiction.Recording:
        model = mujoco.MjModel.from_xml_string(scenes[scene])
        data = mujoco.MjData(model)
        random = np.random.default_rng(7)
        path = tmp_path / "run.mcap"
        with stiction.Recorder(path, stiction.Simulator(model, contact_model, **options)) as rec:
            for _ in range(num_steps):
                drive(model, data, random)
                rec.step(data)
        return stiction.Recording(path)

    return record


def drive(model: mujoco.MjModel, data: mujoco.MjData, random: np.random.Generator) -> None:
    """Sets all inputs to random values."""
    data.ctrl[:] = random.uniform(-1, 1, model.nu)
    data.qfrc_applied[:] = random.uniform(-0.05, 0.05, model.nv)
    data.xfrc_applied[1:] = random.uniform(-0.05, 0.05, (model.nbody - 1, 6))
    data.userdata[:] = random.uniform(-1, 1, model.nuserdata)
    data.mocap_pos[:] += random.uniform(-1e-3, 1e-3, data.mocap_pos.shape)
    data.mocap_quat[:] += random.uniform(-1e-3, 1e-3, data.mocap_quat.shape)
    if random.random() < 0.05:
        data.eq_active[:] = random.integers(0, 2, model.neq)


@pytest.fixture
def command(tmp_path: Path) -> RunCommand:
    """Runs the installed `stiction` in tmp_path. Its output is not a terminal."""

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [Path(sys.executable).parent / "stiction", *map(str, arguments)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run


@pytest.fixture
def pile(tmp_path: Path) -> Path:
    """The path of a scene with bodies that fall on each other."""
    path = tmp_path / "pile.xml"
    path.write_text(PILE)
    return path
