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
    """Computes the surfaces of pressure-field contact between a model's geoms, without a step.

        surfaces = stiction.ContactSurfaces(scene.model, scene.properties)
        for patch in surfaces.calc(data): print(patch.area, patch.force)

    Args:
        model: kept by reference; the shapes of its geoms are read now.
        properties: contact properties of geoms, as for Simulator.
        tessellation: 'polygon' or 'triangle', as for Simulator.

    Raises:
        Error: an argument is out of range, or the mesh of a geom cannot be made.
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
        """Computes the patches at data.qpos, after MuJoCo's kinematics.

        Tractions and forces come from the pressure of the fields alone, without friction and
        dissipation; slip_velocity is 0.

        Args:
            data: made for the model.
            num_times: how often the surfaces are computed, for measuring the time that this takes.
            drift: how far geoms move back and forth between these computations, at least 0 [m].
                Without motion the search for pairs of elements is reused.

        Raises:
            Error: data of another model, or an argument out of range.
        """
        check_data_type(data)
        if data.model._address != self.model._address:
            raise Error("wrong_shape", "data", "belongs to another model")
        mujoco.mj_kinematics(self.model, data)
        return self._surfaces.calc(
            data._address, check_integer("num_times", num_times, 1), check_number("drift", drift)
        )
