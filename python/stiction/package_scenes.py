"""The scenes that come with the package, from the repository's folder scenes/."""

from __future__ import annotations

from pathlib import Path

from stiction.errors import Error
from stiction.suggestions import suggest_name

_FOLDER = Path(__file__).parent / "scenes"


def find_scene_file(name: str) -> Path:
    """Returns the path of a scene's MJCF file.

    Args:
        name: name of a scene, such as 'spatula'.

    Raises:
        Error: the package has no such scene; the message suggests the nearest name.
    """
    path = _FOLDER / f"{name}.xml"
    if not path.is_file():
        known = sorted(file.stem for file in _FOLDER.glob("*.xml"))
        raise Error(
            "unknown_name", name, f"is not a scene of the package {suggest_name(name, known)}"
        )
    return path
