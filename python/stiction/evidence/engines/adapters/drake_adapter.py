"""Drake's MultibodyPlant with discrete contact."""

from __future__ import annotations

import math
from importlib.metadata import version
from typing import Any

import numpy as np

from stiction.evidence.engines.drake_plant import DrakePlant
from stiction.evidence.engines.drive import State, StoppedError
from stiction.evidence.engines.world import Body, Geom, Vec, Vector, World, find_pose_in_parent

_CORNER_RADIUS = 1e-4  # of the spheres at corners and rims [m]
_RIM_SPHERES = 16


def describe_version() -> str:
    """Returns the engine's name and version."""
    return f"Drake {version('drake')}"


class DrakeAdapter:
    """A discrete MultibodyPlant as an Adapter.

    Point contact of Drake has one point per pair of geometries. So boxes and cylinders touch with
    small spheres at their corners and rims, as in Drake's own examples of boxes, and pairs of two
    boxes and of two such spheres are left out.

    Settings: `approximation` and `contact_model` of the plant, `stiction_tolerance` [m/s],
        `stiffness` of rigid points [N/m], `dissipation` [s/m], `modulus` of rigid bodies in
        hydroelastic contact [Pa].
    """

    def __init__(self, world: World, time_step: float, settings: dict[str, Any]) -> None:
        self._settings, self._time_step, self._surface = settings, time_step, world.surface
        self._is_field = settings["contact_model"] != "point"
        is_given = world.surface.kind in ("elastic", "hertz", "field")  # the stiffness
        self._drake = DrakePlant(
            time_step,
            world.gravity,
            settings["approximation"],
            contact_model=settings["contact_model"],
            stiction_tolerance=settings["stiction_tolerance"],
            sap_near_rigid_threshold=0.0 if is_given else None,
        )
        self._plant = self._drake.plant
        self._solids: list[Any] = []
        self._points: list[Any] = []
        for i, geom in enumerate(world.ground):
            self._add_geom(self._plant.world_body(), geom, f"ground{i}", is_ground=True)
        self._bodies = {body.name: self._add_body(world, body) for body in world.bodies}
        self._plant.Finalize()
        self._leave_out_pairs()
        self._drake.finish()
        self._set_start(world)
        self._forces: Vector | None = None
        self._apply(np.zeros((len(world.bodies), 3)))
        self._drake.initialize()
        self._steps = 0

    def step(self, forces: Vector) -> None:
        if self._forces is None or not np.array_equal(forces, self._forces):
            self._apply(forces)
        self._steps += 1
        try:
            self._drake.advance_to(self._steps * self._time_step)
        except RuntimeError as e:
            raise StoppedError(" ".join(str(e).split())[:300]) from e

    def read(self) -> State:
        rows = []
        for body in self._bodies.values():
            pose = self._plant.EvalBodyPoseInWorld(self._drake.context, body)
            rate = self._plant.EvalBodySpatialVelocityInWorld(self._drake.context, body)
            quat = pose.rotation().ToQuaternion().wxyz()
            rows.append((pose.translation(), quat, rate.translational(), rate.rotational()))
        pos, quat, velocity, spin = (np.array(column) for column in zip(*rows, strict=True))
        return pos, quat, velocity, spin

    def take_messages(self) -> list[str]:
        """Returns nothing: Drake reports a failed step by an exception."""
        return []

    def _apply(self, forces: Vector) -> None:
        """Sets the forces on the centers of mass."""
        applied = []
        drake = self._drake.drake
        for body, force in zip(self._bodies.values(), forces, strict=True):
            each = drake.ExternallyAppliedSpatialForce()
            each.body_index = body.index()
            each.p_BoBq_B = np.zeros(3)
            each.F_Bq_W = drake.SpatialForce(np.zeros(3), np.array(force))
            applied.append(each)
        self._plant.get_applied_spatial_force_input_port().FixValue(self._drake.context, applied)
        self._forces = np.array(forces)

    def _add_body(self, world: World, body: Body) -> Any:
        made = self._drake
        added = made.add_body(body.name, body.mass, body.inertia)
        for i, geom in enumerate(body.geoms):
            self._add_geom(added, geom, f"{body.name}{i}", is_ground=False)
        if body.joint is None:
            return added
        plant, joint = self._plant, body.joint
        parent = plant.world_body() if body.parent is None else plant.GetBodyByName(body.parent)
        offset = made.make_pose(joint.pos)
        at = made.make_pose(*find_pose_in_parent(world, body)) @ offset
        made.add_joint(joint.kind, body.name, parent, added, joint.axis, at, offset)
        return added

    def _add_geom(self, body: Any, geom: Geom, name: str, *, is_ground: bool) -> None:
        made = self._drake
        properties = self._make_properties(geom, is_ground=is_ground)
        pose = made.make_pose(geom.pos, geom.quat)
        shape = made.make_shape(geom.kind, geom.size)
        added = made.add_geom(body, shape, pose, name, properties)
        if self._is_field or geom.kind not in ("box", "cylinder"):
            return
        self._solids.append(added)
        if is_ground:
            return
        for i, center in enumerate(list_corners(geom.kind, geom.size)):
            sphere = made.drake.Sphere(_CORNER_RADIUS)
            where = pose @ made.make_pose(center)
            self._points.append(made.add_geom(body, sphere, where, f"{name}_{i}", properties))

    def _leave_out_pairs(self) -> None:
        """Excludes contact between two solids, and between two spheres at corners."""
        drake, graph = self._drake.drake, self._drake.graph
        manager = graph.collision_filter_manager()
        for group in (self._solids, self._points):
            within = drake.CollisionFilterDeclaration().ExcludeWithin(drake.GeometrySet(group))
            manager.Apply(within)
        # The plane and a box touch in the corners' spheres only.
        inspector = graph.model_inspector()
        planes = [
            geometry
            for geometry in inspector.GetAllGeometryIds()
            if isinstance(inspector.GetShape(geometry), drake.HalfSpace)
        ]
        between = drake.CollisionFilterDeclaration().ExcludeBetween(
            drake.GeometrySet(planes), drake.GeometrySet(self._solids)
        )
        manager.Apply(between)

    def _make_properties(self, geom: Geom, *, is_ground: bool) -> Any:
        """Returns the properties of a geom. Two surfaces act in series, so each is twice as
        stiff. In hydroelastic contact there are a compliant slab and rigid bodies, or compliant
        bodies on a rigid ground."""
        surface, settings = self._surface, self._settings
        is_given, is_slab = surface.kind in ("elastic", "hertz"), surface.kind == "field"
        is_plane, is_elastic = geom.kind == "plane", surface.kind == "elastic"
        has_field = self._is_field and not is_given
        is_rigid = not is_plane if is_slab else is_ground
        return self._drake.make_properties(
            friction=geom.friction,
            dissipation=0.0 if is_elastic else settings["dissipation"],
            relaxation_time=0.0 if is_elastic else self._time_step / 2,
            stiffness=2 * (surface.stiffness if is_given else settings["stiffness"]),
            is_plane=is_plane,
            is_rigid=has_field and is_rigid,
            hint=surface.hint or 0.1 * min(geom.size),  # a tenth of the smallest size
            modulus=(surface.modulus if is_slab else settings["modulus"]) if has_field else None,
            thickness=surface.thickness,
        )

    def _set_start(self, world: World) -> None:
        for body in world.bodies:
            if body.joint is None:
                self._drake.set_free_body(
                    self._bodies[body.name], body.pos, body.quat, body.velocity, body.spin
                )
                continue
            joint = self._plant.GetJointByName(body.name)
            is_slide = body.joint.kind == "slide"
            set_rate = joint.set_translation_rate if is_slide else joint.set_angular_rate
            set_rate(self._drake.context, body.joint.velocity)


def list_corners(kind: str, size: Vec) -> list[Vec]:
    """Returns the centers of spheres that are flush with the faces of a box, or with the ends of a
    cylinder [m]; none for other shapes. Kind and size are as in world.Geom."""
    inner = [s - _CORNER_RADIUS for s in size]
    if kind == "box":
        x, y, z = inner
        return [(i * x, j * y, k * z) for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)]
    if kind == "cylinder":
        radius, half = inner
        angles = [2 * math.pi * i / _RIM_SPHERES for i in range(_RIM_SPHERES)]
        return [
            (radius * math.cos(a), radius * math.sin(a), k * half) for a in angles for k in (-1, 1)
        ]
    return []
