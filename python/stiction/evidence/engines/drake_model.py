"""Conversion of a MuJoCo model with pressure fields to Drake, for a limited set of elements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction.evidence.engines import drake_peer
from stiction.simulator import Simulator

Vector = NDArray[np.float64]
Material = Mapping[str, Any]
Scheme = Literal["sap", "lagged", "similar", "tamsi", "cenic"]
Surface = Literal["polygon", "triangle"]


class DrakeModel:
    """A model in Drake, which starts from the state of an MjData and steps with constant forces.

    Each body must have a free joint, a slide joint or no joint. Actuators must be motors on slide
    joints, geoms must be primitives, and every geom that collides must have a material.

    Args:
        model: the MuJoCo model.
        materials: material of each geom by the geom's name, with the keys of a file of contact
            properties.
        scheme: Drake's discrete approximation, or 'cenic', its convex integrator, with fixed steps.
        surface: faces of the contact surfaces.
        stiction_tolerance: v_s [m/s].
        touches_in: 'hydroelastic', or 'point' for contact points, for which a material has a
            stiffness [N/m].
        accuracy: accuracy of 'cenic', which then chooses its steps; None for fixed steps.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        materials: Mapping[str, Material],
        *,
        scheme: Scheme = "sap",
        surface: Surface = "polygon",
        stiction_tolerance: float = 1e-4,
        touches_in: str = "hydroelastic",
        accuracy: float | None = None,
    ) -> None:
        self._drake = drake = drake_peer.load()
        self._model = model
        self.time_step = float(model.opt.timestep)
        self._scheme = scheme
        builder = drake.DiagramBuilder()
        config = drake.MultibodyPlantConfig()
        config.time_step = 0.0 if scheme == "cenic" else self.time_step
        if scheme != "cenic":
            config.discrete_contact_approximation = scheme
        config.contact_model = touches_in
        config.contact_surface_representation = surface
        config.stiction_tolerance = stiction_tolerance
        self._surface = getattr(drake.HydroelasticContactRepresentation, f"k{surface.capitalize()}")
        self.plant, _ = drake.AddMultibodyPlant(config, builder)
        self.plant.mutable_gravity_field().set_gravity_vector(model.opt.gravity)
        self._bodies = [self.plant.world_body()]
        self._joints: list[Any] = []
        for i in range(1, model.nbody):
            self._add_body(i)
        for i in range(model.ngeom):
            if model.geom_contype[i] or model.geom_conaffinity[i]:
                self._add_geom(i, materials[model.geom(i).name])
        for i in range(model.nu):
            joint = self._joints[model.actuator_trnid[i, 0]]
            self.plant.AddJointActuator(model.actuator(i).name, joint)
        self.plant.Finalize()
        self._forces = builder.AddSystem(drake.ConstantVectorSource(np.zeros(model.nu)))
        builder.Connect(self._forces.get_output_port(), self.plant.get_actuation_input_port())
        self._simulator = drake.Simulator(builder.Build())
        if scheme == "cenic":
            self._configure_cenic(accuracy)
        self._context = self._simulator.get_mutable_context()
        self._plant_context = self.plant.GetMyMutableContextFromRoot(self._context)
        self._start = np.empty(0)

    def set_state(self, data: mujoco.MjData) -> None:
        """Sets the state and the controls from MuJoCo's at time 0, and stores it for reset()."""
        drake, plant, context, m = self._drake, self.plant, self._plant_context, self._model
        for j, joint in enumerate(self._joints):
            body = m.jnt_bodyid[j]
            q, v = data.qpos[m.jnt_qposadr[j] :], data.qvel[m.jnt_dofadr[j] :]
            if m.jnt_type[j] == mujoco.mjtJoint.mjJNT_SLIDE:
                joint.set_translation(context, q[0])
                joint.set_translation_rate(context, v[0])
                continue
            pose = make_pose(drake, q[:3], q[3:7])
            rate = pose.rotation().matrix() @ v[3:6]
            plant.SetFreeBodyPose(context, self._bodies[body], pose)
            velocity = drake.SpatialVelocity(rate, v[:3])
            plant.SetFreeBodySpatialVelocity(context, self._bodies[body], velocity)
        forces = self._forces.GetMyMutableContextFromRoot(self._context)
        value = self._forces.get_mutable_source_value(forces)
        value.set_value(m.actuator_gear[:, 0] * data.ctrl)
        self.mark()

    def mark(self) -> None:
        """Stores the current state for reset()."""
        self._start = self.plant.GetPositionsAndVelocities(self._plant_context).copy()
        self.reset()

    def reset(self) -> None:
        """Returns to the stored state at time 0."""
        self._context.SetTime(0)
        self.plant.SetPositionsAndVelocities(self._plant_context, self._start)
        self._simulator.Initialize()

    def advance(self, num_steps: int) -> None:
        """Takes num_steps steps."""
        steps_so_far = round(self._context.get_time() / self.time_step)
        self._simulator.AdvanceTo((steps_so_far + num_steps) * self.time_step)

    def query(self, num_times: int = 1) -> list[Any]:
        """Computes the contact surfaces of the current state num_times and returns them."""
        port = self.plant.get_geometry_query_input_port()
        query = port.Eval(self._plant_context)
        for _ in range(num_times - 1):
            query.ComputeContactSurfaces(self._surface)
        surfaces: list[Any] = query.ComputeContactSurfaces(self._surface)
        return surfaces

    def count_faces(self) -> int:
        """Returns the number of faces of all contact surfaces in the current state."""
        return sum(surface.num_faces() for surface in self.query())

    def set_controls(self, controls: Vector) -> None:
        """Sets the controls from now on."""
        forces = self._forces.GetMyMutableContextFromRoot(self._context)
        value = self._forces.get_mutable_source_value(forces)
        value.set_value(self._model.actuator_gear[:, 0] * controls)

    def advance_to(self, time: float) -> None:
        """Advances to a time [s]."""
        self._simulator.AdvanceTo(time)

    def count_steps(self) -> int:
        """Returns the number of steps since the stored state."""
        return int(self._simulator.get_num_steps_taken())

    def get_positions(self) -> Vector:
        """Returns the positions in MuJoCo's order, as qpos."""
        q = np.zeros(self._model.nq)
        for j, joint in enumerate(self._joints):
            at = self._model.jnt_qposadr[j]
            if joint is None:
                body = self._bodies[self._model.jnt_bodyid[j]]
                pose = self.plant.GetFreeBodyPose(self._plant_context, body)
                q[at : at + 3] = pose.translation()
                q[at + 3 : at + 7] = pose.rotation().ToQuaternion().wxyz()
            else:
                q[at] = joint.get_translation(self._plant_context)
        return q

    def _configure_cenic(self, accuracy: float | None) -> None:
        config = self._drake.SimulatorConfig()
        config.integration_scheme = "cenic"
        config.use_error_control = accuracy is not None
        config.max_step_size = self.time_step if accuracy is None else 0.1
        config.accuracy = 1e-3 if accuracy is None else accuracy
        self._drake.ApplySimulatorConfig(config, self._simulator)

    def _add_body(self, i: int) -> None:
        drake, m = self._drake, self._model
        body = self.plant.AddRigidBody(m.body(i).name, make_inertia(drake, m, i))
        self._bodies.append(body)
        parent = self._bodies[m.body_parentid[i]].body_frame()
        pose = make_pose(drake, m.body_pos[i], m.body_quat[i])
        if m.body_jntnum[i] == 0:
            self.plant.WeldFrames(parent, body.body_frame(), pose)
            return
        joint = m.body_jntadr[i]
        if m.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE:
            self._joints.append(None)
            return
        frame = self.plant.AddFrame(drake.FixedOffsetFrame(f"{m.body(i).name}_base", parent, pose))
        name, axis = m.joint(joint).name, m.jnt_axis[joint]
        slider = drake.PrismaticJoint(name, frame, body.body_frame(), axis)
        self._joints.append(self.plant.AddJoint(slider))

    def _add_geom(self, i: int, material: Material) -> None:
        m = self._model
        self.plant.RegisterCollisionGeometry(
            self._bodies[m.geom_bodyid[i]],
            make_pose(self._drake, m.geom_pos[i], m.geom_quat[i]),
            make_shape(self._drake, m, i),
            m.geom(i).name,
            _make_properties(self._drake, m, i, material),
        )


