"""A planar case in Drake, which must be installed.

A moving ground rests: in its frame the force -m dv/dt, with its velocity v, acts on the body, so
each step solves the same problem.
"""

from __future__ import annotations

import numpy as np

from stiction.evidence.engines.drake_plant import DrakePlant
from stiction.evidence.experiments.planar import (
    GRAVITY,
    STICTION_TOLERANCE,
    PlanarBody,
    Vector,
    calc_ground_velocities,
)
from stiction.evidence.experiments.planar_case import PlanarCase

# Drake's contact approximations by the names used here.
DRAKE_MODELS = {
    "drake sap": "sap",
    "drake lagged": "lagged",
    "drake similar": "similar",
    "drake tamsi": "tamsi",
}


class DrakeStepper:
    """A planar case in Drake with point contact. It is a PlanarStepper."""

    def __init__(self, case: PlanarCase, time_step: float, model: str) -> None:
        self._time_step = time_step
        self._drake = _make_plant(case.body, DRAKE_MODELS[model], time_step)
        self._q0, self._v0, self._forces = _calc_motion(case, time_step)
        self._steps_taken = 0

    def reset(self) -> None:
        plant, context = self._drake.plant, self._drake.context
        plant.SetPositions(context, self._q0)
        plant.SetVelocities(context, self._v0)
        self._steps_taken = 0
        self._apply_force()
        self._drake.mark()

    def advance(self, num_steps: int) -> None:
        stride = num_steps if self._forces is None else 1
        for _ in range(num_steps // stride):
            self._apply_force()
            self._steps_taken += stride
            self._drake.advance_to(self._steps_taken * self._time_step)

    def get_position(self) -> Vector:
        return np.array(self._drake.plant.GetPositions(self._drake.context))

    def count_failures(self) -> int:
        return 0  # Drake raises an exception if a step fails

    def _apply_force(self) -> None:
        if self._forces is not None:
            force = np.zeros(self._drake.plant.num_velocities())
            force[0] = self._forces[self._steps_taken]
            port = self._drake.plant.get_applied_generalized_force_input_port()
            port.FixValue(self._drake.context, force)


def _calc_motion(case: PlanarCase, time_step: float) -> tuple[Vector, Vector, Vector | None]:
    """Returns q0 and v0 relative to the ground, and the force along x in each step [N] or None."""
    q0, v0 = case.make_start("lagged", time_step)  # Drake finds contacts only once they overlap
    ground = calc_ground_velocities(
        case.ground_position, time_step, round(case.duration / time_step)
    )
    if ground is None or case.ground_position is None:
        return q0, v0, None
    start, before = case.ground_position(np.array([0.0, -time_step]))
    velocities = np.concatenate([[(start - before) / time_step], ground])
    q0[0] -= start
    v0[0] -= velocities[0]
    return q0, v0, -case.body.mass * np.diff(velocities) / time_step


def _make_plant(body: PlanarBody, scheme: str, time_step: float) -> DrakePlant:
    made = DrakePlant(
        time_step,
        (0, 0, -GRAVITY),
        scheme,
        contact_model="point",
        sap_near_rigid_threshold=0.0,
        stiction_tolerance=STICTION_TOLERANCE,
    )
    drake, world = made.drake, made.plant.world_body()
    # Two equal surfaces act in series.
    properties = made.make_properties(
        friction=body.friction,
        dissipation=body.dissipation,
        relaxation_time=body.relaxation_time / 2,
        stiffness=2 * body.stiffness,
    )
    made.add_geom(world, drake.HalfSpace(), made.make_pose(), "ground", properties)
    moved = made.add_body("body", body.mass, (body.inertia,) * 3)
    for i, (x, z, radius) in enumerate(body.spheres):
        # The second axis of a PlanarJoint's body points up.
        pose = made.make_pose((x, z, 0.0) if body.rotates else (x, 0.0, z))
        made.add_geom(moved, drake.Sphere(radius), pose, f"sphere{i}", properties)
    if body.rotates:
        # The joint's axes are the world's x and z; angles are counterclockwise with x to the right.
        rotation = drake.RotationMatrix(np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]]))
        upright = drake.RigidTransform(rotation, np.zeros(3))
        frame = made.plant.AddFrame(drake.FixedOffsetFrame("plane", world.body_frame(), upright))
        made.plant.AddJoint(drake.PlanarJoint("plane", frame, moved.body_frame(), np.zeros(3)))
    else:
        slider = made.add_body("slider", 0.0, ())
        made.add_joint("slide", "x", world, slider, (1, 0, 0), None)
        made.add_joint("slide", "z", slider, moved, (0, 0, 1), None)
    made.finish()
    return made
