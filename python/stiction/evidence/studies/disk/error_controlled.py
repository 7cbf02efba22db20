"""The final ratio of the discrete geometry, by an integrator with error control.

No contact solver and no fixed step take part: the forces are functions of the state
(stiction.ContinuousDynamics). The remaining error is that of the quadrature rule and of regularized
friction. Source: [masterjohn2022] section V.A.
"""

from __future__ import annotations

from typing import Any

from stiction.evidence.studies.checks import Check, check_near
from stiction.evidence.studies.disk.attraction import RATIOS
from stiction.evidence.studies.disk.convergence import run_continuous
from stiction.evidence.studies.disk.published import QUICK_RATIOS, TO_FRACTION
from stiction.evidence.studies.disk.scene import FRICTION, GRAVITY, SPEED, Disk
from stiction.evidence.studies.study import Settings

_DURATION = 1.06 * SPEED / (FRICTION * GRAVITY)  # longer than any start takes to stop [s]
_SAMPLING = 1e-5  # [s]
_TOLERANCE = 1e-6  # relative
_STICTION_TOLERANCE = 1e-6  # [m/s]


def study_error_controlled(settings: Settings, ring: float) -> tuple[dict[str, Any], list[Check]]:
    """Integrates the disk from several initial ratios until its speed is TO_FRACTION of the first.

    Args:
        ring: final ratio of the ring of centroids [-].

    Returns figures and checks.
    """
    disk = Disk(tips=False)
    final = {}
    for ratio in QUICK_RATIOS if settings.quick else RATIOS:
        settings.tell(f"with error control, from {ratio:.3g}")
        run, _ = run_continuous(
            disk, _TOLERANCE, ratio=ratio, duration=_DURATION, sampling=_SAMPLING,
            stiction_tolerance=_STICTION_TOLERANCE, method="LSODA",
        )  # fmt: skip
        final[ratio] = run.ratio_at(TO_FRACTION)
    furthest = max(final.values(), key=lambda each: abs(each - ring))
    checks = [
        check_near(
            f"final ratio with error control, {len(final)} starts, furthest relative to the ring's",
            furthest / ring,
            1.0,
            5e-3,
            "V.A: the discrete geometry has a ratio of its own",
        )
    ]
    return {"final": final, "furthest": furthest / ring - 1}, checks
