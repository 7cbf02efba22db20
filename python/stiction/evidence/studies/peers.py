"""Optional results of other simulators in the folder Settings.peers or below: trajectories as
gzipped CSV files with a line of names, and tables as JSON files with a list `rows`."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stiction.errors import Error
from stiction.evidence.experiments.convergence import calc_rms_error
from stiction.evidence.experiments.planar import Trajectory
from stiction.evidence.studies.study import Settings, StudyResult


def calc_peer_distance(
    settings: Settings, result: StudyResult, name: str, fields: tuple[str, ...], run: Trajectory
) -> float | None:
    """Returns the RMS distance of a run to a trajectory with these fields, or None without its file."""
    path = _find_file(settings, result, f"{name}.csv.gz")
    if path is None:
        return None
    peer = read_trajectory(path)
    q = np.column_stack([peer[field] for field in fields])
    return calc_rms_error(peer["t"], q, run.time, run.q[:, : len(fields)])


def find_peer_rows(
    settings: Settings, result: StudyResult, name: str
) -> dict[str, dict[str, Any]] | None:
    """Returns the rows of a table by their `tag`, or None and a note if there is no such file."""
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
    result.notes.append(f"not compared with {name}: the file is not in the folder of peers")
    return None


def read_trajectory(path: Path) -> NDArray[Any]:
    """Reads a trajectory as a structured array with the names of the columns."""
    try:
        with gzip.open(path, "rt") as file:
            return np.genfromtxt(file, delimiter=",", names=True)
    except (OSError, ValueError) as e:
        raise Error("syntax", str(path), f"cannot be read: {e}") from e
