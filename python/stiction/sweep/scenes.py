"""The scenes of a sweep: files, patterns of files, and scenes of the package."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from stiction.errors import Error
from stiction.inputs.package_scenes import find_scene_file

_PATTERN = set("*?[")


@dataclass(frozen=True)
class SceneEntry:
    """A scene that a configuration names.

    Attributes:
        label: path relative to the folder of the configuration, or the name of a scene of the
            package.
        path: path of the file.
        where: file and line of the configuration.
    """

    label: str
    path: Path
    where: str


def find_scenes(text: str, folder: Path, where: str) -> list[SceneEntry]:
    """Returns the scenes of one entry, sorted by path.

    Args:
        text: a path, a pattern such as 'scenes/*.xml', or the name of a scene of the package.
        folder: folder from which relative paths start.
        where: file and line of the entry, for messages.

    Raises:
        Error: there is no such file, or no file matches the pattern.
    """
    if _PATTERN & set(text):
        return _find_matches(text, folder, where)
    path = folder / text
    if path.is_file():
        return [SceneEntry(text, path, where)]
    if "/" in text or "\\" in text or "." in text:
        raise Error("file_not_found", where, f"there is no scene {path}")
    try:
        return [SceneEntry(text, find_scene_file(text), where)]
    except Error as e:
        raise Error(
            e.code, where, f"'{text}' is neither a file in {folder} nor: it {e.message}"
        ) from e


def _find_matches(pattern: str, folder: Path, where: str) -> list[SceneEntry]:
    anchor = Path(pattern).anchor
    root = Path(anchor) if anchor else folder
    try:
        found = sorted(path for path in root.glob(pattern.removeprefix(anchor)) if path.is_file())
    except (ValueError, NotImplementedError) as e:
        raise Error("invalid_value", where, f"'{pattern}' is not a pattern: {e}") from e
    if not found:
        raise Error("file_not_found", where, f"no file matches '{pattern}' in {root}")
    labels = [str(path) if anchor else path.relative_to(folder).as_posix() for path in found]
    return [SceneEntry(label, path, where) for label, path in zip(labels, found, strict=True)]
