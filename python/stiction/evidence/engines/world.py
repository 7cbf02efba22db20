"""A scene as data that every engine can build: bodies, joints, geoms, forces; and its motion.

The modules `world`, `drive`, `worker`, `mjcf` and those in `adapters` also run in
environments that have an engine but no Stiction. They import only numpy, each other and their engine.

A body's frame is at its center of mass, along its principal axes.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

# ---- Rotations as quaternions (w, x, y, z), in plain Python --------------------------------------

Vec = tuple[float, ...]
NO_ROTATION: Vec = (1.0, 0.0, 0.0, 0.0)


def turn_about_y(angle: float) -> Vec:
    """Returns the quaternion of a rotation about y [rad]."""
    return (math.cos(angle / 2), 0.0, math.sin(angle / 2), 0.0)


def rotate(quat: Vec, v: Vec) -> Vec:
    """Returns a vector rotated by a unit quaternion."""
    w, x, y, z = quat
    tx, ty, tz = (
        2 * (y * v[2] - z * v[1]),
        2 * (z * v[0] - x * v[2]),
        2 * (x * v[1] - y * v[0]),
    )
    return (
        v[0] + w * tx + y * tz - z * ty,
        v[1] + w * ty + z * tx - x * tz,
        v[2] + w * tz + x * ty - y * tx,
    )


def invert(quat: Vec) -> Vec:
    """Returns the inverse of a unit quaternion."""
    return (quat[0], -quat[1], -quat[2], -quat[3])


def multiply(a: Vec, b: Vec) -> Vec:
    """Returns the product of two quaternions."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


# ---- Bodies, joints and geoms --------------------------------------------------------------------


@dataclass(frozen=True)
class Geom:
    """A shape that collides."""

    # 'plane' (z = 0 of its frame, solid below), 'box', 'sphere', 'cylinder' (along z) or
    # 'ellipsoid', which only Newton's adapter takes.
    kind: str
    # Half lengths of a box; radius of a sphere; radius and half length of a cylinder; half axes of
    # an ellipsoid [m].
    size: Vec
    # Coefficient of a pair of two such geoms [-]. Geoms that touch have equal coefficients, because
    # engines combine unequal ones by different rules.
    friction: float
    # pos, quat: pose in the body, or in the world.
    pos: Vec = (0.0, 0.0, 0.0)
    quat: Vec = NO_ROTATION


@dataclass(frozen=True)
class Joint:
    """A joint between a body and its parent."""

    kind: str  # 'slide' or 'hinge'
    axis: Vec  # unit vector in the body's frame
    pos: Vec = (0.0, 0.0, 0.0)  # a point of a hinge's axis in the body's frame [m]
    velocity: float = 0.0  # rate at the start [m/s or rad/s]


@dataclass(frozen=True)
class Body:
    """A moving body."""

    name: str
    # pos, quat: pose in the world at the start.
    pos: Vec
    mass: float  # [kg]
    inertia: Vec  # principal moments [kg m^2]
    geoms: tuple[Geom, ...] = ()
    quat: Vec = NO_ROTATION
    joint: Joint | None = None  # the joint to the parent; None means that the body is free
    # velocity, spin: of a free body at the start, in the world's frame [m/s], [rad/s].
    velocity: Vec = (0.0, 0.0, 0.0)
    spin: Vec = (0.0, 0.0, 0.0)
    parent: str | None = None  # name of the parent, or None for the world
    force: Vec = (0.0, 0.0, 0.0)  # constant force on the center of mass, in the world's frame [N]


@dataclass(frozen=True)
class Surface:
    """The material of all geoms of a world."""

    # The kind of contact that the scene needs: 'rigid': as stiff as the engine can; 'elastic': rebounds
    # without loss, with the stiffness `stiffness` [N/m] if the engine needs one; 'hertz': elastic
    # half spaces with the contact modulus `modulus` [Pa]. Engines without Hertz's law take the
    # stiffness `stiffness` [N/m], which is right for the load `load` [N]; 'field': the ground is a
    # compliant slab with the pressure `modulus` [Pa] at the depth `thickness` [m]; bodies are
    # rigid. Engines without pressure fields touch in points, as stiff as they can.
    kind: str = "rigid"
    stiffness: float = 0.0
    modulus: float = 0.0
    load: float = 0.0
    thickness: float = 0.0
    hint: float = 0.0  # edge length of meshes of pressure fields [m]

    @property
    def damping(self) -> float:
        """Damping of engines with springs and dashpots [N s/m]: none, or critical for the load."""
        return 2 * math.sqrt(self.stiffness * self.load / 9.81) if self.kind == "hertz" else 0.0


