"""Contact properties from a file, from a dict, or from the file that a scene names."""

from __future__ import annotations

import copyreg
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mujoco

from stiction._core import ContactProperties
from stiction.errors import Error, StictionWarning, warn
from stiction.inputs.arguments import check_path, describe_type
from stiction.inputs.custom_text import PROPERTIES, read_text

# The types that Simulator accepts as properties.
PropertiesLike = ContactProperties | str | os.PathLike[str] | Mapping[str, Any] | None


def make_properties(
    properties: PropertiesLike, folder: Path | None = None
) -> ContactProperties | None:
    """Returns contact properties from a file, or a dict with paths from `folder`; None stays None."""
    if properties is None or isinstance(properties, ContactProperties):
        return properties
    if isinstance(properties, str | os.PathLike):
        return _read(check_path("properties", properties))
    if isinstance(properties, Mapping):
        return _parse_mapping(properties, folder)
    raise Error(
        "wrong_shape",
        "properties",
        f"is {describe_type(properties)}, must be a file, a dict, ContactProperties or None",
    )


def _restore(content: dict[str, Any], origin: str) -> ContactProperties:
    """Makes a copy of contact properties, for pickle and copy."""
    return ContactProperties.parse(json.dumps(content), origin, has_lines=False)


copyreg.pickle(ContactProperties, lambda p: (_restore, (p.content, p.origin)))


def load_scene_properties(
    model: mujoco.MjModel, scene: Path, properties: PropertiesLike
) -> ContactProperties | None:
    """Returns the properties given; else those that the scene names or a URDF has for Drake; or None."""
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
        warn(StictionWarning(text))
    return found


def _parse_mapping(properties: Mapping[str, Any], folder: Path | None) -> ContactProperties:
    # JSON is a subset of YAML, so the reader of files checks a dict too.
    try:
        text = json.dumps(dict(properties), default=_simplify)
    except (TypeError, ValueError, RecursionError) as e:
        raise Error(
            "wrong_shape",
            "properties",
            f"has a value that a properties file cannot have: {e}; use numbers, texts, lists and dicts",
        ) from e
    return ContactProperties.parse(text, "properties", has_lines=False, folder=str(folder or ""))


def _simplify(value: Any) -> Any:
    """Converts NumPy's numbers and arrays, and mappings other than dict, to types that JSON has."""
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{value!r} is {describe_type(value)}")
