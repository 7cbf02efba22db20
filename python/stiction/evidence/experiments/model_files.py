"""Finds the model files of other packages and folders."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from pathlib import Path

from stiction.errors import Error


def find_model_files(folder: Path) -> list[Path]:
    """Returns the MJCF and URDF files below a folder, sorted. Many of them may be parts of others."""
    files = [file for suffix in ("xml", "urdf") for file in folder.rglob(f"*.{suffix}")]
    return sorted(file for file in files if _is_model(file))


def find_package(name: str) -> Path | None:
    """Returns the folder of an installed package, which is not imported; None if there is none."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def find_named_files(names: Iterable[str]) -> list[Path]:
    """Returns the model files of files, folders and installed packages, without duplicates."""
    return list(dict.fromkeys(file for name in names for file in _find_files_of(name)))


def _find_files_of(name: str) -> list[Path]:
    path = Path(name)
    if path.is_file():
        return [path]
    folder = path if path.is_dir() else find_package(name)
    if folder is None:
        raise Error(
            "file_not_found",
            name,
            "is neither a file, a folder nor an installed package; check its spelling, or install "
            "the package",
        )
    files = find_model_files(folder)
    if not files:
        raise Error("file_not_found", name, f"has no MJCF or URDF file below {folder}")
    return files


def _is_model(file: Path) -> bool:
    text = file.read_text(errors="replace")
    return "<mujoco" in text if file.suffix == ".xml" else "<robot" in text
