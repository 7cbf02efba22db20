"""The scenes that come with the package, from the repository's folder scenes/."""

from __future__ import annotations

from pathlib import Path

from stiction.errors import Error
from stiction.inputs.names import find_similar, list_names, suggest_name

_FOLDER = Path(__file__).parents[1] / "scenes"


def list_scenes() -> list[str]:
    """Returns the names of the scenes."""
    return sorted(file.stem for file in _FOLDER.glob("*.xml"))


def find_scene_file(name: str) -> Path:
    """Returns the path of the MJCF file of a scene such as 'spatula', or raises Error."""
    path = _FOLDER / f"{name}.xml"
    if not path.is_file():
        known = list_scenes()
        raise Error(
            "unknown_name", name, f"is not a scene of the package {suggest_name(name, known)}"
        )
    return path


def find_scene(path: Path) -> Path:
    """Returns the path of a scene, a file or else a name in the package, or raises Error."""
    if path.is_file():
        return path
    known = list_scenes()
    if str(path) in known:
        return find_scene_file(str(path))
    if path.exists():
        raise Error("file_not_found", str(path), "is not a file")
    similar = find_similar(path.stem, known)
    meant = f" (did you mean the scene '{similar[0]}' of the package?)" if similar else ""
    raise Error(
        "file_not_found",
        str(path),
        f"there is no such file{meant}; these scenes come with the package, and are loaded by name: "
        f"{list_names(known)}",
    )
