"""The clutter scene in Drake, which must be installed."""

from __future__ import annotations

from typing import Any

import numpy as np

from stiction.evidence.engines import drake_peer
from stiction.evidence.experiments import clutter as cs


class DrakeClutter:
    """The scene as Drake's MultibodyPlant with point contact and the SAP solver."""

    def __init__(self, scene: cs.ClutterScene) -> None:
        self._drake = drake = drake_peer.load()
        builder = drake.DiagramBuilder()
        self._plant, _ = drake.AddMultibodyPlantSceneGraph(builder, cs.TIME_STEP)
        self._plant.set_contact_model(drake.ContactModel.kPoint)
        self._plant.set_discrete_contact_approximation(drake.DiscreteContactApproximation.kSap)
        self._plant.mutable_gravity_field().set_gravity_vector([0, 0, -cs.GRAVITY])
        self._bodies: list[Any] = []
        self._add_walls(scene)
        for i, body in enumerate(scene.bodies):
            self._add_body(i, body)
        self._plant.Finalize()
        self._simulator = drake.Simulator(builder.Build())
        self._context = self._simulator.get_mutable_context()
        self._plant_context = self._plant.GetMyMutableContextFromRoot(self._context)
        self._start = np.empty(0)

    def set_state(self, qpos: np.ndarray, qvel: np.ndarray) -> None:
        """Sets the state from MuJoCo's coordinates.

        Args:
            qpos: positions and quaternions of the bodies, (7 n,).
            qvel: velocities of the origins in the world frame and angular velocities in the body
                frames, (6 n,).
        """
        drake = self._drake
        for body, q, v in zip(self._bodies, qpos.reshape(-1, 7), qvel.reshape(-1, 6), strict=True):
            rotation = drake.Quaternion(q[3:] / np.linalg.norm(q[3:]))
            pose = drake.RigidTransform(rotation, q[:3])
            rate = pose.rotation().matrix() @ v[3:]
            self._plant.SetFreeBodyPose(self._plant_context, body, pose)
            self._plant.SetFreeBodySpatialVelocity(
                body, drake.SpatialVelocity(rate, v[:3]), self._plant_context
            )
        self._simulator.Initialize()

    def mark(self) -> None:
        """Stores the current state for reset()."""
        self._start = self._plant.GetPositionsAndVelocities(self._plant_context).copy()
        self.reset()

    def reset(self) -> None:
        """Returns to the stored state at time 0."""
        self._context.SetTime(0)
        self._plant.SetPositionsAndVelocities(self._plant_context, self._start)
        self._simulator.Initialize()

    def advance(self, num_steps: int) -> None:
        """Takes num_steps steps."""
        steps_so_far = round(self._context.get_time() / cs.TIME_STEP)
        self._simulator.AdvanceTo((steps_so_far + num_steps) * cs.TIME_STEP)

    def _add_walls(self, scene: cs.ClutterScene) -> None:
        drake = self._drake
        for i, (point, normal) in enumerate(cs.make_walls(scene)):
            pose = drake.HalfSpace.MakePose(np.array(normal, float), np.array(point, float))
            self._plant.RegisterCollisionGeometry(
                self._plant.world_body(), pose, drake.HalfSpace(), f"wall{i}", self._properties()
            )

    def _add_body(self, i: int, body: cs.ClutterBody) -> None:
        drake = self._drake
        side = 2 * cs.RADIUS
        if body.is_sphere:
            inertia = drake.SpatialInertia.SolidSphereWithMass(cs.SPHERE_MASS, cs.RADIUS)
            shape = drake.Sphere(cs.RADIUS)
        else:
            inertia = drake.SpatialInertia.SolidBoxWithMass(cs.BOX_MASS, side, side, side)
            shape = drake.Box(side, side, side)
        added = self._plant.AddRigidBody(f"body{i}", inertia)
        self._plant.RegisterCollisionGeometry(
            added, drake.RigidTransform(), shape, f"geom{i}", self._properties()
        )
        self._bodies.append(added)

    def _properties(self) -> Any:
        return drake_peer.make_properties(
            stiffness=cs.STIFFNESS,
            dissipation=cs.DISSIPATION,
            relaxation_time=cs.RELAXATION_TIME,
            friction=cs.FRICTION,
        )
