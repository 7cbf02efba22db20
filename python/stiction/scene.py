"""Scene files: a MuJoCo model with what its file says beyond it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco

from stiction._core import ContactProperties
from stiction.errors import Error
from stiction.properties import PropertiesLike, load_scene_properties
from stiction.simulator import Simulator


@dataclass
class Scene:
    """A loaded scene.

    path: of the MJCF or URDF file.
    model: MuJoCo's, to be used as ever.
    properties: contact properties of its geoms, None where there are none.
    """

    path: Path
    model: mujoco.MjModel
    properties: ContactProperties | None = None

    def make_data(self) -> mujoco.MjData:
        """The scene's initial state: its first keyframe if it has one, else qpos0."""
        data = mujoco.MjData(self.model)
        if self.model.nkey:
            mujoco.mj_resetDataKeyframe(self.model, data, 0)
        return data

    def make_simulator(
        self, contact_model: str = "lagged_regularized", **options: Any
    ) -> Simulator:
        """A Simulator of this scene with its contact properties; options as Simulator's."""
        options.setdefault("properties", self.properties)
        return Simulator(self.model, contact_model, **options)


def load_scene(path: str | Path, properties: PropertiesLike = None) -> Scene:
    """Loads an MJCF or URDF file, and its contact properties.

    Args:
        path: of the file.
        properties: a file of contact properties or its content, in place of the file that the scene
            names in <custom><text name="stiction" data="pads.contact.yaml"/></custom>.

    Raises:
        Error: with file and, where known, line, element and value.
    """
    path = Path(path)
    if not path.is_file():
        raise Error("file_not_found", str(path), "there is no such file")
    try:
        model = mujoco.MjModel.from_xml_path(str(path))
    except ValueError as e:
        raise Error("syntax", str(path), str(e)) from e
    return Scene(path, model, load_scene_properties(model, path, properties))
