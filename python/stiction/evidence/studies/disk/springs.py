"""The disk on springs, with which pressure-field contact is compared: [masterjohn2022] section IV.

Each centroid of a face carries a spring and a damper of the same stiffness, whatever the area of
the face. The weight is then distributed as the centroids are, whatever the grid size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from stiction.evidence.experiments.disk import calc_final_ratio, calc_ring_ratio
from stiction.evidence.studies.checks import Checks
from stiction.evidence.studies.disk.scene import (
    DISSIPATION,
    FRICTION,
    MODULUS,
    RADIUS,
    RELAXATION_TIME,
    SLAB_THICKNESS,
    THICKNESS,
    Disk,
    Vector,
    run_to_stop,
)
from stiction.evidence.studies.study import Settings

# With this grading the outer faces are smaller: the number of faces per area grows as
# r^(2/p - 2) = r^(2/3).
GRADING = 0.75
RINGS, QUICK_RINGS = (2, 4, 6, 8, 12), (2, 6, 12)
_TO_FRACTION, _STEP_SHARE = 1e-3, 0.1
_STICTION_TOLERANCE = 1e-8  # [m/s]
_POINT_RADIUS = 1e-5  # radius of the spheres that carry the springs [m]


@dataclass(frozen=True)
class SpringDisk(Disk):
    """A disk with a spring at the centroid of each face of its lower cap. All springs have the
    same stiffness, and together that of the pressure field."""

    def calc_centroids(self) -> Vector:
        """Returns the centroids of the faces of a cap, (n, 2) [m]."""
        vertices, triangles = self.make_ring_mesh()
        cap = triangles[: 6 * self.num_rings**2]
        centroids: Vector = vertices[cap].mean(axis=1)[:, :2]
        return centroids

    def _describe_geoms(self) -> tuple[str, str]:
        height = _POINT_RADIUS - THICKNESS / 2
        points = (
            f'<geom type="sphere" size="{_POINT_RADIUS}" pos="{x!r} {y!r} {height!r}"/>'
            for x, y in self.calc_centroids().tolist()
        )
        return "", "".join(points)

    @property
    def properties(self) -> dict[str, Any]:
        """The contact properties. The stiffnesses of two geoms act in series."""
        total = MODULUS * math.pi * RADIUS**2 / SLAB_THICKNESS
        spring = {
            "stiffness": 2 * total / (6 * self.num_rings**2),
            "dissipation": DISSIPATION,
            "relaxation_time": RELAXATION_TIME / 2,
            "friction": FRICTION,
        }
        return {"materials": {"spring": spring}, "geoms": {"*": "spring"}}


def calc_spring_ratio() -> float:
    """Returns the final ratio for a load that grows as r^(2/3), that of infinitely many springs [-]."""
    edges = np.linspace(0, 1, 101)
    shares = np.diff(edges ** (2 / GRADING))  # the integral of the load over a ring
    radii = 0.5 * (edges[1:] + edges[:-1])
    return calc_ring_ratio(*zip(radii.tolist(), shares.tolist(), strict=True))


def study_springs(settings: Settings) -> tuple[dict[str, Any], Checks]:
    """Runs graded disks to their stop on pressure fields and springs. Returns figures and checks."""
    theory, of_springs = calc_final_ratio(), calc_spring_ratio()
    final: dict[str, dict[int, float]] = {"pressure field": {}, "springs": {}}
    for count in QUICK_RINGS if settings.quick else RINGS:
        for name, kind in (("pressure field", Disk), ("springs", SpringDisk)):
            settings.tell(f"{name}, {count} graded rings")
            run = run_to_stop(
                kind(count, GRADING, tips=False), "lagged", 1.0, to_fraction=_TO_FRACTION,
                step_share=_STEP_SHARE, stiction_tolerance=_STICTION_TOLERANCE,
            )  # fmt: skip
            final[name][count] = run.ratio_at(_TO_FRACTION)
    finest, coarsest = max(final["springs"]), min(final["springs"])
    errors = {count: abs(ratio / theory - 1) for count, ratio in final["pressure field"].items()}
    checks = Checks()
    what = f"final ratio, pressure field, {finest} graded rings"
    checks.near(what, final["pressure field"][finest], theory, 5e-3, "theory")
    what = f"its error relative to that of {coarsest} rings"
    source = "sec. V.A: the error falls with the grid size"
    checks.at_most(what, errors[finest] / errors[coarsest], 0.2, source)
    what = f"final ratio, springs, {finest} graded rings"
    source = "theory of a load that grows as r^(2/3)"
    checks.near(what, final["springs"][finest], of_springs, 1e-2, source)
    return {"final": final, "theory": theory, "theory_of_springs": of_springs}, checks
