"""Measures the artifacts of a contact on a block that glides, presses and creeps.

The block is a point mass on a plane, with the properties of the pair and the mobility and the normal
force of the operating point. Three experiments give all entries of Table I of [castro2023], without
a formula of any contact model:

    glide     at constant slip under two loads: the line through both heights gives the gap, where
              the load is 0, and the stiffness, its slope
    press     a small approach speed at the same slip: the force that it adds gives the dissipation
    hold      at rest under a tangential load: the slip speed is the creep; that under a small load
              gives the transition speed
"""

from __future__ import annotations

import dataclasses
import math
import time
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import mujoco
import numpy as np

from stiction._core import contact_model_traits
from stiction.analysis.artifacts.chord import measure_chord_drift
from stiction.analysis.artifacts.creep import calc_slip_share
from stiction.analysis.artifacts.predictions import (
    Artifacts,
    OperatingPoint,
    PairProperties,
    has_springs,
    is_linear_law,
)
from stiction.errors import Error, StictionWarning
from stiction.simulator import Simulator

_RADIUS = 0.1  # of the block [m]
_SECOND_LOAD = 1.1  # over the first [-]
_PRESS = 2e-2  # the approach speed over the slip speed [-]
_SMALL_SHARE = 0.01  # the load share that gives the transition speed [-]
_MAX_STEPS = 10_000  # of one experiment
_MAX_TRIALS = 60  # of the speed that leaves a slip
_TOLERANCE = 1e-11

# Options of a scene that the block takes over, besides the contact model.
_OPTIONS = (
    "normal_law",
    "friction_law",
    "stiction_tolerance",
    "friction_regularization",
    "near_rigid_factor",
    "remember_forces",
    "friction_directions",
    "lcp_solver",
)


@dataclasses.dataclass(frozen=True)
class MeasuredArtifacts(Artifacts):
    """Artifacts as measured; see Artifacts.

    Attributes:
        not_measured: why entries could not be measured; empty if nothing failed.
    """

    not_measured: str = ""


def measure_artifacts(
    options: Mapping[str, Any],
    pair: PairProperties,
    at: OperatingPoint,
    *,
    max_seconds: float = math.inf,
) -> MeasuredArtifacts:
    """Measures all artifacts of a contact on a block.

    Args:
        options: Simulator.options of the scene. Its laws and tolerances are taken over.
        pair: properties of the contact.
        at: the state at which artifacts are measured.
        max_seconds: wall time after which the measurement is given up [s].

    Returns:
        The artifacts. Entries that the contact model or its law does not have are None: rigid
        surfaces have no stiffness, only the laws `hunt_crossley` and `linear` have a constant one,
        and the contact of `mujoco` does not have these properties.
    """
    drift = measure_chord_drift(options, at.turning) if at.turning > 0 else None
    if contact_model_traits(options["contact_model"]).is_mj_step:
        # Its contact has solref and solimp instead of these properties, and no known mobility.
        return MeasuredArtifacts(chord_drift=drift)
    if not (at.mobility > 0 and at.normal_force > 0):
        reason = "the contact has no normal force or no mobility"
        return MeasuredArtifacts(chord_drift=drift, not_measured=reason)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StictionWarning)
            block = _Block(options, pair, at, time.monotonic() + max_seconds)
            measured = _measure(block, options, at)
            return dataclasses.replace(measured, chord_drift=drift)
    except Error as e:  # this model cannot take the block to this state
        return MeasuredArtifacts(chord_drift=drift, not_measured=f"a step of the block failed: {e}")


def _measure(block: _Block, options: Mapping[str, Any], at: OperatingPoint) -> MeasuredArtifacts:
    traits = contact_model_traits(options["contact_model"])
    creep, speed = _measure_stiction(block, options, at)
    slides = traits.uses_friction and at.slip_speed > 0
    rest = block.glide(0.0)
    slide = block.glide(at.slip_speed) if slides else rest
    if slide is None or rest is None:
        reason = f"in {_MAX_STEPS} steps the block did not come to rest in height"
        return MeasuredArtifacts(transition_speed=speed, creep=creep, not_measured=reason)
    law = options["normal_law"] if traits.takes_laws else "hunt_crossley"
    if traits.is_rigid or law not in ("hunt_crossley", "linear"):
        return MeasuredArtifacts(
            gliding_gap=slide.height - rest.height, transition_speed=speed, creep=creep
        )
    kept, own = slide.find_dissipation(options), rest.find_dissipation(options)
    return MeasuredArtifacts(
        gliding_gap=slide.gap,
        stiffness_factor=slide.stiffness / rest.stiffness,
        stiffness=slide.stiffness,
        dissipation=kept,
        dissipation_lost=1 - kept / own if own > 1e-6 else 0.0,
        transition_speed=speed,
        creep=creep,
    )


