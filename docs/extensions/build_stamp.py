"""Results of notebooks belong to one build of Stiction: another build runs the notebooks again."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

_STAMP = Path(".venv/stiction.stamp")  # changes with each installed build
_FOLDER = Path("build/notebooks")


def find_notebook_cache(root: Path) -> Path:
    """Returns the folder for the results of notebooks, and removes those of other builds.

    MyST-NB knows a notebook by its text only. Since it reads all pages again when this path changes, the
    path has the hash of the build, and so the API reference also follows the build.

    Args:
        root: folder of the repository.
    """
    stamp = root / _STAMP
    text = stamp.read_bytes() if stamp.exists() else b"not installed"
    cache = root / _FOLDER / hashlib.sha256(text).hexdigest()[:12]
    if (root / _FOLDER).is_dir():
        for other in (root / _FOLDER).iterdir():
            if other != cache and other.is_dir():
                shutil.rmtree(other)
    return cache
