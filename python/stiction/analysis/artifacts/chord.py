"""The drift of a held body along chords, an artifact of every model in steps of one length.

The friction law 'elastic' has none, because its springs follow the motion of the bodies.

A free body moves along the chord q + dt v of its path, and what holds it moves along its arc. In a
step of dt the point that is held falls behind by dt^2/2 times

    a = (dJ_A/dt - dJ_B/dt) v,

the difference of the accelerations that both bodies have at the contact while all joint velocities
stay. Friction stops velocities at the end of the step and not displacements, so the body drifts at
dt |a| / 2, whatever the load. For a body at a distance r from a hinge that turns at w it is
w^2 r dt / 2, outwards. Source: [theory:chords].
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction.errors import Error, StictionWarning
from stiction.simulator import Simulator

Vector = NDArray[np.float64]

_RADIUS = 0.06  # of the plate's path in the measurement [m]
_ANGLE = 0.5  # by which it turns in the measurement [rad]
_MAX_STEPS = 2000
_PLATE = """
<mujoco><option timestep="{step!r}" gravity="0 0 0"/><worldbody>
  <body><joint name="turn" axis="0 0 1" armature="1"/>
    <geom size=".01" mass=".1" contype="0" conaffinity="0"/>
    <body pos="{r} 0 .02"><joint name="up" type="slide" axis="0 0 1"/>
      <geom type="box" size=".02 .02 .01" mass=".1" friction="1"/></body>
    <body pos="{r} 0 -.02"><joint name="down" type="slide" axis="0 0 1"/>
      <geom type="box" size=".02 .02 .01" mass=".1" friction="1"/></body></body>
  <body pos="{r} 0 0"><freejoint/><geom type="box" size=".02 .02 .01" mass=".05" friction="1"/></body>
</worldbody><actuator><motor joint="up" gear="-1"/><motor joint="down"/>
<velocity joint="turn" kv="100"/></actuator></mujoco>"""


def predict_chord_drift(time_step: float, turning: float) -> float:
    """Returns the speed at which a held body drifts [m/s]; turning is |a|, tangential [m/s^2]."""
    return 0.5 * time_step * turning


def measure_chord_drift(options: Mapping[str, Any], turning: float) -> float | None:
    """Measures the drift of a plate that two fingers press with 20 N and turn around an axis [m/s].

    The plate is 60 mm from the axis, and the axis turns so that the acceleration is `turning` [m/s^2].
    Returns the speed outwards; None if a step failed, or if the plate turns too far in a step.
    """
    step = float(options["time_step"])
    rate = math.sqrt(turning / _RADIUS)
    if rate == 0:
        return 0.0
    num_steps = min(_MAX_STEPS, math.ceil(_ANGLE / (rate * step)))
    if rate * step > 0.2:
        return None
    model = mujoco.MjModel.from_xml_string(_PLATE.format(step=step, r=_RADIUS))
    data = mujoco.MjData(model)
    data.ctrl[:] = [20, 20, rate]
    data.qvel[0] = data.qvel[8] = rate
    data.qvel[4] = rate * _RADIUS
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StictionWarning)
            law = {name: options[name] for name in ("friction_law",) if name in options}
            simulator = Simulator(model, options["contact_model"], **law)
            simulator.step(data, max(1, num_steps // 4))  # until the grip is at rest
            start = _find_radius(data)
            simulator.step(data, num_steps)
    except Error:
        return None
    return (_find_radius(data) - start) / (num_steps * step)


def _find_radius(data: mujoco.MjData) -> float:
    return math.hypot(data.qpos[3], data.qpos[4])


def calc_turning(
    data: mujoco.MjData, bodies: tuple[int, int], point: Vector, normal: Vector
) -> float:
    """Returns |a_t| of two bodies at a contact point with a normal, in the world, (3,) [m/s^2]."""
    model = data.model
    change = np.zeros((3, model.nv))
    a = np.zeros(3)
    for body, sign in zip(bodies, (1.0, -1.0), strict=True):
        if model.body_weldid[body] == 0:
            continue
        mujoco.mj_jacDot(model, data, change, None, point, body)
        a += sign * (change @ data.qvel)
    tangential: Vector = a - normal * float(a @ normal)
    return float(np.linalg.norm(tangential))
