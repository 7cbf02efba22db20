"""A MuJoCo model in Drake, for a limited set of elements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction.evidence.engines.drake_plant import DrakePlant
from stiction.simulator import Simulator

Vector = NDArray[np.float64]
Material = Mapping[str, Any]
Scheme = Literal["sap", "lagged", "similar", "tamsi", "cenic"]

_FREE, _SLIDE = mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_SLIDE


class DrakeModel(DrakePlant):
    """A model in Drake, which starts from the state of an MjData and steps with constant forces.

    Each body must have a free joint, a slide joint or no joint. Actuators must be motors on slide
    joints, geoms must be primitives, and every geom that collides must have a material, by its
    name, with the keys of a file of contact properties. `touches_in` is 'hydroelastic', or 'point',
    for which a material has a stiffness. 'cenic' chooses its steps if it has an accuracy.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        materials: Mapping[str, Material],
        *,
        scheme: Scheme = "sap",
        stiction_tolerance: float | None = 1e-4,
        touches_in: str = "hydroelastic",
        accuracy: float | None = None,
    ) -> None:
        super().__init__(
            float(model.opt.timestep),
            model.opt.gravity,
            scheme,
            contact_model=touches_in,
            contact_surface_representation="polygon",
            stiction_tolerance=stiction_tolerance,
        )
        self._surface = self.drake.HydroelasticContactRepresentation.kPolygon
        self._model = model
        self._bodies = [self.plant.world_body()]
        self._joints: list[Any] = []
        for i in range(1, model.nbody):
            self._add_mujoco_body(i)
        for i in range(model.ngeom):
            if model.geom_contype[i] or model.geom_conaffinity[i]:
                self._add_mujoco_geom(i, materials[model.geom(i).name])
        for i in range(model.nu):
            joint = self._joints[model.actuator_trnid[i, 0]]
            self.plant.AddJointActuator(model.actuator(i).name, joint)
        self.finish(accuracy)

    def set_state(self, data: mujoco.MjData) -> None:
        """Sets the state and the controls from MuJoCo's at time 0, and stores it for reset()."""
        m = self._model
        for j, joint in enumerate(self._joints):
            q, v = data.qpos[m.jnt_qposadr[j] :], data.qvel[m.jnt_dofadr[j] :]
            if joint is not None:
                joint.set_translation(self.context, q[0])
                joint.set_translation_rate(self.context, v[0])
                continue
            spin = self.make_pose(q[:3], q[3:7]).rotation().matrix() @ v[3:6]
            self.set_free_body(self._bodies[m.jnt_bodyid[j]], q[:3], q[3:7], v[:3], spin)
        self.set_controls(data.ctrl)
        self.mark()

    def set_controls(self, controls: Vector) -> None:
        """Sets the controls from now on."""
        forces = self._model.actuator_gear[:, 0] * controls
        self.plant.get_actuation_input_port().FixValue(self.context, forces)

    def query(self, num_times: int = 1) -> list[Any]:
        """Computes the contact surfaces of the current state num_times and returns them."""
        query = self.plant.get_geometry_query_input_port().Eval(self.context)
        for _ in range(num_times - 1):
            query.ComputeContactSurfaces(self._surface)
        surfaces: list[Any] = query.ComputeContactSurfaces(self._surface)
        return surfaces

    def count_faces(self) -> int:
        """Returns the number of faces of all contact surfaces in the current state."""
        return sum(surface.num_faces() for surface in self.query())

    def get_positions(self) -> Vector:
        """Returns the positions in MuJoCo's order, as qpos."""
        q = np.zeros(self._model.nq)
        for j, joint in enumerate(self._joints):
            at = self._model.jnt_qposadr[j]
            if joint is None:
                body = self._bodies[self._model.jnt_bodyid[j]]
                pose = self.plant.GetFreeBodyPose(self.context, body)
                q[at : at + 3] = pose.translation()
                q[at + 3 : at + 7] = pose.rotation().ToQuaternion().wxyz()
            else:
                q[at] = joint.get_translation(self.context)
        return q

    def _add_mujoco_body(self, i: int) -> None:
        m = self._model
        name = m.body(i).name or f"body{i}"
        body = self.add_body(
            name, m.body_mass[i], m.body_inertia[i], m.body_ipos[i], m.body_iquat[i]
        )
        self._bodies.append(body)
        parent = self._bodies[m.body_parentid[i]]
        pose = self.make_pose(m.body_pos[i], m.body_quat[i])
        if m.body_jntnum[i] == 0:
            self.plant.WeldFrames(parent.body_frame(), body.body_frame(), pose)
            return
        joint = m.body_jntadr[i]
        if m.jnt_type[joint] == _FREE:
            self._joints.append(None)
            return
        assert m.jnt_type[joint] == _SLIDE
        axis = m.jnt_axis[joint]
        self._joints.append(self.add_joint("slide", m.joint(joint).name, parent, body, axis, pose))

    def _add_mujoco_geom(self, i: int, material: Material) -> None:
        m = self._model
        kind = mujoco.mjtGeom(m.geom_type[i]).name.removeprefix("mjGEOM_").lower()
        modulus = material.get("hydroelastic_modulus")
        properties = self.make_properties(
            friction=material.get("friction", float(m.geom_friction[i, 0])),
            dissipation=material.get("dissipation", 0.0),
            relaxation_time=material.get("relaxation_time", 0.1),
            stiffness=material.get("stiffness"),
            is_plane=kind == "plane",
            is_rigid=modulus is None,
            hint=material.get("resolution_hint", 1.0),
            modulus=modulus,
            thickness=material.get("slab_thickness"),
        )
        self.add_geom(
            self._bodies[m.geom_bodyid[i]],
            self.make_shape(kind, m.geom_size[i]),
            self.make_pose(m.geom_pos[i], m.geom_quat[i]),
            m.geom(i).name or f"geom{i}",
            properties,
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
