"""Time steps with Pinocchio's dynamics, coal's contact patches and the ADMM constraint solver.

Pinocchio has no step of its own, so this adapter takes the usual one. The solver finds the impulses
that keep the velocities at the end of the step in the laws of Signorini and Coulomb; the velocities
then move the bodies.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import coal
import numpy as np
import pinocchio as pin

from stiction.evidence.engines.drive import State
from stiction.evidence.engines.world import (
    Body,
    Geom,
    Vec,
    Vector,
    World,
    find_pose_in_parent,
    invert,
    rotate,
)


def describe_version() -> str:
    """Returns the engine's name and version."""
    return f"Pinocchio {pin.__version__} (coal {coal.__version__})"


class PinocchioAdapter:
    """A Pinocchio model with time steps as an Adapter.

    Settings: `solver`, fields of ADMMSolverSettings; `margin`, the distance at which contacts begin
        [m]; `correction`, the share of a rigid penetration that a step removes [-].
    """

    def __init__(self, world: World, time_step: float, settings: dict[str, Any]) -> None:
        self._world, self._time_step, self._correction = world, time_step, settings["correction"]
        self._model, self._geoms = pin.Model(), pin.GeometryModel()
        self._model.gravity.linear = np.array(world.gravity)
        self._friction: list[float] = []
        for geom in world.ground:
            self._add_geom(0, pin.SE3.Identity(), geom)
        self._joints: dict[str | None, int] = {None: 0}
        self._in_joint: dict[str | None, pin.SE3] = {None: pin.SE3.Identity()}  # poses of bodies
        for body in world.bodies:
            self._add_body(body)
        self._add_pairs(settings["margin"])
        self._data, self._geom_data = self._model.createData(), self._geoms.createData()
        for request in self._geom_data.collisionRequests:
            request.enable_contact, request.security_margin = True, settings["margin"]
        self._solver, self._solver_settings = pin.ADMMConstraintSolver(), pin.ADMMSolverSettings()
        for name, value in settings["solver"].items():
            setattr(self._solver_settings, name, value)
        self._is_converged = True
        self._q, self._v = self._make_start()

    def step(self, forces: Vector) -> None:
        model, data, dt = self._model, self._data, self._time_step
        pin.computeJointJacobians(model, data, self._q)
        outer = self._make_outer_forces(forces)
        free = self._v + dt * pin.aba(model, data, self._q, self._v, np.zeros(model.nv), outer)
        models, gaps = self._find_contacts()
        self._is_converged = True
        if len(gaps):
            torque = self._solve(models, gaps, free) / dt
            free = self._v + dt * pin.aba(model, data, self._q, self._v, torque, outer)
        self._v = free
        self._q = pin.integrate(model, self._q, dt * self._v)

    def read(self) -> State:
        pin.forwardKinematics(self._model, self._data, self._q, self._v)
        rows = []
        for body in self._world.bodies:
            joint, place = self._joints[body.name], self._in_joint[body.name]
            pose = self._data.oMi[joint] * place
            rate = place.actInv(self._data.v[joint])
            turn = pose.rotation
            quat = np.roll(pin.Quaternion(turn).coeffs(), 1)
            rows.append((pose.translation, quat, turn @ rate.linear, turn @ rate.angular))
        pos, quat, velocity, spin = (np.array(column) for column in zip(*rows, strict=True))
        return pos, quat, velocity, spin

    def take_messages(self) -> list[str]:
        """Returns whether the solver of the last step missed its tolerance."""
        return [] if self._is_converged else ["not_converged"]

    def _solve(self, models: Any, gaps: Vector, free: Vector) -> Vector:
        """Returns the generalized impulses of the contacts."""
        model, data, dt = self._model, self._data, self._time_step
        surface = self._world.surface
        datas = pin.StdVec_ConstraintData()
        for contact in models:
            datas.append(contact.createData())
            contact.calc(model, data, datas[-1])
        jacobian = pin.getConstraintsJacobian(model, data, models, datas)
        inverse = pin.computeMinverse(model, data, self._q)
        inverse = np.triu(inverse) + np.triu(inverse, 1).T
        delassus = pin.DelassusOperatorDense(jacobian @ inverse @ jacobian.T)
        correction = self._correction
        if surface.kind in ("elastic", "hertz"):
            # The impulse of a spring and a dashpot, -dt (k (gap + dt v) + d v), as a relation of v.
            stiff = dt * surface.stiffness + surface.damping
            correction = dt * surface.stiffness / stiff
            delassus.updateCompliance(np.tile([0.0, 0.0, 1 / (dt * stiff)], len(gaps)))
        share = np.where(gaps > 0, 1.0, correction)
        drift = jacobian @ free
        drift[2::3] += share * gaps / dt
        result = pin.ADMMSolverResult()
        self._solver.solve(delassus, drift, models, datas, self._solver_settings, result)
        self._is_converged = result.converged
        return np.asarray(jacobian.T @ result.retrieveConstraintImpulses())

    def _find_contacts(self) -> tuple[Any, Vector]:
        """Returns the points of all contact patches, and their gaps [m]. Points of a patch have one
        normal and one gap."""
        models, gaps = pin.StdVec_ConstraintModel(), []
        pin.computeCollisions(self._model, self._data, self._geoms, self._geom_data, self._q, False)
        pin.computeContactPatches(self._geoms, self._geom_data)
        for pair, result in zip(
            self._geoms.collisionPairs, self._geom_data.contactPatchResults, strict=True
        ):
            for k in range(result.numContactPatches()):
                patch = result.getContactPatch(k)
                for i in range(patch.size()):
                    at = _make_frame(patch.getPoint(i), patch.getNormal())
                    models.append(self._make_contact(pair, at))
                    gaps.append(patch.penetration_depth)
        return models, np.array(gaps)

    def _make_contact(self, pair: pin.CollisionPair, at: pin.SE3) -> pin.ConstraintModel:
        joints = [self._geoms.geometryObjects[k].parentJoint for k in (pair.first, pair.second)]
        places = [self._data.oMi[joint].actInv(at) for joint in joints]
        contact = pin.PointContactConstraintModel(
            self._model, joints[0], places[0], joints[1], places[1]
        )
        contact.setFriction(self._friction[pair.first])
        return pin.ConstraintModel(contact)

    def _make_outer_forces(self, forces: Vector) -> Any:
        """Returns the forces on the centers of mass in the frames of the joints."""
        outer = pin.StdVec_Force()
        outer.extend([pin.Force.Zero() for _ in range(self._model.njoints)])
        for body, force in zip(self._world.bodies, forces, strict=True):
            joint, place = self._joints[body.name], self._in_joint[body.name]
            turned = (self._data.oMi[joint] * place).rotation.T @ force
            outer[joint] = place.act(pin.Force(turned, np.zeros(3)))
        return outer

    def _add_body(self, body: Body) -> None:
        place, joint = pin.SE3.Identity(), body.joint
        if joint is None:
            # A free body is a translation, whose rates are in the world's frame, and a rotation. In a
            # frame that turns with the body, a step of Euler's method would make energy.
            base = self._model.addJoint(0, pin.JointModelTranslation(), place, f"{body.name} pos")
            index = self._model.addJoint(base, pin.JointModelSpherical(), place, body.name)
        else:
            is_slide = joint.kind == "slide"
            make = pin.JointModelPrismaticUnaligned if is_slide else pin.JointModelRevoluteUnaligned
            pose, point = find_pose_in_parent(self._world, body), _make_pose(joint.pos)
            at = self._in_joint[body.parent] * _make_pose(*pose) * point
            parent, place = self._joints[body.parent], point.inverse()
            index = self._model.addJoint(parent, make(np.array(joint.axis)), at, body.name)
        inertia = pin.Inertia(body.mass, np.zeros(3), np.diag(body.inertia))
        self._model.appendBodyToJoint(index, inertia, place)
        self._joints[body.name], self._in_joint[body.name] = index, place
        for geom in body.geoms:
            self._add_geom(index, place, geom)

    def _add_geom(self, joint: int, place: pin.SE3, geom: Geom) -> None:
        size = geom.size
        shape = {
            "plane": lambda: coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0),
            "box": lambda: coal.Box(2 * np.array(size)),
            "sphere": lambda: coal.Sphere(size[0]),
            "cylinder": lambda: coal.Cylinder(size[0], 2 * size[1]),
        }[geom.kind]()
        name, where = f"geom{len(self._friction)}", place * _make_pose(geom.pos, geom.quat)
        self._geoms.addGeometryObject(pin.GeometryObject(name, joint, where, shape))
        self._friction.append(geom.friction)

    def _add_pairs(self, margin: float) -> None:
        """Adds all pairs of geoms that are not on one body, nor on a body and its parent."""
        for a, b in combinations(range(len(self._friction)), 2):
            one, two = (self._geoms.geometryObjects[i].parentJoint for i in (a, b))
            parents = self._model.parents
            is_tied = one == two or (one and parents[two] == one) or (two and parents[one] == two)
            if not is_tied:
                self._geoms.addCollisionPair(pin.CollisionPair(a, b))

    def _make_start(self) -> tuple[Vector, Vector]:
        """Returns positions and velocities at the start."""
        q, v = pin.neutral(self._model), np.zeros(self._model.nv)
        for body in self._world.bodies:
            joint = self._model.joints[self._joints[body.name]]
            if body.joint is not None:
                v[joint.idx_v] = body.joint.velocity
                continue
            q[joint.idx_q - 3 : joint.idx_q + 4] = (*body.pos, *body.quat[1:], body.quat[0])
            spin = rotate(invert(body.quat), body.spin)
            v[joint.idx_v - 3 : joint.idx_v + 3] = (*body.velocity, *spin)
        return q, v


def _make_pose(pos: Vec, quat: Vec = (1.0, 0.0, 0.0, 0.0)) -> pin.SE3:
    return pin.SE3(pin.Quaternion(*quat).matrix(), np.array(pos))


def _make_frame(point: Vector, normal: Vector) -> pin.SE3:
    """Returns a frame at a point, whose z axis is the normal."""
    turn = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), normal).matrix()
    return pin.SE3(turn, point)
