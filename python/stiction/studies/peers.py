"""Results of other programs, where somebody has them: in any folder below Settings.peers.

Trajectories are gzipped CSV with a line of names, tables JSON with a list of `rows`.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stiction.errors import Error
from stiction.experiments.convergence import calc_rms_error
from stiction.experiments.planar import Trajectory
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
    path = _find_file(settings, result, f"{name}.csv.gz")
    if path is None:
        return None
    peer = read_trajectory(path)
    q = np.column_stack([peer[field] for field in fields])
    return calc_rms_error(peer["t"], q, run.time, run.q[:, : len(fields)])


def find_peer_rows(
    settings: Settings, result: StudyResult, name: str
) -> dict[str, dict[str, Any]] | None:
    """The rows of NAME.json by their `tag`.

    Returns:
        None, and a note in the result, where there is no such file.

    Raises:
        Error: the file cannot be read.
    """
    path = _find_file(settings, result, f"{name}.json")
    if path is None:
        return None
    try:
        return {row["tag"]: row for row in json.loads(path.read_text())["rows"]}
    except (OSError, ValueError, KeyError, TypeError) as e:
        raise Error("syntax", str(path), f"cannot be read: {e}") from e


def _find_file(settings: Settings, result: StudyResult, name: str) -> Path | None:
    found = sorted(settings.peers.rglob(name)) if settings.peers else []
    if found:
        return found[0]
    result.notes.append(f"not compared with {name}, which is not here")
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
