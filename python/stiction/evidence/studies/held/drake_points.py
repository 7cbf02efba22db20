"""Scenes with contact points in Drake."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from stiction.evidence.engines import drake_peer
from stiction.evidence.engines.corners import RADIUS, list_corners
from stiction.evidence.engines.drake_model import make_inertia, make_pose, make_shape
from stiction.evidence.studies.held.scenes import HeldScene, Vector


class DrakePoints:
    """A scene of bodies that are free or on joints, in Drake with point contact.

    Point contact of Drake has one point per pair of geometries. So boxes, cylinders and meshes touch
    with small spheres at their corners and rims, as in Drake's own examples of boxes, and pairs of two
    solids and of two such spheres are left out. All other settings are Drake's defaults. Inputs are set
    before each step. Servos are explicit; the armature of their joints keeps them stable.

    Args:
        scene: the scene.
        approximation: Drake's discrete contact approximation.
        time_step: [s].
    """

    def __init__(self, scene: HeldScene, approximation: str, time_step: float) -> None:
        self._drake = drake_peer.load()
        self._scene, self._model, self._time_step = scene, scene.model, time_step
        self._data = mujoco.MjData(scene.model)
        mujoco.mj_kinematics(scene.model, self._data)
        builder = self._drake.DiagramBuilder()
        config = self._drake.MultibodyPlantConfig()
        config.time_step = time_step
        config.discrete_contact_approximation = approximation
        config.contact_model = "point"
        self._plant, self._graph = self._drake.AddMultibodyPlant(config, builder)
        self._plant.mutable_gravity_field().set_gravity_vector(scene.model.opt.gravity)
        self._solids: list[Any] = []
        self._corners: list[Any] = []
        self._bodies = [self._plant.world_body()]
        # The id in MuJoCo's model, the joint and the actuator in Drake.
        self._actuators: list[tuple[int, Any, Any]] = []
        for body in range(1, scene.model.nbody):
            self._add_body(body)
        for geom in range(scene.model.ngeom):
            if scene.model.geom_contype[geom] or scene.model.geom_conaffinity[geom]:
                self._add_geom(geom)
        self._plant.Finalize()
        self._leave_out_pairs()
        self._simulator = self._drake.Simulator(builder.Build())
        context = self._simulator.get_mutable_context()
        self._context = self._plant.GetMyMutableContextFromRoot(context)
        for body in range(1, scene.model.nbody):
            if self._bodies[body].is_floating_base_body():
                pose = self._drake.RigidTransform(self._data.xpos[body])
                self._plant.SetFreeBodyPose(self._context, self._bodies[body], pose)
        self._held = self._bodies[scene.model.body(scene.held).id]
        self._holder = self._bodies[scene.model.body(scene.holder).id]
        self._num_steps = 0
        self._set_inputs()
        self._simulator.Initialize()

    def advance(self, time: float) -> None:
        """Takes steps until a time [s].

        Raises:
            RuntimeError: Drake's solver failed.
        """
        while self._num_steps < round(time / self._time_step):
            self._set_inputs()
            self._num_steps += 1
            self._simulator.AdvanceTo(self._num_steps * self._time_step)

    def find_place(self) -> Vector:
        """Returns the place of the held body in the frame of its holder [m]."""
        holder, held = (
            self._plant.EvalBodyPoseInWorld(self._context, body)
            for body in (self._holder, self._held)
        )
        return np.array(holder.inverse() @ held.translation())

    def _set_inputs(self) -> None:
        """Sets the forces of actuators and the loads on bodies for the next step."""
        m, data, plant = self._model, self._data, self._plant
        data.time = self._num_steps * self._time_step
        self._scene.drive(data)
        if self._actuators:
            forces = np.zeros(plant.num_actuators())
            for k, joint, actuator in self._actuators:
                forces[actuator.input_start()] = self._calc_force(k, joint)
            plant.get_actuation_input_port().FixValue(self._context, forces)
        loads = []
        for body in range(1, m.nbody):
            force, torque = np.split(data.xfrc_applied[body], 2)
            load = self._drake.ExternallyAppliedSpatialForce()
            load.body_index = self._bodies[body].index()
            load.p_BoBq_B = np.zeros(3)
            load.F_Bq_W = self._drake.SpatialForce(tau=torque, f=force)
            loads.append(load)
        plant.get_applied_spatial_force_input_port().FixValue(self._context, loads)

    def _add_body(self, i: int) -> None:
        """Adds a body of MuJoCo's model."""
        m, drake, plant = self._model, self._drake, self._plant
        name = m.body(i).name or f"body{i}"
        body = plant.AddRigidBody(name, make_inertia(drake, m, i))
        self._bodies.append(body)
        joint = int(m.body_jntadr[i])
        if m.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE:
            return
        dof = int(m.jnt_dofadr[joint])
        is_hinge = m.jnt_type[joint] == mujoco.mjtJoint.mjJNT_HINGE
        parent = self._bodies[m.body_parentid[i]].body_frame()
        at = drake.FixedOffsetFrame(f"{name}_start", parent, drake.RigidTransform(m.body_pos[i]))
        kind = drake.RevoluteJoint if is_hinge else drake.PrismaticJoint
        added = plant.AddJoint(
            kind(
                name,
                plant.AddFrame(at),
                body.body_frame(),
                m.jnt_axis[joint],
                damping=float(m.dof_damping[dof]),
            )
        )
        for k in np.flatnonzero(m.actuator_trnid[:, 0] == joint):
            actuator = plant.AddJointActuator(f"{name}_{k}", added)
            # The inertia is that of a rotor behind a gear of 1.
            actuator.set_default_rotor_inertia(float(m.dof_armature[dof]))
            actuator.set_default_gear_ratio(1.0)
            self._actuators.append((int(k), added, actuator))

    def _calc_force(self, k: int, joint: Any) -> float:
        """Returns the force of MuJoCo's actuator k on a joint of Drake [N or N m]."""
        m = self._model
        bias = m.actuator_biasprm[k]
        q, v = joint.GetOnePosition(self._context), joint.GetOneVelocity(self._context)
        gain = m.actuator_gainprm[k, 0]
        return float(gain * self._data.ctrl[k] + bias[0] + bias[1] * q + bias[2] * v)

    def _add_geom(self, i: int) -> None:
        m, drake = self._model, self._drake
        mu = float(m.geom_friction[i, 0])
        pose = make_pose(drake, m.geom_pos[i], m.geom_quat[i])

        def register(shape: Any, name: str, at: Any) -> Any:
            return self._plant.RegisterCollisionGeometry(
                self._bodies[m.geom_bodyid[i]], at, shape, name, drake.CoulombFriction(mu, mu)
            )

        if m.geom_type[i] != mujoco.mjtGeom.mjGEOM_MESH:
            self._solids.append(register(make_shape(drake, m, i), f"geom{i}", pose))
        for k, corner in enumerate(_list_corners(m, i)):
            center = pose @ drake.RigidTransform(corner)
            self._corners.append(register(drake.Sphere(RADIUS), f"corner{i}_{k}", center))

    def _leave_out_pairs(self) -> None:
        drake = self._drake
        left_out = drake.CollisionFilterDeclaration()
        for each in (self._solids, self._corners):
            left_out.ExcludeWithin(drake.GeometrySet(each))
        self._graph.collision_filter_manager().Apply(left_out)


def _list_corners(m: mujoco.MjModel, i: int) -> list[Vector]:
    """Returns the centers of the spheres with which a geom touches planes and boxes, in its frame [m].

    Those of a mesh are flush with its faces if these are normal to the axes.
    """
    kind = mujoco.mjtGeom(m.geom_type[i])
    if kind == mujoco.mjtGeom.mjGEOM_MESH:
        mesh = m.geom_dataid[i]
        first, count = m.mesh_vertadr[mesh], m.mesh_vertnum[mesh]
        vertices = m.mesh_vert[first : first + count].astype(float)
        return list(vertices - RADIUS * np.sign(vertices))
    names = {
        mujoco.mjtGeom.mjGEOM_BOX: ("box", 3),
        mujoco.mjtGeom.mjGEOM_CYLINDER: ("cylinder", 2),
    }
    name, num_sizes = names.get(kind, ("", 0))
    size = tuple(float(x) for x in m.geom_size[i][:num_sizes])
    return [np.array(center) for center in list_corners(name, size)]
