"""Trajectories of other programs, where somebody has them: gzipped CSV with a line of names."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stiction.errors import Error
from stiction.studies.convergence import calc_rms_error
from stiction.studies.planar import Trajectory
from stiction.studies.study import Settings, StudyResult


def calc_peer_distance(
    settings: Settings, result: StudyResult, name: str, fields: tuple[str, ...], run: Trajectory
) -> float | None:
    """Root mean square over time of a trajectory's distance to that of a file.

    Args:
        name: of the file. fields: its names of the first coordinates of the run.

    Returns:
        None, and a note in the result, where there is no such file.
    """
    path = _find_file(settings, result, name)
    if path is None:
        return None
    peer = read_trajectory(path)
    q = np.column_stack([peer[field] for field in fields])
    return calc_rms_error(peer["t"], q, run.time, run.q[:, : len(fields)])


def _find_file(settings: Settings, result: StudyResult, name: str) -> Path | None:
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
