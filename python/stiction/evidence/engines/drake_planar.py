"""A planar case in Drake, which must be installed.

A moving ground is replaced by a fixed one: the motion is computed in the ground's frame, and the
force -m dv/dt, with the ground's velocity v, acts on the body. Each step then solves the same
problem as with a moving ground.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stiction.evidence.engines import drake_peer
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
    "drake sap": "kSap",
    "drake lagged": "kLagged",
    "drake similar": "kSimilar",
    "drake tamsi": "kTamsi",
}


class DrakeStepper:
    """A planar case as Drake's MultibodyPlant with point contact. It is a PlanarStepper.

    Args:
        case: the case.
        time_step: [s].
        model: a name in DRAKE_MODELS.
    """

    def __init__(self, case: PlanarCase, time_step: float, model: str) -> None:
        self._case, self._time_step = case, time_step
        self._plant, diagram = _make_plant(case.body, DRAKE_MODELS[model], time_step)
        self._q0, self._v0, self._forces = _calc_motion(case, time_step)
        self._simulator = drake_peer.load().Simulator(diagram)
        self._context = self._simulator.get_mutable_context()
        self._plant_context = self._plant.GetMyMutableContextFromRoot(self._context)
        self._steps_taken = 0

    def reset(self) -> None:
        self._context.SetTime(0.0)
        self._plant.SetPositions(self._plant_context, self._q0)
        self._plant.SetVelocities(self._plant_context, self._v0)
        self._steps_taken = 0
        self._apply_force()
        self._simulator.Initialize()

    def advance(self, num_steps: int) -> None:
        if self._forces is None:
            self._steps_taken += num_steps
            self._simulator.AdvanceTo(self._steps_taken * self._time_step)
            return
        for _ in range(num_steps):
            self._apply_force()
            self._steps_taken += 1
            self._simulator.AdvanceTo(self._steps_taken * self._time_step)

    def get_position(self) -> Vector:
        return np.array(self._plant.GetPositions(self._plant_context))

    def count_failures(self) -> int:
        return 0  # Drake raises an exception if a step fails

    def _apply_force(self) -> None:
        if self._forces is not None:
            force = np.zeros(self._plant.num_velocities())
            force[0] = self._forces[self._steps_taken]
            port = self._plant.get_applied_generalized_force_input_port()
            port.FixValue(self._plant_context, force)


def _calc_motion(case: PlanarCase, time_step: float) -> tuple[Vector, Vector, Vector | None]:
    """Returns q0 and v0 relative to the ground, and the force along x in each step [N].

    The force is None if the ground rests.
    """
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


def _make_plant(body: PlanarBody, approximation: str, time_step: float) -> tuple[Any, Any]:
    drake = drake_peer.load()
    builder = drake.DiagramBuilder()
    plant, _ = drake.AddMultibodyPlantSceneGraph(builder, time_step)
    plant.set_contact_model(drake.ContactModel.kPoint)
    plant.set_discrete_contact_approximation(
        getattr(drake.DiscreteContactApproximation, approximation)
    )
    plant.set_sap_near_rigid_threshold(0.0)
    plant.set_stiction_tolerance(STICTION_TOLERANCE)
    plant.mutable_gravity_field().set_gravity_vector([0, 0, -GRAVITY])
    world, per_mass = plant.world_body(), body.inertia / body.mass
    plant.RegisterCollisionGeometry(
        world,
        drake.HalfSpace.MakePose(np.array([0.0, 0, 1]), np.zeros(3)),
        drake.HalfSpace(),
        "ground",
        _make_properties(body),
    )
    inertia = drake.SpatialInertia(
        body.mass, np.zeros(3), drake.UnitInertia(per_mass, per_mass, per_mass)
    )
    moved = plant.AddRigidBody("body", inertia)
    for i, (x, z, radius) in enumerate(body.spheres):
        # The second axis of a PlanarJoint's body points up.
        center = np.array([x, z, 0.0] if body.rotates else [x, 0.0, z])
        pose = drake.RigidTransform(center)
        plant.RegisterCollisionGeometry(
            moved, pose, drake.Sphere(radius), f"sphere{i}", _make_properties(body)
        )
    if body.rotates:
        # The joint's axes are the world's x and z; angles are counterclockwise with x to the right.
        rotation = drake.RotationMatrix(np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]]))
        frame = plant.AddFrame(
            drake.FixedOffsetFrame(
                "plane", world.body_frame(), drake.RigidTransform(rotation, np.zeros(3))
            )
        )
        plant.AddJoint(drake.PlanarJoint("plane", frame, moved.body_frame(), np.zeros(3)))
    else:
        massless = drake.SpatialInertia(0.0, np.zeros(3), drake.UnitInertia(0, 0, 0))
        slider = plant.AddRigidBody("slider", massless)
        for joint, parent, child, axis in (
            ("x", world, slider, [1.0, 0, 0]),
            ("z", slider, moved, [0, 0, 1.0]),
        ):
            plant.AddJoint(
                drake.PrismaticJoint(joint, parent.body_frame(), child.body_frame(), np.array(axis))
            )
    plant.Finalize()
    return plant, builder.Build()


def _make_properties(body: PlanarBody) -> Any:
    return drake_peer.make_properties(
        stiffness=body.stiffness,
        dissipation=body.dissipation,
        relaxation_time=body.relaxation_time,
        friction=body.friction,
    )
