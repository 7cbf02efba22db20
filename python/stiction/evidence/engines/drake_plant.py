"""Drake's MultibodyPlant, for all comparisons; it also runs without Stiction, see `world`."""

from __future__ import annotations

import logging
import warnings
from typing import Any

import numpy as np

from stiction.evidence.engines.world import NO_ROTATION

NO_PLACE = (0.0, 0.0, 0.0)


def is_installed() -> bool:
    """True if pydrake can be imported."""
    try:
        load()
    except ImportError:
        return False
    return True


def load() -> Any:
    """Returns pydrake.all with its warnings silenced: it warns about every half-space."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pydrake import all as drake

    logging.getLogger("drake").setLevel(logging.ERROR)
    return drake


class DrakePlant:
    """A plant to which bodies, joints and geoms are added, and after finish() its simulator and
    context. Attributes of `config` that are None keep their defaults."""

    def __init__(self, time_step: float, gravity: Any, scheme: str = "sap", **config: Any) -> None:
        self.drake = drake = load()
        self.time_step = time_step
        self._builder = drake.DiagramBuilder()
        values = drake.MultibodyPlantConfig()
        values.time_step = 0.0 if scheme == "cenic" else time_step
        if scheme != "cenic":
            values.discrete_contact_approximation = scheme
        for name, value in config.items():
            if value is not None:
                setattr(values, name, value)
        self.plant, self.graph = drake.AddMultibodyPlant(values, self._builder)
        self.plant.mutable_gravity_field().set_gravity_vector(np.array(gravity))
        self._start = np.empty(0)

    # ---- construction -------------------------------------------------------------------------------

    def make_pose(self, position: Any = NO_PLACE, quaternion: Any = NO_ROTATION) -> Any:
        """Returns the transform of a position [m] and a quaternion."""
        unit = np.array(quaternion) / np.linalg.norm(quaternion)
        return self.drake.RigidTransform(self.drake.Quaternion(unit), np.array(position))

    def make_shape(self, kind: str, size: Any) -> Any:
        """Returns a shape from MuJoCo's sizes, radii and half lengths [m]; Drake has lengths."""
        drake = self.drake
        shapes = {
            "plane": lambda: drake.HalfSpace(),
            "sphere": lambda: drake.Sphere(size[0]),
            "ellipsoid": lambda: drake.Ellipsoid(*size),
            "capsule": lambda: drake.Capsule(size[0], 2 * size[1]),
            "cylinder": lambda: drake.Cylinder(size[0], 2 * size[1]),
            "box": lambda: drake.Box(*(2 * x for x in size)),
        }
        return shapes[kind]()

    def make_properties(
        self,
        *,
        friction: float,
        dissipation: float,
        relaxation_time: float,
        stiffness: float | None = None,
        is_plane: bool = False,
        is_rigid: bool = False,
        hint: float | None = None,
        modulus: float | None = None,
        thickness: float | None = None,
    ) -> Any:
        """Returns the proximity properties of a geometry, which is hydroelastic if it is rigid
        or has a modulus [Pa]. `thickness` is that of a plane's slab [m]. Drake combines the
        stiffnesses of two geometries in series and adds their relaxation times."""
        drake = self.drake
        properties = drake.ProximityProperties()
        if is_rigid:
            drake.AddRigidHydroelasticProperties(*([] if is_plane else [hint]), properties)
        elif modulus is not None and is_plane:
            drake.AddCompliantHydroelasticPropertiesForHalfSpace(thickness, modulus, properties)
        elif modulus is not None:
            drake.AddCompliantHydroelasticProperties(hint, modulus, properties)
        drake.AddContactMaterial(
            dissipation=dissipation,
            point_stiffness=stiffness,
            friction=drake.CoulombFriction(friction, friction),
            properties=properties,
        )
        properties.AddProperty("material", "relaxation_time", relaxation_time)
        return properties

    def add_body(
        self, name: str, mass: float, inertia: Any, center: Any = NO_PLACE, rotation: Any = None
    ) -> Any:
        """Adds a body. Moments are about the center of mass, along axes turned by `rotation`."""
        drake = self.drake
        if mass == 0:
            unit = drake.UnitInertia(0, 0, 0)
            return self.plant.AddRigidBody(name, drake.SpatialInertia(0.0, np.zeros(3), unit))
        about_center = drake.RotationalInertia(*inertia)
        if rotation is not None:
            about_center = about_center.ReExpress(self.make_pose(quaternion=rotation).rotation())
        spatial = drake.SpatialInertia.MakeFromCentralInertia(mass, np.array(center), about_center)
        return self.plant.AddRigidBody(name, spatial)

    def add_joint(
        self, kind: str, name: str, parent: Any, child: Any, axis: Any, at: Any, offset: Any = None
    ) -> Any:
        """Adds a 'slide' or 'hinge' at poses in the parent and in the child; None is their frame."""
        make = {"slide": self.drake.PrismaticJoint, "hinge": self.drake.RevoluteJoint}[kind]
        frames = [
            body.body_frame()
            if pose is None
            else self.plant.AddFrame(
                self.drake.FixedOffsetFrame(f"{name}_{role}", body.body_frame(), pose)
            )
            for role, body, pose in (("parent", parent, at), ("child", child, offset))
        ]
        return self.plant.AddJoint(make(name, *frames, np.array(axis, float)))

    def add_geom(self, body: Any, shape: Any, pose: Any, name: str, properties: Any) -> Any:
        """Adds a geometry that collides."""
        return self.plant.RegisterCollisionGeometry(body, pose, shape, name, properties)

    def finish(self, accuracy: float | None = None) -> None:
        """Makes the simulator. 'cenic' chooses its steps if it has an accuracy."""
        if not self.plant.is_finalized():
            self.plant.Finalize()
        self._simulator = self.drake.Simulator(self._builder.Build())
        if self.plant.time_step() == 0:
            config = self.drake.SimulatorConfig()
            config.integration_scheme = "cenic"
            config.use_error_control = accuracy is not None
            config.max_step_size = self.time_step if accuracy is None else 0.1
            config.accuracy = 1e-3 if accuracy is None else accuracy
            self.drake.ApplySimulatorConfig(config, self._simulator)
        self._root = self._simulator.get_mutable_context()
        self.context = self.plant.GetMyMutableContextFromRoot(self._root)

    # ---- steps --------------------------------------------------------------------------------------

    def set_free_body(
        self, body: Any, position: Any, quaternion: Any, velocity: Any, spin: Any
    ) -> None:
        """Sets the pose of a free body, and its velocity [m/s] and spin [rad/s] in the world."""
        rate = self.drake.SpatialVelocity(np.array(spin), np.array(velocity))
        self.plant.SetFreeBodyPose(self.context, body, self.make_pose(position, quaternion))
        self.plant.SetFreeBodySpatialVelocity(body, rate, self.context)

    def mark(self) -> None:
        """Stores the current state for reset()."""
        self._start = self.plant.GetPositionsAndVelocities(self.context).copy()
        self.reset()

    def reset(self) -> None:
        """Returns to the stored state at time 0."""
        self._root.SetTime(0)
        self.plant.SetPositionsAndVelocities(self.context, self._start)
        self._simulator.Initialize()

    def advance(self, num_steps: int) -> None:
        """Takes num_steps steps."""
        steps_so_far = round(self._root.get_time() / self.time_step)
        self.advance_to((steps_so_far + num_steps) * self.time_step)

    def advance_to(self, time: float) -> None:
        """Advances to a time [s], as advance."""
        self._simulator.AdvanceTo(time)

    def initialize(self) -> None:
        """Prepares the simulator for the state and inputs at time 0."""
        self._simulator.Initialize()
