"""Scene files: a MuJoCo model with what its file says beyond it."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import mujoco

from stiction._core import ContactProperties, SceneFile, check_model
from stiction.arguments import check_path
from stiction.control_schedule import ControlSchedule, find_control_schedule
from stiction.errors import Error, StictionWarning
from stiction.properties import PropertiesLike, load_scene_properties
from stiction.simulator import Simulator


@dataclass
class Scene:
    """A scene file's model and contact properties; load_scene makes it.

    Attributes:
        path: the MJCF or URDF file.
        model: MuJoCo's model of it.
        properties: contact properties of its geoms; None if the scene has none.
    """

    path: Path
    model: mujoco.MjModel
    properties: ContactProperties | None = None

    @cached_property
    def control_schedule(self) -> ControlSchedule | None:
        """The schedule of controls that the file declares, or None.

        Raises:
            Error: the declaration is wrong.
        """
        return find_control_schedule(self.model, self.path)

    def make_data(self) -> mujoco.MjData:
        """Makes the scene's initial state: its first keyframe if it has one, else qpos0."""
        data = mujoco.MjData(self.model)
        if self.model.nkey:
            mujoco.mj_resetDataKeyframe(self.model, data, 0)
        return data

    def make_simulator(
        self, contact_model: str = "lagged_regularized", **options: Any
    ) -> Simulator:
        """Makes a Simulator of this scene with its contact properties.

        Args:
            contact_model: as for Simulator.
            **options: other arguments of Simulator.

        Raises:
            Error: as Simulator.
        """
        options.setdefault("properties", self.properties)
        return Simulator(self.model, contact_model, **options)


def load_scene(path: str | Path, properties: PropertiesLike = None) -> Scene:
    """Loads an MJCF or URDF file, and its contact properties.

    Args:
        path: the file.
        properties: a file of contact properties, or its content as a dict. None: the file that the
            scene names in `<custom><text name="stiction" data="pads.contact.yaml"/></custom>`, if
            it names one.

    Raises:
        Error: a file cannot be read or has wrong content; with file and, where known, line, element
            and value.
    """
    path = check_path("path", path)
    if not path.exists():
        raise Error("file_not_found", str(path), "there is no such file")
    if not path.is_file():
        raise Error("file_not_found", str(path), "is not a file")
    model = load_model(path)
    return Scene(path, model, load_scene_properties(model, path, properties))


def load_model(path: Path) -> mujoco.MjModel:
    """A scene file as mujoco.MjModel.from_xml_path loads it, but with its warnings as Python's.

    Raises:
        Error: with file and, where known, line, element and value.
    """
    text = SceneFile(str(path))
    text.check()
    reasons: list[str] = []
    outer = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(reasons.append)
    try:
        model = mujoco.MjModel.from_xml_path(str(path))
    except (ValueError, RuntimeError, MemoryError) as e:
        raise _make_error(text, str(e)) from e
    finally:
        mujoco.set_mju_user_warning(outer)
    for reason in dict.fromkeys(reasons):
        warnings.warn(f"{path}: MuJoCo: {reason.strip()}", StictionWarning, stacklevel=3)
    try:
        check_model(model._address)
    except Error as e:
        raise Error(e.code, str(path), str(e)) from e
    return model


def _make_error(text: SceneFile, message: str) -> Error:
    """MuJoCo's message, with the place that it is about."""
    where = text.locate(message)
    if malformed := re.search(r"Error=XML_(?:ERROR_)?(\w+)(?:.*XMLElement name=(\S+))?", message):
        reason = malformed[1].lower().replace("_", " ")
        element = f" at element '{malformed[2]}'" if malformed[2] else ""
        return Error("syntax", where, f"is not well-formed XML: {reason}{element}")
    reason = re.sub(r"^((XML )?Error: )+|,? line \d+\s*$", "", message)
    reason = re.sub(r"\s*\nElement (?:name )?'(.*)'.*$", _describe_element, reason)
    reason = "; ".join(line.strip() for line in reason.splitlines() if line.strip())
    if "opening file" in message:
        return Error("file_not_found", where, f"{reason}; put it there, or correct its name")
    if "allocate memory" in message or "unknown exception" in message:
        return Error("mujoco", where, f"MuJoCo cannot load it: {reason}; is a number too large?")
    is_syntax = message.startswith(("XML", "ParseXML"))
    return Error("syntax" if is_syntax else "invalid_value", where, f"MuJoCo: {reason}")


def _describe_element(match: re.Match[str]) -> str:
    return f", element '{match[1]}'" if match[1] else ""
