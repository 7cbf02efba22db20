"""The pancake's scene: dm_control's Jaco arm without collisions, scenes/pancake.xml and
scenes/bubble_gripper.xml."""

from __future__ import annotations

import importlib.util
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction.errors import Error
from stiction.inputs.package_scenes import find_scene_file

Vector = NDArray[np.float64]

ARM_JOINTS = tuple(f"jaco_joint_{i}" for i in range(1, 7))
FINGERS = ("hand_left_finger", "hand_right_finger")
BUBBLES = ("hand_left_bubble", "hand_right_bubble")
GRASP = "hand_grasp"  # the site between the bubbles
HANDLE_ANGLE = math.radians(25)  # angle between the handle and the blade [rad]
HANDLE_MIDDLE = np.array([-0.1945, 0.0, 0.0655])  # middle of the handle in the spatula's frame [m]
BLADE_HALF_WIDTH = 0.045  # [m]
SPATULA_MASS = 0.07  # [kg]
STOVE_HEIGHT = 0.12  # [m]
START = np.array([2.394, 3.711, 0.701, 0.068, -1.182, 1.931])  # initial joint angles [rad]

# Peak torque [N m] and speed [rad/s] of Kinova's actuators, as in dm_control, and gains of the
# servos [N m/rad, N m s/rad].
_LARGE = {"torque": 30.5, "speed": math.radians(36), "kp": 4000.0, "kv": 400.0}
_SMALL = {"torque": 6.8, "speed": math.radians(48), "kp": 2000.0, "kv": 200.0}
_DRIVES = (_LARGE,) * 3 + (_SMALL,) * 3
JOINT_SPEEDS = np.array([drive["speed"] for drive in _DRIVES])


@dataclass(frozen=True)
class Grid:
    """Resolution hints of the meshes [m]. A rigid box needs none."""

    bubble: float
    handle: float
    pancake: float


# The grids from coarse to fine. The name is the approximate number of faces with the spatula in the
# grip.
GRIDS = {
    230: Grid(bubble=0.03, handle=0.008, pancake=0.010),
    500: Grid(bubble=0.02, handle=0.005, pancake=0.010),
    1200: Grid(bubble=0.012, handle=0.003, pancake=0.008),
    1800: Grid(bubble=0.012, handle=0.0016, pancake=0.008),
}


def make_pancake_model() -> mujoco.MjModel:
    """Compiles the scene, with the time step of scenes/pancake.xml."""
    kitchen = mujoco.MjSpec.from_file(str(find_scene_file("pancake")))
    gripper = mujoco.MjSpec.from_file(str(find_scene_file("bubble_gripper")))
    arm = mujoco.MjSpec.from_file(str(_find_arm()))
    for body in arm.bodies:
        body.gravcomp = 1  # arms of this kind compensate gravity themselves
    for geom in arm.geoms:
        geom.contype, geom.conaffinity = 0, 0
    for joint, drive in zip(arm.joints, _DRIVES, strict=True):
        servo = arm.add_actuator(name=joint.name, target=joint.name)
        servo.trntype = mujoco.mjtTrn.mjTRN_JOINT
        servo.set_to_position(kp=drive["kp"], kv=drive["kv"])
        servo.forcelimited, servo.forcerange = True, (-drive["torque"], drive["torque"])
    kitchen.attach(arm, site=kitchen.site("arm"), prefix="jaco_")
    kitchen.attach(gripper, site=kitchen.site("jaco_wristsite"), prefix="hand_")
    return kitchen.compile()


def make_pancake_properties(grid: Grid) -> dict[str, Any]:
    """Returns the contact properties: bubbles and pancake are compliant, everything else is
    rigid. [masterjohn2022] does not give the moduli. The stove is rough and the blade smooth, so
    that the blade can slide below the pancake."""
    soft = {"hydroelastic_modulus": 1e5, "dissipation": 5.0, "relaxation_time": 0.05}
    return {
        "materials": {
            "bubble": {**soft, "resolution_hint": grid.bubble, "friction": 1.0},
            "batter": {**soft, "resolution_hint": grid.pancake, "friction": 1.0},
            "handle": {"rigid": True, "resolution_hint": grid.handle, "friction": 1.0},
            "steel": {"rigid": True, "resolution_hint": 0.05, "friction": 0.12},
            "iron": {"rigid": True, "resolution_hint": 0.05, "friction": 1.0},
        },
        "geoms": {
            "*_bubble": "bubble",
            "pancake": "batter",
            "handle": "handle",
            "blade": "steel",
            "neck": "steel",
            "*": "iron",
        },
    }  # fmt: skip


def _find_arm() -> Path:
    spec = importlib.util.find_spec("dm_control")
    if spec is None or not spec.submodule_search_locations:
        raise Error(
            "unsupported",
            "dm_control",
            "is not installed, but this study uses its Jaco arm; run pip install dm_control",
        )
    return Path(spec.submodule_search_locations[0]) / "third_party/kinova/jaco_arm.xml"
