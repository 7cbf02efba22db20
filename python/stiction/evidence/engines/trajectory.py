"""The motion that an engine computed, and how it is stored."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Trajectory:
    """The samples of a run."""

    names: tuple[str, ...]  # names of the bodies
    # [s], (n,). The first sample is the start.
    time: Vector
    pos: Vector  # positions of the centers of mass [m], (n, bodies, 3)
    quat: Vector  # rotations as (w, x, y, z), (n, bodies, 4)
    # velocity, spin: in the world's frame [m/s], [rad/s], (n, bodies, 3).
    velocity: Vector
    spin: Vector

    def find(self, name: str) -> int:
        """Returns the index of a body."""
        return self.names.index(name)

    def save(self, path: Path) -> None:
        """Writes a compressed file of arrays."""
        np.savez_compressed(
            path,
            names=np.array(self.names),
            time=self.time,
            pos=self.pos,
            quat=self.quat,
            velocity=self.velocity,
            spin=self.spin,
        )

    @staticmethod
    def load(path: Path) -> Trajectory:
        """Reads a file of save()."""
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            arrays: dict[str, Any] = {key: file[key] for key in file.files}
        names = tuple(str(name) for name in arrays.pop("names"))
        return Trajectory(names=names, **arrays)
