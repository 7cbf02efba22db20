"""Contact properties: from a file, a dict, or the scene that names its file."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mujoco

from stiction._core import ContactProperties
from stiction.arguments import check_path
from stiction.custom_text import PROPERTIES, read_text
from stiction.errors import Error, StictionWarning

# What a Simulator takes as properties.
PropertiesLike = ContactProperties | str | os.PathLike[str] | Mapping[str, Any] | None


def make_properties(
    properties: PropertiesLike, folder: Path | None = None
) -> ContactProperties | None:
    """Reads what a Simulator takes as properties.

    Args:
        properties: a file, its content as a dict, or contact properties as they are.
        folder: which relative paths of a dict start from, the working directory if None.

    Raises:
        Error: with file and line: all that is wrong with the content.
    """
    if properties is None or isinstance(properties, ContactProperties):
        return properties
    if isinstance(properties, str | os.PathLike):
        return _read(check_path("properties", properties))
    if isinstance(properties, Mapping):
        return _parse_mapping(properties, folder)
    raise Error(
        "wrong_shape",
        "properties",
        f"is a {type(properties).__name__}, not the name of a file, a dict or None",
    )


def load_scene_properties(
    model: mujoco.MjModel, scene: Path, properties: PropertiesLike
) -> ContactProperties | None:
    """The contact properties of a scene file: those given, else those of the file that it names,
    else those that a URDF has for Drake.

    Raises:
        Error: as make_properties; or a class cannot be resolved.
    """
    found = make_properties(properties, scene.parent)
    if properties is None and (text := read_text(model, PROPERTIES)) is not None:
        try:
            found = _read(check_path("properties", scene.parent / text))
        except Error as e:
            if e.code != "file_not_found":
                raise
            raise Error(
                e.code,
                e.where,
                f'{e.message}; {scene} names it in <custom><text name="{PROPERTIES}" '
                f'data="{text}"/></custom>, relative to its own folder',
            ) from e
    if found is None and properties is None and scene.suffix == ".urdf":
        found = _read(scene) or None
    if found is not None:
        found.resolve_classes(str(scene))
    return found


def _read(path: Path) -> ContactProperties:
    found = ContactProperties.read(str(path))
    for text in found.warnings:
        warnings.warn(text, StictionWarning, stacklevel=4)
    return found


def _parse_mapping(properties: Mapping[str, Any], folder: Path | None) -> ContactProperties:
    # JSON is YAML: one reader checks both, and knows no other type than JSON's.
    try:
        text = json.dumps(dict(properties), default=_simplify)
    except (TypeError, ValueError, RecursionError) as e:
        raise Error("wrong_shape", "properties", f"is not a dict as the file's content: {e}") from e
    return ContactProperties.parse(text, "properties", has_lines=False, folder=str(folder or ""))


def _simplify(value: Any) -> Any:
    """NumPy's numbers and arrays, and mappings of other kinds."""
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{value!r} is a {type(value).__name__}")
