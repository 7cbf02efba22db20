"""Stiction's own contact models."""

from __future__ import annotations

from typing import Any

import mujoco

import stiction
from stiction._core import contact_model_traits
from stiction.errors import StepError, ignored_settings_are_fine
from stiction.evidence.engines.adapters.mujoco_adapter import Reader, set_start
from stiction.evidence.engines.drive import State, StoppedError
from stiction.evidence.engines.mjcf import make_mjcf
from stiction.evidence.engines.world import Vector, World


def describe_version() -> str:
    """Returns the engine's name and version."""
    return f"Stiction {stiction.__version__}"


def make_properties(world: World, time_step: float) -> dict[str, Any]:
    """Returns the contact properties that give the surface of a world. Friction is that of the
    MJCF. The relaxation time, which only `sap` reads, is one time step per pair."""
    surface = world.surface
    material: dict[str, Any] = {"relaxation_time": time_step / 2}
    if surface.kind == "elastic":
        material |= {"stiffness": 2 * surface.stiffness, "dissipation": 0.0, "restitution": 1.0}
        material["relaxation_time"] = 0.0
    if surface.kind == "hertz":
        # Two equal surfaces have the contact modulus E / (2 (1 - nu^2)); 'sap' and 'tamsi' read the
        # stiffness.
        young = 2 * surface.modulus * (1 - 0.3**2)
        material |= {"youngs_modulus": young, "poissons_ratio": 0.3}
        material |= {"stiffness": 2 * surface.stiffness}
    if surface.kind != "field":
        return {"materials": {"all": material}, "geoms": {"*": "all"}}
    slab = {"hydroelastic_modulus": surface.modulus, "slab_thickness": surface.thickness}
    body = {"rigid": True, "resolution_hint": surface.hint}
    return {
        "materials": {"slab": {**material, **slab}, "body": {**material, **body}},
        "geoms": {"*": "body", "ground*": "slab"},
    }


class StictionAdapter:
    """A Simulator as an Adapter.

    Settings: `contact_model`, and `options`, arguments of the Simulator.
    """

    def __init__(self, world: World, time_step: float, settings: dict[str, Any]) -> None:
        model = mujoco.MjModel.from_xml_string(make_mjcf(world, time_step))
        name = settings["contact_model"]
        traits = contact_model_traits(name)
        options = dict(settings.get("options", {}))
        if world.surface.kind == "hertz" and traits.takes_laws:
            options["normal_law"] = "hertz"
        if world.surface.kind in ("elastic", "hertz", "field"):
            options["near_rigid_factor"] = 0.0  # the stiffness is given, not limited by the step
        if world.surface.kind == "field":
            options["quadrature"] = "moment_exact"
        properties = make_properties(world, time_step)
        with ignored_settings_are_fine():
            self._simulator = stiction.Simulator(model, name, properties=properties, **options)
        self._model, self._data = model, mujoco.MjData(model)
        set_start(world, model, self._data)
        self._reader = Reader(world, model, self._data)
        self._messages: list[str] = []

    def step(self, forces: Vector) -> None:
        self._reader.apply(forces)
        try:
            report = self._simulator.step(self._data)
        except StepError as e:
            raise StoppedError(str(e)) from e
        self._messages += report.warning_counts

    def read(self) -> State:
        return self._reader.read()

    def take_messages(self) -> list[str]:
        """Returns the kinds of the warnings since the last call."""
        messages, self._messages = self._messages, []
        return messages