def _measure_stiction(
    block: _Block, options: Mapping[str, Any], at: OperatingPoint
) -> tuple[float | None, float | None]:
    """Returns the creep and the transition speed [m/s]; None without stiction."""
    traits = contact_model_traits(options["contact_model"])
    if traits.has_viscous_friction or not block.has_friction:
        return None, None
    creep = block.hold(at.load_share)
    if traits.is_rigid or has_springs(options):
        return creep, 0.0
    small = block.hold(_SMALL_SHARE)
    share = calc_slip_share(options, _SMALL_SHARE)
    return creep, None if small is None else small / share


class _Contact(NamedTuple):
    """The block's contact after a step."""

    height: float  # signed distance [m]
    velocity: float  # normal velocity [m/s]
    force: float  # normal force [N]
    slip: float  # slip speed [m/s]


class _Glide(NamedTuple):
    """The block that glides at a constant slip."""

    height: float  # signed distance under the load [m]
    stiffness: float  # [N/m]
    gap: float  # signed distance at which the force begins [m]
    pressed: _Contact  # the contact while the block approaches

    def find_dissipation(self, options: Mapping[str, Any]) -> float:
        """Returns d in k x (1 - d v_n) [s/m], or tau in k (x - tau v_n) [s]."""
        height, velocity, force, _ = self.pressed
        elastic = self.stiffness * (self.gap - height)
        scale = self.stiffness if is_linear_law(options) else elastic
        return (force - elastic) / (scale * -velocity)


class _Block:
    """A point mass on a plane."""

    def __init__(
        self,
        options: Mapping[str, Any],
        pair: PairProperties,
        at: OperatingPoint,
        deadline: float,
    ) -> None:
        self._deadline = deadline
        traits = contact_model_traits(options["contact_model"])
        self._at = at
        # `no_slip` holds any load, and does not read the coefficient.
        self._friction = pair.friction if traits.uses_friction else 1.0
        self._tolerance = 1e-10 if traits.is_rigid else 1e-13  # of the slip [-]
        # A point mass m has W = I / m, so that w = |W|_F / 3 = 1 / (sqrt(3) m).
        self._mass = 1 / (math.sqrt(3) * at.mobility)
        self._model = mujoco.MjModel.from_xml_string(_make_xml(self._mass))
        own = {name: options[name] for name in _OPTIONS if name in options}
        self._simulator = Simulator(
            self._model,
            options["contact_model"],
            time_step=options["time_step"],
            tolerance=_TOLERANCE,
            properties=_make_properties(pair),
            **own,
        )
        self._time_step = float(options["time_step"])

    @property
    def has_friction(self) -> bool:
        """True if the friction coefficient is above 0."""
        return self._friction > 0

    def hold(self, share: float) -> float | None:
        """Returns the slip speed at rest under a share of the friction bound [m/s]; None if it slides."""
        data = self._make_data()
        load = share * self._friction * self._at.normal_force
        if load == 0:
            return 0.0
        self._push(data, self._at.normal_force, load)
        speed = math.inf
        for _ in range(_MAX_STEPS):
            last, speed = speed, self._step(data).slip
            if abs(speed - last) <= 1e-9 * abs(speed) + 1e-15:
                return speed
        is_steady = abs(speed - last) <= 1e-5 * speed
        return speed if is_steady else None

    def glide(self, slip: float) -> _Glide | None:
        """Returns the state at a constant slip; None if the block does not settle."""
        first = self._settle(slip, self._at.normal_force)
        second = self._settle(slip, _SECOND_LOAD * self._at.normal_force)
        if first is None or second is None:
            return None
        data, start, low = first
        _, _, high = second
        sinks = low.height - high.height
        stiffness = (high.force - low.force) / sinks if sinks > 0 else math.inf
        gap = low.height + low.force / stiffness
        return _Glide(low.height, stiffness, gap, self._press(data, start, slip))

    def _settle(self, slip: float, load: float) -> tuple[mujoco.MjData, float, _Contact] | None:
        """Slips to a constant height; returns data, the speed at the start of a step, and the contact."""
        data = self._make_data()
        self._push(data, load, 0.0)
        speed = slip
        for step in range(_MAX_STEPS):
            # Round-off ends the approach of some contacts earlier than that of others.
            looser = 1 if step < _MAX_STEPS // 4 else 1e3
            contact, speed = self._step_to_slip(data, slip, speed, looser * self._tolerance)
            is_slip = abs(contact.slip - slip) <= looser * self._tolerance * slip
            is_steady = abs(contact.force - load) < looser * 1e-9 * load
            if is_steady and abs(contact.velocity) < looser * 1e-12 and is_slip:
                return data, speed, contact
        return None

    def _press(self, data: mujoco.MjData, speed: float, slip: float) -> _Contact:
        """Returns the contact of a step in which the block approaches, with the slip at its end."""
        data.qvel[2] = -_PRESS * (slip or 1e-2)
        return self._step_to_slip(data, slip, speed, 1e-14)[0]

    def _step_to_slip(
        self, data: mujoco.MjData, slip: float, guess: float, tolerance: float
    ) -> tuple[_Contact, float]:
        """Makes the step that ends with a slip. Returns its contact, and the speed that it starts with.

        The slip that is left is a convex function of the speed: it hardly grows in stiction, and by as
        much as the speed in sliding. So the secant method converges from above. Below, steps grow until
        the slip is too large. The tolerance is relative to the slip.
        """
        start = data.qpos.copy(), data.qvel.copy()

        def try_speed(speed: float) -> tuple[_Contact, float]:
            data.qpos[:], data.qvel[:] = start
            if slip > 0:
                data.qvel[0] = speed
            contact = self._step(data)
            return contact, contact.slip - slip

        speed, slope = guess, 1.0  # the slope is that of the speed over the slip
        contact, error = try_speed(speed)
        for _ in range(_MAX_TRIALS):
            if abs(error) <= tolerance * slip:
                break
            last_speed, last_error = speed, error
            speed -= slope * error
            contact, error = try_speed(speed)
            if last_error < 0:
                slope = 4 * slope if error < 0 else 1.0
            elif error < last_error:
                slope = max((speed - last_speed) / (error - last_error), 1.0)
            else:  # rounding
                break
        return contact, speed

    def _make_data(self) -> mujoco.MjData:
        return mujoco.MjData(self._model)

    def _push(self, data: mujoco.MjData, load: float, tangential: float) -> None:
        data.qfrc_applied[:] = (tangential, 0, -load)

    def _step(self, data: mujoco.MjData) -> _Contact:
        if time.monotonic() > self._deadline:
            raise Error("step_failed", "block", "takes longer than the run")
        contacts = self._simulator.step(data).contacts
        if len(contacts) == 0:
            return _Contact(float(data.qpos[2]), float(data.qvel[2]), 0.0, float(abs(data.qvel[0])))
        velocity = float(data.qvel[2])
        return _Contact(
            height=float(contacts.distance[0]) + self._time_step * velocity,
            velocity=velocity,
            force=float(contacts.normal_impulse[0]) / self._time_step,
            slip=float(np.hypot(*data.qvel[:2])),
        )