def find_materials(model: mujoco.MjModel, simulator: Simulator) -> dict[str, dict[str, Any]]:
    """Returns the material of each geom that has one, by the geom's name."""
    content: Any = simulator.properties.content if simulator.properties else {}
    found = {}
    for geom in range(model.ngeom):
        material = simulator.explain(geom, geom)["geoms"][0]["material"]
        if material:
            found[model.geom(geom).name] = content["materials"][material]
    return found


def make_inertia(drake: Any, m: mujoco.MjModel, i: int) -> Any:
    """Returns Drake's inertia of a body of MuJoCo's model."""
    rotation = make_pose(drake, m.body_ipos[i], m.body_iquat[i]).rotation()
    about_com = drake.RotationalInertia(*m.body_inertia[i]).ReExpress(rotation)
    return drake.SpatialInertia.MakeFromCentralInertia(m.body_mass[i], m.body_ipos[i], about_com)


def make_pose(drake: Any, position: Vector, quaternion: Vector) -> Any:
    """Returns Drake's transform of a position and a quaternion."""
    unit = quaternion / np.linalg.norm(quaternion)
    return drake.RigidTransform(drake.Quaternion(unit), np.array(position))


def make_shape(drake: Any, m: mujoco.MjModel, i: int) -> Any:
    """Returns Drake's shape of a geom. MuJoCo's sizes are radii and half lengths, Drake's lengths."""
    size, kind = m.geom_size[i], mujoco.mjtGeom(m.geom_type[i])
    shapes = {
        mujoco.mjtGeom.mjGEOM_PLANE: lambda: drake.HalfSpace(),
        mujoco.mjtGeom.mjGEOM_SPHERE: lambda: drake.Sphere(size[0]),
        mujoco.mjtGeom.mjGEOM_ELLIPSOID: lambda: drake.Ellipsoid(*size),
        mujoco.mjtGeom.mjGEOM_CAPSULE: lambda: drake.Capsule(size[0], 2 * size[1]),
        mujoco.mjtGeom.mjGEOM_CYLINDER: lambda: drake.Cylinder(size[0], 2 * size[1]),
        mujoco.mjtGeom.mjGEOM_BOX: lambda: drake.Box(*(2 * size)),
    }
    return shapes[kind]()


def _make_properties(drake: Any, m: mujoco.MjModel, i: int, material: Material) -> Any:
    properties = drake.ProximityProperties()
    hint = material.get("resolution_hint", 1.0)
    modulus = material.get("hydroelastic_modulus")
    is_plane = m.geom_type[i] == mujoco.mjtGeom.mjGEOM_PLANE
    if modulus is None:
        drake.AddRigidHydroelasticProperties(*([] if is_plane else [hint]), properties)
    elif is_plane:
        drake.AddCompliantHydroelasticPropertiesForHalfSpace(
            material["slab_thickness"], modulus, properties
        )
    else:
        drake.AddCompliantHydroelasticProperties(hint, modulus, properties)
    friction = material.get("friction", 0.5)
    drake.AddContactMaterial(
        dissipation=material.get("dissipation", 0.0),
        point_stiffness=material.get("stiffness"),
        friction=drake.CoulombFriction(friction, friction),
        properties=properties,
    )
    properties.AddProperty("material", "relaxation_time", material.get("relaxation_time", 0.1))
    return properties
