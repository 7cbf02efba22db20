"""Contact surfaces of a model's geoms where they are, without a step."""

from __future__ import annotations

import mujoco

from stiction._core import ContactProperties, PatchReport, Surfaces
from stiction.arguments import (
    check_data_type,
    check_integer,
    check_model_type,
    check_name,
    check_number,
)
from stiction.errors import Error
from stiction.properties import PropertiesLike, make_properties


class ContactSurfaces:
    """Computes the surfaces of pressure-field contact at the poses of a data.

        surfaces = stiction.ContactSurfaces(scene.model, scene.properties)
        for patch in surfaces.calc(data): print(patch.area, patch.force)

    Args:
        model: kept by reference; shapes of geoms are those that it has now.
        properties: as Simulator's.
        tessellation: 'polygon' or 'triangle'.

    Raises:
        Error: an argument out of range, or a geom whose mesh cannot be had.
    """

    def __init__(
        self, model: mujoco.MjModel, properties: PropertiesLike, *, tessellation: str = "polygon"
    ) -> None:
        check_model_type(model)
        self.model = model
        self._surfaces = Surfaces(
            model._address,
            make_properties(properties) or ContactProperties(),
            check_name("tessellation", tessellation),
        )

    def calc(self, data: mujoco.MjData, num_times: int = 1, drift: float = 0.0) -> PatchReport:
        """The patches at data.qpos, whose kinematics are computed.

        Tractions and forces are those of the fields' pressure alone: without friction, dissipation or
        a step's change; slip_velocity is 0.

        Args:
            data: of the model.
            num_times: how often surfaces are computed, for those who time it.
            drift: by how much geoms move to and fro between these, at least 0 [m]: lists of candidates
                are kept while bodies hardly move.
        """
        check_data_type(data)
        if data.model._address != self.model._address:
            raise Error("wrong_shape", "data", "belongs to another model")
        mujoco.mj_kinematics(self.model, data)
        return self._surfaces.calc(
            data._address, check_integer("num_times", num_times, 1), check_number("drift", drift)
        )
