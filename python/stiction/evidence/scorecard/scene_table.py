"""The scenes of the scorecard by name. To add one, write it in a module of scenes/ and name it here."""

from __future__ import annotations

from stiction.errors import Error
from stiction.evidence.scorecard.scene import Scene
from stiction.evidence.scorecard.scenes import (
    capstan,
    conveyor,
    cradle,
    depths,
    dominoes,
    grip_threshold,
    held,
    rod_jam,
    sliding,
    spinning_disk,
    wedge,
)
from stiction.inputs.names import suggest_name

SCENES: dict[str, Scene] = {
    scene.name: scene
    for scene in (
        held.HELD_CUBE,
        held.WALL_CUBE,
        held.TURNING_GRIP,
        held.STACK,
        held.SHAKEN_BOX,
        held.CAN,
        grip_threshold.SCENE,
        sliding.FRICTION_ANGLE,
        sliding.STOPPING_DISTANCE,
        sliding.FAST_SLIDE,
        sliding.ROLLING_SPHERE,
        sliding.BOWLING,
        conveyor.SCENE,
        rod_jam.SCENE,
        spinning_disk.SCENE,
        capstan.SCENE,
        depths.MASS_RATIO,
        wedge.SCENE,
        dominoes.SCENE,
        cradle.SCENE,
        depths.HERTZ,
        depths.PRESSURE_FIELD,
    )
}


def find_scene(name: str) -> Scene:
    """Returns a scene."""
    if name not in SCENES:
        message = f"there is no scene '{name}' {suggest_name(name, list(SCENES))}"
        raise Error("unknown_name", "scene", message)
    return SCENES[name]
