"""Trajectories of other programs, where somebody has them: gzipped CSV with a line of names."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stiction.errors import Error
from stiction.studies.study import Settings, StudyResult


def find_peer_file(settings: Settings, result: StudyResult, name: str) -> Path | None:
    """The file of a trajectory; None, and a note in the result, where there is none."""
    path = settings.peers / f"{name}.csv.gz" if settings.peers else None
    if path and path.is_file():
        return path
    result.notes.append(f"not compared with the trajectory {name}.csv.gz, which is not here")
    return None


def read_trajectory(path: Path) -> NDArray[Any]:
    """A structured array with the columns' names.

    Raises:
        Error: the file cannot be read.
    """
    try:
        with gzip.open(path, "rt") as file:
            return np.genfromtxt(file, delimiter=",", names=True)
    except (OSError, ValueError) as e:
        raise Error("syntax", str(path), f"cannot be read: {e}") from e
