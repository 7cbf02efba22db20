"""The scenes of the study: a body, what holds it, and the place of one in the frame of the other."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction.inputs.package_scenes import find_scene_file
from stiction.scene import load_scene
from stiction.setup.properties import PropertiesLike

Vector = NDArray[np.float64]

GRAVITY = 9.81  # [m/s^2]
ARM, TURN_SPEED = 0.06, 4.0  # of the plate [m], [rad/s]
VIBRATION_FREQUENCY = 25.0  # [Hz]
_FRICTION, _INCLINE_FRICTION = 0.8, 0.5
_MASS = 0.2  # of the cube, the plate and the box on the wall [kg]


def _do_nothing(data: mujoco.MjData) -> None:
    pass


@dataclass(frozen=True)
class HeldScene:
    """A body that is held.

    name: name in tables and plots.
    model: the scene.
    held: name of the held body.
    holder: name of the body in whose frame its place is measured.
    drive: sets the inputs of the next step.
    settle: time until the measurement [s].
    duration: duration of the measurement [s].
    share: load over friction bound [-].
    properties: contact properties that belong to the scene.
    """

    name: str
    model: mujoco.MjModel
    held: str
    holder: str = "world"
    drive: Callable[[mujoco.MjData], None] = _do_nothing
    settle: float = 1.0
    duration: float = 1.0
    share: float = 0.5
    properties: PropertiesLike = None

    @property
    def has_patches(self) -> bool:
        """True if bodies touch in patches, which not all models support."""
        return self.properties is not None

    def find_place(self, data: mujoco.MjData) -> Vector:
        """Returns the place of the held body in the frame of the holder [m]."""
        mujoco.mj_kinematics(self.model, data)
        frame, body = data.body(self.holder), data.body(self.held)
        place: Vector = frame.xmat.reshape(3, 3).T @ (body.xpos - frame.xpos)
        return place


def _ramp(time: float) -> float:
    """Returns a factor that rises from 0 to 1 within 0.3 s."""
    return min(1.0, max(0.0, time / 0.3))


def _compile(gravity: tuple[float, float], body: str) -> mujoco.MjModel:
    """Compiles a scene.

    Args:
        gravity: along x and z [m/s^2].
        body: content of the document after its options.
    """
    # MuJoCo recommends elliptic cones where bodies are held, and this integrator for stiff servos.
    option = f'gravity="{gravity[0]} 0 {gravity[1]}" cone="elliptic" integrator="implicitfast"'
    return mujoco.MjModel.from_xml_string(f"<mujoco><option {option}/>{body}</mujoco>")


def _make_fingers(at: str) -> str:
    """Returns two fingers that press from both sides along y; `at` is their place along x."""
    finger = (
        '<body pos="{at} {y} 0"><joint name="{name}" type="slide" axis="0 {axis} 0" damping="20" '
        'armature="0.05"/>'
        f'<geom type="box" size="0.01 0.01 0.01" mass="0.1" friction="{_FRICTION}"/></body>'
    )
    return finger.format(at=at, y=0.021, axis=-1, name="one") + finger.format(
        at=at, y=-0.021, axis=1, name="two"
    )


_PLATE = f'<geom type="box" size="0.03 0.0105 0.03" mass="{_MASS}" friction="{_FRICTION}"/></body>'
_MOTORS = '<motor joint="one"/><motor joint="two"/>'


def make_cube() -> HeldScene:
    """A plate between two fingers, whose friction could carry twice its weight."""
    force = _MASS * GRAVITY / (2 * _FRICTION * 0.5)
    model = _compile(
        (0, -GRAVITY),
        f"<worldbody>{_make_fingers('0')}<body name='cube'><freejoint/>{_PLATE}</worldbody>"
        f"<actuator>{_MOTORS}</actuator>",
    )

    def drive(data: mujoco.MjData) -> None:
        data.ctrl[:] = force

    return HeldScene("cube", model, "cube", drive=drive)


def make_plate() -> HeldScene:
    """A plate that two fingers hold away from the axis of a wrist, which turns."""
    model = _compile(
        (0, 0),
        "<worldbody><body name='wrist'><joint name='turn' type='hinge' axis='0 1 0' armature='1'/>"
        "<geom type='sphere' size='0.01' mass='1' contype='0' conaffinity='0'/>"
        f"{_make_fingers(str(ARM))}</body>"
        f"<body name='plate' pos='{ARM} 0 0'><freejoint/>{_PLATE}</worldbody>"
        f"<actuator><velocity joint='turn' kv='100'/>{_MOTORS}</actuator>",
    )

    def drive(data: mujoco.MjData) -> None:
        grip = 5 * _ramp(data.time)
        data.ctrl[:] = (TURN_SPEED * _ramp(data.time - 0.3), grip, grip)

    return HeldScene("plate that turns", model, "plate", "wrist", drive, settle=1.0, duration=0.5)


def make_wall(share: float = 0.5) -> HeldScene:
    """A box that a force presses to a wall; its weight is a share of the friction bound."""
    model = _compile(
        (0, -GRAVITY),
        f"<worldbody><geom type='plane' size='5 5 1' zaxis='1 0 0' friction='{_FRICTION}'/>"
        "<body name='box' pos='0.05 0 0'><freejoint/><geom type='box' size='0.05 0.05 0.05' "
        f"mass='{_MASS}' friction='{_FRICTION}'/></body></worldbody>",
    )

    def drive(data: mujoco.MjData) -> None:
        # The force acts below the center, so that the moments about it are balanced.
        pressing = _MASS * GRAVITY / (_FRICTION * share)
        data.xfrc_applied[1] = (-pressing, 0, 0, 0, -0.05 * _MASS * GRAVITY, 0)

    return HeldScene("wall", model, "box", drive=drive, share=share)


def _tilt(angle: float) -> tuple[float, float]:
    return GRAVITY * math.sin(angle), -GRAVITY * math.cos(angle)


def make_stack() -> HeldScene:
    """Five boxes on each other, tilted. The place is that of the highest."""
    boxes = "".join(
        f"<body name='box{i}' pos='0 0 {0.05 + 0.1 * i}'><freejoint/><geom type='box' mass='1' "
        f"size='{0.05 - 0.002 * i} {0.05 - 0.002 * i} 0.05' friction='{_FRICTION}'/></body>"
        for i in range(5)
    )
    plane = f"<geom type='plane' size='5 5 1' friction='{_FRICTION}'/>"
    model = _compile(_tilt(0.1), f"<worldbody>{plane}{boxes}</worldbody>")
    return HeldScene("stack", model, "box4", settle=4.0, share=math.tan(0.1) / _FRICTION)


def make_vibration(amplitude: float = 0.3) -> HeldScene:
    """A box on a slope at half the friction cone, whose normal load oscillates by a share."""
    angle = math.atan(0.5 * _INCLINE_FRICTION)
    model = _compile(
        _tilt(angle),
        f"<worldbody><geom type='plane' size='5 5 1' friction='{_INCLINE_FRICTION}'/>"
        "<body name='box' pos='0 0 0.05'><freejoint/><geom type='box' size='0.1 0.1 0.05' mass='1' "
        f"friction='{_INCLINE_FRICTION}'/></body></worldbody>",
    )

    def drive(data: mujoco.MjData) -> None:
        swing = math.sin(2 * math.pi * VIBRATION_FREQUENCY * data.time)
        data.xfrc_applied[1, 2] = amplitude * GRAVITY * math.cos(angle) * swing

    # The measurement lasts whole periods.
    return HeldScene("vibration", model, "box", drive=drive)


def _make_slope(assets: str, floor: str, body: str) -> mujoco.MjModel:
    """Compiles a body of 1 kg on a slope at half the friction cone."""
    friction = f"friction='{_INCLINE_FRICTION}'"
    return _compile(
        _tilt(math.atan(0.5 * _INCLINE_FRICTION)),
        f"{assets}<worldbody><geom {floor} {friction}/><body name='body' pos='0 0 0.05'><freejoint/>"
        f"<geom {body} mass='1' {friction}/></body></worldbody>",
    )


def make_can() -> HeldScene:
    """A cylinder on a box, whose contact points MuJoCo places anew in each step."""
    model = _make_slope(
        "",
        "type='box' size='3 1 0.1' pos='2 0 -0.1'",
        "type='cylinder' size='0.1 0.05'",
    )
    return HeldScene("can on a box", model, "body", settle=2.0, duration=4.0)


def make_prism() -> HeldScene:
    """A mesh on a plane, a prism with 12 corners at its base; MuJoCo lists some of them in each step.

    The vertices have six decimals, as files of meshes have. With all digits the polygon is regular, and
    MuJoCo lists the same four corners in each step.
    """
    angles = 2 * math.pi * np.arange(12) / 12
    vertices = [
        f"{0.1 * math.cos(angle):.6f} {0.1 * math.sin(angle):.6f} {z}"
        for angle in angles
        for z in (-0.05, 0.05)
    ]
    model = _make_slope(
        f"<asset><mesh name='prism' vertex='{' '.join(vertices)}'/></asset>",
        "type='plane' size='5 5 1'",
        "name='prism' type='mesh' mesh='prism'",
    )
    return HeldScene("mesh", model, "body", settle=2.0, duration=4.0)


def make_spatula() -> HeldScene:
    """A spatula between two pads filled with air, which touch it in patches."""
    scene = load_scene(find_scene_file("spatula"))
    model = scene.model

    def drive(data: mujoco.MjData) -> None:
        data.ctrl[:] = 16

    return HeldScene(
        "spatula",
        model,
        "spatula",
        "gripper",
        drive,
        settle=120.0,
        duration=60.0,
        properties=scene.properties,
    )
