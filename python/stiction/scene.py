"""Scene files: a MuJoCo model, with the contact properties and controls that its file declares."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import mujoco

from stiction._core import ContactProperties, SceneFile, check_model, contact_model_traits
from stiction.errors import Error, StictionWarning, warn
from stiction.inputs.arguments import check_path
from stiction.inputs.control_schedule import ControlSchedule, find_control_schedule
from stiction.inputs.names import make_printable
from stiction.inputs.package_scenes import find_scene
from stiction.setup.defaults import NOT_GIVEN
from stiction.setup.properties import PropertiesLike, load_scene_properties
from stiction.simulator import Simulator


@dataclass
class Scene:
    """A scene file's model and contact properties; load_scene makes it.

    Attributes:
        path: path of the MJCF or URDF file.
        model: the MuJoCo model, for use with all of MuJoCo's functions.
        properties: contact properties of the geoms, or None.
    """

    path: Path
    model: mujoco.MjModel
    properties: ContactProperties | None = None

    @cached_property
    def control_schedule(self) -> ControlSchedule | None:
        """The schedule of controls that the file declares, or None. It is read only once.

        Raises:
            Error: the declaration is invalid.
        """
        return find_control_schedule(self.model, self.path)

    def make_data(self) -> mujoco.MjData:
        """Returns new data in the initial state: the first keyframe if there is one, else qpos0."""
        data = mujoco.MjData(self.model)
        if self.model.nkey:
            mujoco.mj_resetDataKeyframe(self.model, data, 0)
        return data

    def make_simulator(self, contact_model: str = NOT_GIVEN, **options: Any) -> Simulator:
        """Returns a Simulator of this scene with its contact properties.

        Args:
            contact_model: as for Simulator.
            **options: other arguments of Simulator; `properties` replaces the scene's own.

        Raises:
            Error, TypeError: as Simulator.
        """
        options.setdefault("properties", self.properties)
        return Simulator(self.model, contact_model, **options)


def find_ignored_friction(scene: Scene, contact_model: str) -> list[str]:
    """Returns a remark if a run of the contact model has other friction than the scene's properties."""
    if scene.properties is None or not contact_model_traits(contact_model).is_mj_step:
        return []
    return ["mj_step has friction, solref and solimp of the MJCF, and ignores contact properties"]


def load_scene(path: str | Path, properties: PropertiesLike = None) -> Scene:
    """Loads an MJCF or URDF file, and its contact properties.

    Args:
        path: path of the scene file, or the name of a scene that comes with the package, such as
            'spatula'.
        properties: a file of contact properties, or its content as a dict. None means the file that
            the scene names, as in
            `<custom><text name="stiction" data="pads.contact.yaml"/></custom>`, if it names one.

    Raises:
        Error: the scene cannot be loaded; the message has the file and, where known, the line, the
            element and the value.
    """
    path = find_scene(check_path("path", path))
    _check_content(path)
    model = load_model(path)
    return Scene(path, model, load_scene_properties(model, path, properties))


def _check_content(path: Path) -> None:
    """Raises Error if the file is evidently not XML."""
    try:
        with path.open("rb") as file:
            head = file.read(200)
    except OSError:
        return  # the loader gives the reason
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith((b"<", b"\xff\xfe", b"\xfe\xff")) or not text:
        return
    begin = make_printable(text.split(b"\n")[0][:40].decode(errors="replace").strip())
    raise Error(
        "syntax",
        str(path),
        f"is not a scene, because it begins with '{begin}' instead of XML; name an MJCF or URDF file",
    )


def load_model(path: Path) -> mujoco.MjModel:
    """Loads a file with mujoco.MjModel.from_xml_path, or raises Error; issues MuJoCo's warnings."""
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
        warn(StictionWarning(f"{path}: MuJoCo: {reason.strip()}"))
    try:
        check_model(model._address)
    except Error as e:
        raise Error(e.code, str(path), str(e)) from e
    return model


def _make_error(text: SceneFile, message: str) -> Error:
    """Returns MuJoCo's message as an Error, with the line of the file that it is about."""
    where = text.locate(message)
    if malformed := re.search(r"Error=XML_(?:ERROR_)?(\w+)(?:.*XMLElement name=(\S+))?", message):
        reason = malformed[1].lower().replace("_", " ")
        element = f" at element '{malformed[2]}'" if malformed[2] else ""
        return Error("syntax", where, f"is not well-formed XML: {reason}{element}")
    reason = re.sub(r"^((XML )?Error: )+|,? line \d+\s*$", "", message)
    reason = re.sub(r"\s*\nElement (?:name )?'(.*)'.*$", _describe_element, reason)
    reason = "; ".join(line.strip() for line in reason.splitlines() if line.strip())
    if "opening file" in message:
        return Error("file_not_found", where, f"{reason}; add the file, or correct its name")
    if "allocate memory" in message or "unknown exception" in message:
        return Error(
            "mujoco",
            where,
            f"MuJoCo cannot load the file: {reason}; give the process more memory, or check the file "
            "for very large numbers and counts",
        )
    is_syntax = message.startswith(("XML", "ParseXML"))
    return Error("syntax" if is_syntax else "invalid_value", where, f"MuJoCo: {reason}")


def _describe_element(match: re.Match[str]) -> str:
    return f", element '{match[1]}'" if match[1] else ""
