"""The scenes of the scorecard."""

from __future__ import annotations

from stiction.errors import Error
from stiction.evidence.scorecard.scene import Scene
from stiction.evidence.scorecard.scenes import (
    bowling,
    capstan,
    conveyor,
    cradle,
    dominoes,
    friction_angle,
    held_cube,
    hertz,
    mass_ratio,
    pressure_field,
    rod_jam,
    rolling_sphere,
    spinning_disk,
    stopping_distance,
    wall_cube,
    wedge,
)
from stiction.inputs.suggestions import suggest_name

_MODULES = (
    held_cube,
    wall_cube,
    friction_angle,
    stopping_distance,
    rolling_sphere,
    bowling,
    conveyor,
    rod_jam,
    spinning_disk,
    capstan,
    mass_ratio,
    wedge,
    dominoes,
    cradle,
    hertz,
    pressure_field,
)
SCENES: dict[str, Scene] = {module.SCENE.name: module.SCENE for module in _MODULES}
# The derivation of each exact answer, which the page prints.
DERIVATIONS: dict[str, str] = {module.SCENE.name: module.__doc__ or "" for module in _MODULES}


def find_scene(name: str) -> Scene:
    """Returns a scene.

    Raises:
        Error: there is no scene with this name.
    """
    if name not in SCENES:
        message = f"there is no scene '{name}' {suggest_name(name, list(SCENES))}"
        raise Error("unknown_name", "scene", message)
    return SCENES[name]
