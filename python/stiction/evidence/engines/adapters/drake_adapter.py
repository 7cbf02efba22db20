"""Drake's MultibodyPlant with discrete contact."""

from __future__ import annotations

import logging
import warnings
from importlib.metadata import version
from typing import Any

import numpy as np

from stiction.evidence.engines.corners import RADIUS, list_corners
from stiction.evidence.engines.drive import State, StoppedError
from stiction.evidence.engines.rotations import NO_ROTATION, Vec
from stiction.evidence.engines.trajectory import Vector
from stiction.evidence.engines.world import Body, Geom, World, find_pose_in_parent

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from pydrake import all as drake


def describe_version() -> str:
    """Returns the engine's name and version."""
    return f"Drake {version('drake')}"


class DrakeAdapter:
    """A discrete MultibodyPlant as an Adapter.

    Point contact of Drake has one point per pair of geometries. So boxes and cylinders touch with
    small spheres at their corners and rims, as in Drake's own examples of boxes, and pairs of two
    boxes and of two such spheres are left out.

    Settings: `approximation` and `contact_model` of the plant, `stiction_tolerance` [m/s],
        `stiffness` of rigid points
    [N/m], `dissipation` [s/m], `modulus` of rigid bodies in hydroelastic contact [Pa].
    """

    def __init__(self, world: World, time_step: float, settings: dict[str, Any]) -> None:
        logging.getLogger("drake").setLevel(logging.ERROR)
        self._settings, self._time_step, self._surface = settings, time_step, world.surface
        self._is_field = settings["contact_model"] != "point"
        builder = drake.DiagramBuilder()
        config = drake.MultibodyPlantConfig()
        config.time_step = time_step
        config.discrete_contact_approximation = settings["approximation"]
        config.contact_model = settings["contact_model"]
        config.stiction_tolerance = settings["stiction_tolerance"]
        if world.surface.kind in ("elastic", "hertz", "field"):
            config.sap_near_rigid_threshold = 0.0  # the stiffness is given
        self._plant, self._graph = drake.AddMultibodyPlant(config, builder)
        self._plant.mutable_gravity_field().set_gravity_vector(np.array(world.gravity))
        self._solids: list[Any] = []
        self._points: list[Any] = []
        for i, geom in enumerate(world.ground):
            self._add_geom(self._plant.world_body(), geom, f"ground{i}", is_ground=True)
        self._bodies = {body.name: self._add_body(world, body) for body in world.bodies}
        self._plant.Finalize()
        self._leave_out_pairs()
        self._simulator = drake.Simulator(builder.Build())
        self._context = self._simulator.get_mutable_context()
        self._plant_context = self._plant.GetMyMutableContextFromRoot(self._context)
        self._set_start(world)
        self._forces: Vector | None = None
        self._apply(np.zeros((len(world.bodies), 3)))
        self._simulator.Initialize()
        self._steps = 0

    def step(self, forces: Vector) -> None:
        """Takes a step."""
        if self._forces is None or not np.array_equal(forces, self._forces):
            self._apply(forces)
        self._steps += 1
        try:
            self._simulator.AdvanceTo(self._steps * self._time_step)
        except RuntimeError as e:
            raise StoppedError(" ".join(str(e).split())[:300]) from e

    def read(self) -> State:
        """Returns the state."""
        rows = []
        for body in self._bodies.values():
            pose = self._plant.EvalBodyPoseInWorld(self._plant_context, body)
            rate = self._plant.EvalBodySpatialVelocityInWorld(self._plant_context, body)
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
        for body, force in zip(self._bodies.values(), forces, strict=True):
            each = drake.ExternallyAppliedSpatialForce()
            each.body_index = body.index()
            each.p_BoBq_B = np.zeros(3)
            each.F_Bq_W = drake.SpatialForce(np.zeros(3), np.array(force))
            applied.append(each)
        self._plant.get_applied_spatial_force_input_port().FixValue(self._plant_context, applied)
        self._forces = np.array(forces)

    def _add_body(self, world: World, body: Body) -> Any:
        plant = self._plant
        central = drake.RotationalInertia(*body.inertia)
        inertia = drake.SpatialInertia.MakeFromCentralInertia(body.mass, np.zeros(3), central)
        added = plant.AddRigidBody(body.name, inertia)
        for i, geom in enumerate(body.geoms):
            self._add_geom(added, geom, f"{body.name}{i}", is_ground=False)
        if body.joint is None:
            return added
        parent = plant.world_body() if body.parent is None else plant.GetBodyByName(body.parent)
        pose = _make_pose(*find_pose_in_parent(world, body))
        offset = _make_pose(body.joint.pos, NO_ROTATION)
        frames = [
            plant.AddFrame(drake.FixedOffsetFrame(f"{body.name}_{name}", frame, X))
            for name, frame, X in (
                ("parent", parent.body_frame(), pose @ offset),
                ("child", added.body_frame(), offset),
            )
        ]
        kind = {"slide": drake.PrismaticJoint, "hinge": drake.RevoluteJoint}[body.joint.kind]
        plant.AddJoint(kind(body.name, *frames, np.array(body.joint.axis)))
        return added

    def _add_geom(self, body: Any, geom: Geom, name: str, *, is_ground: bool) -> None:
        properties = self._make_properties(geom, is_ground=is_ground)
        pose = _make_pose(geom.pos, geom.quat)
        register = self._plant.RegisterCollisionGeometry
        added = register(body, pose, _make_shape(geom), name, properties)
        if self._is_field or geom.kind not in ("box", "cylinder"):
            return
        self._solids.append(added)
        if is_ground:
            return
        for i, center in enumerate(list_corners(geom.kind, geom.size)):
            where = pose @ _make_pose(center, NO_ROTATION)
            sphere = register(body, where, drake.Sphere(RADIUS), f"{name}_{i}", properties)
            self._points.append(sphere)

    def _leave_out_pairs(self) -> None:
        """Excludes contact between two solids, and between two spheres at corners."""
        manager = self._graph.collision_filter_manager()
        for group in (self._solids, self._points):
            within = drake.CollisionFilterDeclaration().ExcludeWithin(drake.GeometrySet(group))
            manager.Apply(within)
        # The plane and a box touch in the corners' spheres only.
        inspector = self._graph.model_inspector()
        planes = [g for g in inspector.GetAllGeometryIds() if _is_half_space(inspector, g)]
        between = drake.CollisionFilterDeclaration().ExcludeBetween(
            drake.GeometrySet(planes), drake.GeometrySet(self._solids)
        )
        manager.Apply(between)

    def _make_properties(self, geom: Geom, *, is_ground: bool) -> Any:
        """Returns the proximity properties of a geom. Two surfaces act in series, so each is twice
        as stiff."""
        surface, settings = self._surface, self._settings
        properties = drake.ProximityProperties()
        given = surface.kind in ("elastic", "hertz")
        drake.AddContactMaterial(
            dissipation=0.0 if surface.kind == "elastic" else settings["dissipation"],
            point_stiffness=2 * (surface.stiffness if given else settings["stiffness"]),
            friction=drake.CoulombFriction(geom.friction, geom.friction),
            properties=properties,
        )
        relaxation = 0.0 if surface.kind == "elastic" else self._time_step / 2
        properties.AddProperty("material", "relaxation_time", relaxation)
        if self._is_field and not given:
            self._add_field(properties, geom, is_ground=is_ground)
        return properties

    def _add_field(self, properties: Any, geom: Geom, *, is_ground: bool) -> None:
        """Adds hydroelastic properties: a compliant slab and rigid bodies, or compliant bodies on a
        rigid ground."""
        surface = self._surface
        is_plane = geom.kind == "plane"
        hint = surface.hint or 0.1 * min(geom.size)  # a tenth of the smallest size
        if surface.kind == "field" and is_plane:
            drake.AddCompliantHydroelasticPropertiesForHalfSpace(
                surface.thickness, surface.modulus, properties
            )
        elif surface.kind == "field" or is_ground:
            drake.AddRigidHydroelasticProperties(*([] if is_plane else [hint]), properties)
        else:
            modulus = self._settings["modulus"]
            drake.AddCompliantHydroelasticProperties(hint, modulus, properties)

    def _set_start(self, world: World) -> None:
        plant, context = self._plant, self._plant_context
        for body in world.bodies:
            if body.joint is None:
                added = self._bodies[body.name]
                plant.SetFreeBodyPose(context, added, _make_pose(body.pos, body.quat))
                rate = drake.SpatialVelocity(np.array(body.spin), np.array(body.velocity))
                plant.SetFreeBodySpatialVelocity(context, added, rate)
                continue
            joint = plant.GetJointByName(body.name)
            is_slide = body.joint.kind == "slide"
            set_rate = joint.set_translation_rate if is_slide else joint.set_angular_rate
            set_rate(context, body.joint.velocity)


def _make_pose(position: Vec, quaternion: Vec) -> Any:
    unit = np.array(quaternion) / np.linalg.norm(quaternion)
    return drake.RigidTransform(drake.Quaternion(unit), np.array(position))


def _make_shape(geom: Geom) -> Any:
    """Returns Drake's shape. The world has radii and half lengths, and Drake has lengths."""
    size = geom.size
    shapes = {
        "plane": lambda: drake.HalfSpace(),
        "box": lambda: drake.Box(*(2 * x for x in size)),
        "sphere": lambda: drake.Sphere(size[0]),
        "cylinder": lambda: drake.Cylinder(size[0], 2 * size[1]),
    }
    return shapes[geom.kind]()


def _is_half_space(inspector: Any, geometry: Any) -> bool:
    return isinstance(inspector.GetShape(geometry), drake.HalfSpace)