def _make_xml(mass: float) -> str:
    joints = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))
    return (
        '<mujoco><option gravity="0 0 0" cone="elliptic"/><worldbody>'
        '<geom name="ground" type="plane" size="1 1 1"/>'
        f'<body pos="0 0 {_RADIUS}">{joints}<geom name="block" size="{_RADIUS}" mass="{mass!r}"/></body>'
        "</worldbody></mujoco>"
    )


def _make_properties(pair: PairProperties) -> dict[str, Any]:
    """Returns properties of two equal surfaces whose contact has those of the pair."""
    surface: dict[str, float] = {
        "friction": pair.friction,  # the mean of equal values
        "dissipation": pair.dissipation,
        "relaxation_time": pair.relaxation_time / 2,  # the sum of both
    }
    if pair.stiffness is not None and math.isfinite(pair.stiffness):
        surface["stiffness"] = 2 * pair.stiffness  # in series
    return {"materials": {"pair": surface}, "geoms": {"*": "pair"}}


# ---- Estimates the state of a contact of two geoms that may not touch yet ------------------------


def estimate_operating_point(
    model: mujoco.MjModel,
    geom1: int,
    geom2: int,
    *,
    slip_speed: float,
    normal_force: float | None = None,
    load_share: float = 0.2,
) -> OperatingPoint:
    """Returns the state of one contact of two geoms.

    The mobility is that of the bodies' centers in the model's reference pose: with W = w0 I it is
    w = |W|_F / 3 = w0 / sqrt(3), where w0 is the sum of body_invweight0 [castro2022]. Without a normal
    force it is the weight of the lighter body that moves, or 1 N without gravity.
    """
    bodies = [int(model.geom_bodyid[geom]) for geom in (geom1, geom2)]
    moving = [body for body in bodies if model.body_weldid[body] != 0]
    if normal_force is None:
        gravity = math.hypot(*model.opt.gravity)
        mass = min((float(model.body_subtreemass[body]) for body in moving), default=0.0)
        normal_force = mass * gravity or 1.0
    mobility = sum(float(model.body_invweight0[body, 0]) for body in bodies) / math.sqrt(3)
    return OperatingPoint(slip_speed, normal_force, mobility, load_share)
