"""Contact surfaces of a model's geoms at given poses, without a simulation step."""

from __future__ import annotations

import mujoco

from stiction._core import ContactProperties, PatchReport, Surfaces
from stiction.errors import Error
from stiction.inputs.arguments import (
    check_data_type,
    check_integer,
    check_model_type,
    check_name,
    check_number,
)
from stiction.inputs.names import find_geom
from stiction.meshing.tet_mesh import TetMesh
from stiction.setup.properties import PropertiesLike, make_properties


class ContactSurfaces:
    """Computes the surfaces of pressure-field contact at the poses of an MjData, without a step.

        surfaces = stiction.ContactSurfaces(scene.model, scene.properties)
        for patch in surfaces.calc(data): print(patch.area, patch.force)

    Args:
        model: kept by reference. Later changes to the shapes of its geoms have no effect.
        properties: contact properties of geoms, as for Simulator.
        tessellation: faces of the surfaces, 'polygon' or 'triangle', as for Simulator.
        tilted_faces: 'keep' or 'drop', as for Simulator.

    Raises:
        Error: an argument is out of range, or the tetrahedral mesh of a geom cannot be read or made.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        properties: PropertiesLike,
        *,
        tessellation: str = "polygon",
        tilted_faces: str = "keep",
    ) -> None:
        check_model_type(model)
        self._model = model
        self._surfaces = Surfaces(
            model._address,
            make_properties(properties) or ContactProperties(),
            check_name("tessellation", tessellation),
            check_name("tilted_faces", tilted_faces),
            model,
        )

    @property
    def model(self) -> mujoco.MjModel:
        """The model."""
        return self._model

    def calc(self, data: mujoco.MjData, num_times: int = 1, drift: float = 0.0) -> PatchReport:
        """Returns the patches at data.qpos, after computing the kinematics of data.

        Tractions and forces are those of the pressure fields alone, without friction and
        dissipation; slip_velocity is 0.

        Args:
            data: data of the model.
            num_times: number of times to compute the surfaces, for timing.
            drift: distance by which the geoms move back and forth between two computations, at least
                0 [m]. Lists of candidate pairs are kept while geoms hardly move, so a drift makes
                the timing include their updates.

        Raises:
            Error: data belongs to another model, or an argument is out of range.
        """
        check_data_type(data)
        if data.model._address != self.model._address:
            raise Error("wrong_shape", "data", "belongs to another model")
        mujoco.mj_kinematics(self.model, data)
        return self._surfaces.calc(
            data._address, check_integer("num_times", num_times, 1), check_number("drift", drift)
        )

    def takes_part(self, geom: str | int) -> bool:
        """Returns True if a geom takes part in pressure-field contact.

        Args:
            geom: name, or id as int or '#12'.

        Raises:
            Error: no geom has this name or id.
        """
        return self._surfaces.has_body(find_geom(self._model, geom))

    def find_field(self, geom: str | int) -> TetMesh | None:
        """Returns the mesh and the pressure field of a geom, in the geom's frame.

        Args:
            geom: name, or id as int or '#12'.

        Returns:
            The tetrahedra with the pressure at their vertices; None for a geom without a field, a
            rigid geom, or a plane, whose field has no tetrahedra.

        Raises:
            Error: no geom has this name or id.
        """
        found = self._surfaces.copy_field(find_geom(self._model, geom))
        return None if found is None else TetMesh(found[0], found[1], "pressure", found[2])
