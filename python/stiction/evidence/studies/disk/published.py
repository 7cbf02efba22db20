"""The final ratio as published: TAMSI, one point at each centroid, and a fixed time step.

The other part of the study has `lagged`, exact moments and steps that shrink with the speed. Here the
speed that is left in a step is a fixed amount, so the ratio is lost shortly before the stop, where it
is zero over zero. Source: [masterjohn2022] section V.A, figure 5.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stiction.evidence.experiments.disk import calc_final_ratio
from stiction.evidence.studies.checks import Checks
from stiction.evidence.studies.disk.attraction import RATIOS
from stiction.evidence.studies.disk.scene import FRICTION, GRAVITY, SPEED, Disk, DiskRun, run_steps
from stiction.evidence.studies.study import Settings

QUICK_RATIOS = (0.1, 1.0, 10.0)
_TIME_STEP = 1e-4  # [s]; not given in print
_STICTION_TOLERANCE = 1e-6  # [m/s]
TO_FRACTION = 1e-3  # fraction of the initial speed at which the ratio is measured
_DURATION = 1.06 * SPEED / (FRICTION * GRAVITY)  # longer than any start takes to stop [s]


def study_published(settings: Settings) -> tuple[dict[str, Any], dict[float, DiskRun], Checks]:
    """Runs the disk under `tamsi` from several initial ratios. Returns figures, the runs by initial
    ratio, which end where the ratio is measured, and checks."""
    runs = {}
    final = {}
    for ratio in QUICK_RATIOS if settings.quick else RATIOS:
        settings.tell(f"as published, from {ratio:.3g}")
        run = run_steps(Disk(), "tamsi", ratio, _TIME_STEP, _DURATION, _STICTION_TOLERANCE)
        final[ratio] = run.ratio_at(TO_FRACTION)
        runs[ratio] = _cut(run, TO_FRACTION)
    theory = calc_final_ratio()
    errors = [each / theory - 1 for each in final.values()]
    mean_error = float(np.mean(errors))
    figures = {
        "time_step": _TIME_STEP,
        "final": final,
        "mean_error": mean_error,
        "worst_error": max(errors, key=abs),
    }
    where = f"final ratio as published, {len(final)} starts"
    checks = Checks()
    checks.near(f"{where}, mean relative to theory", 1 + mean_error, 1 - 0.013, 2e-3, "V.A: 1.3 %")
    value = (max(final.values()) - min(final.values())) / theory
    checks.at_most(f"{where}, largest spread", value, 0.01, "fig. 5: one ratio for all starts")
    return figures, runs, checks


def _cut(run: DiskRun, fraction: float) -> DiskRun:
    """Returns the samples of a run until its speed has fallen to a fraction of the initial speed."""
    end = int(np.argmax(run.fraction <= fraction)) + 1
    return DiskRun(run.time[:end], run.v[:end], run.spin[:end], run.height[:end])
