"""The ratio v / (R w) at which the disk stops, by quadrature, by contact model, and as published."""

from __future__ import annotations

from typing import Any

import numpy as np

from stiction.evidence.experiments.disk import calc_final_ratio, calc_motion, calc_ring_ratio
from stiction.evidence.studies.checks import Checks
from stiction.evidence.studies.disk.scene import (
    FRICTION,
    GLIDING,
    GRAVITY,
    MODELS,
    SPEED,
    Disk,
    DiskRun,
    run_steps,
    run_to_stop,
)
from stiction.evidence.studies.study import Settings

RATIOS = tuple(float(x) for x in np.geomspace(0.1, 10, 10))
QUICK_RATIOS = (0.1, 10.0)
# Fraction of the initial speed at which a run ends. For an initial ratio of 0.1, even the exact
# ratio is within 0.1 % of its limit only at this speed.
TO_FRACTION = 1e-8
STEP_SHARE, QUICK_STEP_SHARE = 0.05, 0.2  # fraction of the remaining speed that a step takes
# Radii of the centroids of the fan's faces, in units of R, and fractions of the load on them. With
# the tessellation 'triangle', each face is divided about its centroid into three triangles: two
# touch the center of the disk and one the rim.
RINGS_OF = {"polygon": ((2 / 3, 1.0),), "triangle": ((5 / 9, 2 / 3), (8 / 9, 1 / 3))}
STICTION_OF_ATTRACTION = 1e-13  # [m/s]


def study_attraction(settings: Settings) -> tuple[dict[str, Any], dict[float, DiskRun]]:
    """Runs the disk under `lagged` from several initial ratios with each tessellation and
    quadrature. Returns the figures, and the runs with `moment_exact` on polygons by initial
    ratio."""
    ratios = QUICK_RATIOS if settings.quick else RATIOS
    share = QUICK_STEP_SHARE if settings.quick else STEP_SHARE
    keys = ("theory", "final", "mean_error", "worst_error", "points", "us_per_step")
    figures: dict[str, Any] = {key: {} for key in keys}
    for ratio in ratios:
        _, v, spin = calc_motion(ratio, SPEED, Disk().deceleration, [TO_FRACTION])[0]
        figures["theory"][ratio] = float(v / spin)
    shown = {}
    for tessellation in ("polygon", "triangle"):
        for quadrature in ("centroid", "moment_exact"):
            disk = Disk(tessellation=tessellation, quadrature=quadrature, tips=False)
            name = f"{tessellation}, {quadrature}"
            found = {}
            for ratio in ratios:
                settings.tell(f"{name}, from {ratio:.3g}")
                run = run_to_stop(
                    disk, "lagged", ratio, to_fraction=TO_FRACTION, step_share=share,
                    stiction_tolerance=STICTION_OF_ATTRACTION,
                )  # fmt: skip
                found[ratio] = run.ratio_at(TO_FRACTION)
                if name == "polygon, moment_exact":
                    shown[ratio] = run
            figures["final"][name] = found
            figures["points"][name] = run.num_points
            figures["us_per_step"][name] = run.total_us / len(run.time)
    return figures, shown


def check_attraction(figures: dict[str, Any]) -> Checks:
    """Checks the final ratios, and adds their errors to the figures: of `moment_exact` to theory at
    the same speed, and of `centroid` to theory for a load on the rings of the centroids."""
    checks = Checks()
    for name, found in figures["final"].items():
        is_exact = name.endswith("moment_exact")
        rings = RINGS_OF[name.split(",")[0]]
        ratio_of_rings = calc_ring_ratio(*rings)
        wanted = {
            ratio: figures["theory"][ratio] if is_exact else ratio_of_rings for ratio in found
        }
        errors = [found[ratio] / wanted[ratio] - 1 for ratio in found]
        figures["worst_error"][name] = max(errors, key=abs)
        figures["mean_error"][name] = float(np.mean(errors))
        source = (
            "theory"
            if is_exact
            else f"theory, rings at {', '.join(f'{r:.3f}' for r, _ in rings)} R"
        )
        what = f"final ratio, {name}, mean of {len(found)} starts"
        value = float(np.mean(list(found.values())))
        checks.near(what, value, float(np.mean(list(wanted.values()))), 1e-3, source)
        if len(found) == len(RATIOS):
            checks.at_most(f"largest error of a start, {name}", max(map(abs, errors)), 1e-3, source)
    return checks


def study_models(settings: Settings) -> tuple[dict[str, Any], Checks]:
    """Runs the disk to its stop under each contact model. Returns figures and checks."""
    figures: dict[str, Any] = {}
    checks = Checks()
    ring = calc_ring_ratio(*RINGS_OF["polygon"])
    for name in settings.pick(*MODELS):
        settings.tell(f"{name}, to the stop")
        run = run_to_stop(
            Disk(), name, 0.653, to_fraction=1e-3,
            step_share=QUICK_STEP_SHARE if settings.quick else STEP_SHARE,
            stiction_tolerance=1e-8,
        )  # fmt: skip
        figures[name] = {
            "final": run.ratio_at(1e-3),
            "lift": max(run.height) - run.height[0],
            "us_per_step": run.total_us / len(run.time),
        }
        if name in GLIDING:
            source = "Drake: 1e-4; sliding lifts the disk"
            checks.at_least(f"lift of the disk, {name} [m]", figures[name]["lift"], 1e-5, source)
            continue
        what = f"ratio at 0.1 % of the initial speed, {name}, centroid"
        checks.near(what, run.ratio_at(1e-3), ring, 1e-3, "theory, ring")
    return figures, checks


# ---- The final ratio as published: TAMSI, one point at each centroid, and a fixed time step ------

# The other part of the study has `lagged`, exact moments and steps that shrink with the speed. Here
# the speed that is left in a step is a fixed amount, so the ratio is lost shortly before the stop,
# where it is zero over zero. Source: [masterjohn2022] section V.A, figure 5.
QUICK_PUBLISHED_RATIOS = (0.1, 1.0, 10.0)
_TIME_STEP = 1e-4  # [s]; not given in print
_STICTION_TOLERANCE = 1e-6  # [m/s]
PUBLISHED_FRACTION = 1e-3  # fraction of the initial speed at which the ratio is measured
LONGEST = 1.06 * SPEED / (FRICTION * GRAVITY)  # longer than any start takes to stop [s]


def study_published(settings: Settings) -> tuple[dict[str, Any], dict[float, DiskRun], Checks]:
    """Runs the disk under `tamsi`. Returns figures, cut runs by initial ratio, and checks."""
    runs = {}
    final = {}
    for ratio in QUICK_PUBLISHED_RATIOS if settings.quick else RATIOS:
        settings.tell(f"as published, from {ratio:.3g}")
        run = run_steps(Disk(), "tamsi", ratio, _TIME_STEP, LONGEST, _STICTION_TOLERANCE)
        final[ratio] = run.ratio_at(PUBLISHED_FRACTION)
        runs[ratio] = _cut(run, PUBLISHED_FRACTION)
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