@dataclass(frozen=True)
class World:
    """A scene at its start. Bodies come after their parents."""

    bodies: tuple[Body, ...]
    ground: tuple[Geom, ...] = ()  # geoms that are fixed to the world
    gravity: Vec = (0.0, 0.0, -9.81)  # [m/s^2]
    surface: Surface = field(default_factory=Surface)


def to_plain(world: World) -> dict[str, Any]:
    """Returns the world as plain data for JSON."""
    return asdict(world)


def from_plain(plain: dict[str, Any]) -> World:
    """Returns the world of to_plain()."""
    return World(
        bodies=tuple(_make_body(body) for body in plain["bodies"]),
        ground=tuple(_make_geom(geom) for geom in plain["ground"]),
        gravity=tuple(plain["gravity"]),
        surface=Surface(**plain["surface"]),
    )


def _make_geom(plain: dict[str, Any]) -> Geom:
    return Geom(**_with_tuples(plain))


def _make_body(plain: dict[str, Any]) -> Body:
    fields = _with_tuples(plain)
    fields["geoms"] = tuple(_make_geom(geom) for geom in plain["geoms"])
    if plain["joint"] is not None:
        fields["joint"] = Joint(**_with_tuples(plain["joint"]))
    return Body(**fields)


def _with_tuples(plain: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(v) if isinstance(v, list | tuple) else v for key, v in plain.items()}


def make_box(name: str, half: Vec, mass: float, friction: float, **fields: Any) -> Body:
    """Returns a solid box with its geom. `fields` are those of Body, such as pos."""
    x, y, z = (size * size for size in half)
    inertia = (mass * (y + z) / 3, mass * (x + z) / 3, mass * (x + y) / 3)
    return Body(
        name=name, mass=mass, inertia=inertia, geoms=(Geom("box", half, friction),), **fields
    )


def make_sphere(name: str, radius: float, mass: float, friction: float, **fields: Any) -> Body:
    """Returns a solid sphere with its geom. `fields` are those of Body, such as pos."""
    moment = 0.4 * mass * radius**2
    return Body(
        name=name,
        mass=mass,
        inertia=(moment,) * 3,
        geoms=(Geom("sphere", (radius,), friction),),
        **fields,
    )


def tilt_gravity(angle: float, gravity: float = 9.81) -> Vec:
    """Returns the gravity in the frame of a plane that falls towards +x by `angle` [rad]."""
    return (gravity * math.sin(angle), 0.0, -gravity * math.cos(angle))


def find_pose_in_parent(world: World, body: Body) -> tuple[Vec, Vec]:
    """Returns position and quaternion of a body in its parent's frame at the start."""
    if body.parent is None:
        return body.pos, body.quat
    parent = next(each for each in world.bodies if each.name == body.parent)
    inverse = invert(parent.quat)
    apart = tuple(a - b for a, b in zip(body.pos, parent.pos, strict=True))
    return rotate(inverse, apart), multiply(inverse, body.quat)


# ---- The motion that an engine computed, and how it is stored ------------------------------------

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Trajectory:
    """The samples of a run."""

    names: tuple[str, ...]  # names of the bodies
    # [s], (n,). The first sample is the start.
    time: Vector
    pos: Vector  # positions of the centers of mass [m], (n, bodies, 3)
    quat: Vector  # rotations as (w, x, y, z), (n, bodies, 4)
    # velocity, spin: in the world's frame [m/s], [rad/s], (n, bodies, 3).
    velocity: Vector
    spin: Vector

    def find(self, name: str) -> int:
        """Returns the index of a body."""
        return self.names.index(name)

    def save(self, path: Path) -> None:
        """Writes a compressed file of arrays."""
        np.savez_compressed(
            path,
            names=np.array(self.names),
            time=self.time,
            pos=self.pos,
            quat=self.quat,
            velocity=self.velocity,
            spin=self.spin,
        )

    @staticmethod
    def load(path: Path) -> Trajectory:
        """Reads a file of save()."""
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            arrays: dict[str, Any] = {key: file[key] for key in file.files}
        names = tuple(str(name) for name in arrays.pop("names"))
        return Trajectory(names=names, **arrays)
