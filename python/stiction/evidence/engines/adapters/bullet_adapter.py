"""Bullet, by PyBullet."""

from __future__ import annotations

import math
from importlib.metadata import version
from typing import Any

import numpy as np
import pybullet

from stiction.evidence.engines.drive import State
from stiction.evidence.engines.world import Body, Geom, Vec, Vector, World, find_pose_in_parent

_JOINTS = {"slide": pybullet.JOINT_PRISMATIC, "hinge": pybullet.JOINT_REVOLUTE}


def describe_version() -> str:
    """Returns the engine's name and version."""
    return f"PyBullet {version('pybullet')}"


class BulletAdapter:
    """A PyBullet world as an Adapter.

    Settings: `engine`, arguments of setPhysicsEngineParameter, and `dynamics`, arguments of
        changeDynamics.
    """

    def __init__(self, world: World, time_step: float, settings: dict[str, Any]) -> None:
        self._client = pybullet.connect(pybullet.DIRECT)
        self._world, self._dynamics = world, settings["dynamics"]
        self._call("setTimeStep", time_step)
        self._call("setGravity", *world.gravity)
        self._call("setPhysicsEngineParameter", **settings["engine"])
        for geom in world.ground:
            self._add_ground(geom)
        self._ids: dict[str, tuple[int, int]] = {}  # body and link of each of the world's bodies
        for body in world.bodies:
            if body.parent is None:
                self._add_tree(body)
        for body in world.bodies:
            self._prepare(body)

    def step(self, forces: Vector) -> None:
        for (body, link), force in zip(self._ids.values(), forces, strict=True):
            if force.any():
                where = self._read_body(body, link)[0]
                self._call(
                    "applyExternalForce", body, link, list(force), where, pybullet.WORLD_FRAME
                )
        self._call("stepSimulation")

    def read(self) -> State:
        rows = [self._read_body(*self._ids[body.name]) for body in self._world.bodies]
        pos, quat, velocity, spin = (np.array(column) for column in zip(*rows, strict=True))
        return pos, np.roll(quat, 1, axis=1), velocity, spin

    def take_messages(self) -> list[str]:
        """Returns nothing: Bullet reports no failures."""
        return []

    def __del__(self) -> None:
        pybullet.disconnect(self._client)

    def _call(self, name: str, *arguments: Any, **keywords: Any) -> Any:
        return getattr(pybullet, name)(*arguments, **keywords, physicsClientId=self._client)

    def _read_body(self, body: int, link: int) -> tuple[Vec, Vec, Vec, Vec]:
        if link < 0:
            pos, quat = self._call("getBasePositionAndOrientation", body)
            return (pos, quat, *self._call("getBaseVelocity", body))
        state = self._call(
            "getLinkState", body, link, computeLinkVelocity=1, computeForwardKinematics=1
        )
        return state[0], state[1], state[6], state[7]

    def _add_shape(self, geom: Geom, where: dict[str, Any]) -> int:
        size = geom.size
        shape: dict[str, Any] = {
            "plane": lambda: {"shapeType": pybullet.GEOM_PLANE, "planeNormal": (0, 0, 1)},
            "box": lambda: {"shapeType": pybullet.GEOM_BOX, "halfExtents": size},
            "sphere": lambda: {"shapeType": pybullet.GEOM_SPHERE, "radius": size[0]},
            "cylinder": lambda: {
                "shapeType": pybullet.GEOM_CYLINDER,
                "radius": size[0],
                "height": 2 * size[1],
            },
        }[geom.kind]()
        return int(self._call("createCollisionShape", **shape, **where))

    def _add_body_shape(self, body: Body) -> int:
        """Makes the shape of a body. Bullet places it in the frame of the body's joint."""
        if not body.geoms:
            return -1
        hinge = body.joint.pos if body.joint is not None else (0.0, 0.0, 0.0)
        places = [tuple(a - b for a, b in zip(geom.pos, hinge, strict=True)) for geom in body.geoms]
        if len(body.geoms) == 1:
            turned = _xyzw(body.geoms[0].quat)
            where = {"collisionFramePosition": places[0], "collisionFrameOrientation": turned}
            return self._add_shape(body.geoms[0], where)
        return int(
            self._call(
                "createCollisionShapeArray",
                shapeTypes=[pybullet.GEOM_SPHERE] * len(body.geoms),
                radii=[geom.size[0] for geom in body.geoms],
                collisionFramePositions=places,
            )
        )

    def _add_ground(self, geom: Geom) -> None:
        body = self._call(
            "createMultiBody", 0.0, self._add_shape(geom, {}), -1, geom.pos, _xyzw(geom.quat)
        )
        self._set_dynamics(body, -1, geom.friction)

    def _add_tree(self, root: Body) -> None:
        """Makes a root and its descendants. A root with a joint hangs on a fixed point of the world."""
        links = [] if root.joint is None else [root]
        known = {root.name}
        for body in self._world.bodies:
            if body.parent in known:
                links.append(body)
                known.add(body.name)
        index = {body.name: i + 1 for i, body in enumerate(links)}  # 0 is the base
        columns: dict[str, list[Any]] = {
            "linkMasses": [body.mass for body in links],
            "linkCollisionShapeIndices": [self._add_body_shape(body) for body in links],
            "linkVisualShapeIndices": [-1] * len(links),
            "linkPositions": [self._find_joint_point(body) for body in links],
            "linkOrientations": [_xyzw(find_pose_in_parent(self._world, b)[1]) for b in links],
            "linkInertialFramePositions": [_negate(_joint(body).pos) for body in links],
            "linkInertialFrameOrientations": [(0, 0, 0, 1)] * len(links),
            "linkParentIndices": [index.get(body.parent or "", 0) for body in links],
            "linkJointTypes": [_JOINTS[_joint(body).kind] for body in links],
            "linkJointAxis": [_joint(body).axis for body in links],
        }
        is_free = root.joint is None
        base = self._call(
            "createMultiBody",
            baseMass=root.mass if is_free else 0.0,
            baseCollisionShapeIndex=self._add_body_shape(root) if is_free else -1,
            basePosition=root.pos if is_free else (0, 0, 0),
            baseOrientation=_xyzw(root.quat) if is_free else (0, 0, 0, 1),
            **columns,
        )
        if is_free:
            self._ids[root.name] = (base, -1)
        for i, body in enumerate(links):
            self._ids[body.name] = (base, i)

    def _find_joint_point(self, body: Body) -> Vec:
        """Returns a joint's point in the frame of the parent's joint, or of a base's center of mass."""
        pos, quat = find_pose_in_parent(self._world, body)
        point, _ = pybullet.multiplyTransforms(pos, _xyzw(quat), _joint(body).pos, (0, 0, 0, 1))
        parent = next((each for each in self._world.bodies if each.name == body.parent), None)
        if parent is None or parent.joint is None:
            return tuple(point)
        return tuple(a - b for a, b in zip(point, parent.joint.pos, strict=True))

    def _prepare(self, body: Body) -> None:
        """Sets the start's velocity, the dynamics, and no motor."""
        base, link = self._ids[body.name]
        friction = body.geoms[0].friction if body.geoms else 0.0
        self._set_dynamics(base, link, friction)
        self._call("changeDynamics", base, link, localInertiaDiagonal=body.inertia)
        if body.joint is None:
            self._call("resetBaseVelocity", base, body.velocity, body.spin)
            return
        self._call("resetJointState", base, link, 0.0, body.joint.velocity)
        self._call("setJointMotorControl2", base, link, pybullet.VELOCITY_CONTROL, force=0)

    def _set_dynamics(self, body: int, link: int, friction: float) -> None:
        """Sets the material. Bullet multiplies the friction coefficients of two bodies."""
        surface = self._world.surface
        extra: dict[str, Any] = {}
        if surface.kind == "elastic":
            extra = {"restitution": 1.0}
        if surface.kind == "hertz":
            # Bullet adds the compliances of both bodies.
            extra = {"contactStiffness": 2 * surface.stiffness, "contactDamping": surface.damping}
        still = {"linearDamping": 0.0, "angularDamping": 0.0, "jointDamping": 0.0}
        self._call(
            "changeDynamics",
            body,
            link,
            lateralFriction=math.sqrt(friction),
            spinningFriction=0.0,
            rollingFriction=0.0,
            **still,
            **extra,
            **self._dynamics,
        )


def _joint(body: Body) -> Any:
    return body.joint


def _negate(v: Vec) -> Vec:
    return tuple(-x for x in v)


def _xyzw(quat: Vec) -> Vec:
    return (*quat[1:], quat[0])
