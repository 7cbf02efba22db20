"""Scenes that come with the package: the files of the repository's scenes/."""

from __future__ import annotations

from pathlib import Path

from stiction.errors import Error
from stiction.names import suggest_name

_FOLDER = Path(__file__).parent / "scenes"


def find_scene_file(name: str) -> Path:
    """Path of a scene's MJCF.

    Args:
        name: such as 'spatula'.

    Raises:
        Error: there is no such scene; with the nearest name.
    """
    path = _FOLDER / f"{name}.xml"
    if not path.is_file():
        known = sorted(file.stem for file in _FOLDER.glob("*.xml"))
        raise Error("unknown_name", name, f"is no scene of the package {suggest_name(name, known)}")
    return path
