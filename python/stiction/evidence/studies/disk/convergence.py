"""Convergence of the disk's motion in the time step and in the grid size."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stiction.continuous import ContinuousDynamics
from stiction.evidence.experiments.convergence import calc_last_order, calc_order
from stiction.evidence.studies.checks import Checks
from stiction.evidence.studies.disk.attraction import (
    LONGEST,
    PUBLISHED_FRACTION,
    QUICK_PUBLISHED_RATIOS,
    RATIOS,
)
from stiction.evidence.studies.disk.scene import (
    GLIDING,
    MODELS,
    RADIUS,
    Disk,
    DiskRun,
    Vector,
    run_steps,
)
from stiction.evidence.studies.study import Settings

# The runs end before the disk stops at 0.135 s, where v and w are not smooth.
RATIO, DURATION = 0.25, 0.12  # [-], [s]
STEPS = (4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4)  # [s]
NUM_RINGS = 5
RINGS, REFERENCE_RINGS = (2, 3, 4, 6, 8, 12), 80
QUICK_RINGS, QUICK_REFERENCE_RINGS = (2, 6, 12), 40
GRID_STEP = 2e-3  # [s]
STICTION_TOLERANCE = 1e-7  # [m/s]


def study_time(settings: Settings) -> tuple[dict[str, Any], dict[str, dict[float, float]], Checks]:
    """Compares v and w with the continuous motion. Returns figures, errors of v, and checks."""
    disk = Disk(NUM_RINGS)
    settings.tell("continuous motion")
    coarser, _ = run_continuous(disk, 1e-4 if settings.quick else 1e-7)
    reference, num_evaluations = run_continuous(disk, 1e-5 if settings.quick else 1e-8)
    figures: dict[str, Any] = {
        "evaluations": num_evaluations,
        "reference_change": _calc_error(coarser, reference),
        "v": {},
        "w": {},
        "order_v": {},
        "order_w": {},
    }
    for name in settings.pick(*MODELS):
        errors = {}
        for step in STEPS:
            settings.tell(f"{name}, {step:g} s")
            run = run_steps(disk, name, RATIO, step, DURATION, STICTION_TOLERANCE)
            errors[step] = _calc_error(run, reference)
        for i, letter in enumerate("vw"):
            figures[letter][name] = {step: error[i] for step, error in errors.items()}
            figures[f"order_{letter}"][name] = calc_last_order(figures[letter][name])
    return figures, figures["v"], _check_time(figures)


def _check_time(figures: dict[str, Any]) -> Checks:
    if not figures["v"]:
        return Checks()
    smallest_error = min(min(of.values()) for letter in "vw" for of in figures[letter].values())
    checks = Checks()
    what = (
        "change of the continuous motion with a stricter tolerance, relative to the smallest error"
    )
    source = "must be small relative to the measured errors"
    checks.at_most(what, max(figures["reference_change"]) / smallest_error, 0.2, source)
    for name, errors in figures["v"].items():
        if name in GLIDING:
            what = f"relative error of v at {STEPS[-1]:g} s, {name}"
            source = "Drake: no convergence; sliding lifts the disk"
            checks.at_least(what, errors[STEPS[-1]], 0.03, source)
            continue
        for letter in "vw":
            what = f"order in time of {letter}, {name}"
            checks.between(what, figures[f"order_{letter}"][name], 0.85, 1.3, "fig. 6")
    return checks


def study_grid(settings: Settings) -> tuple[dict[str, Any], dict[str, dict[float, float]], Checks]:
    """Compares v and w with those of a fine grid. Returns figures, errors, and checks."""
    rings = QUICK_RINGS if settings.quick else RINGS
    finest = QUICK_REFERENCE_RINGS if settings.quick else REFERENCE_RINGS
    errors: dict[str, dict[float, float]] = {"v": {}, "w": {}}
    settings.tell(f"{finest} rings")
    reference = run_steps(Disk(finest), "lagged", RATIO, GRID_STEP, DURATION, STICTION_TOLERANCE)
    for count in rings:
        run = run_steps(Disk(count), "lagged", RATIO, GRID_STEP, DURATION, STICTION_TOLERANCE)
        error = _calc_error(run, reference)
        errors["v"][RADIUS / count], errors["w"][RADIUS / count] = error
    figures: dict[str, Any] = {"rings": rings, "reference_rings": finest}
    checks = Checks()
    for letter in "vw":
        order = calc_order(errors[letter])
        figures[letter] = errors[letter]
        figures[f"order_{letter}"] = order
        checks.between(f"order in grid size of {letter}", order, 1.6, 2.6, "fig. 6")
    return figures, errors, checks


def run_continuous(
    disk: Disk,
    tolerance: float,
    *,
    ratio: float = RATIO,
    duration: float = DURATION,
    sampling: float = STEPS[-1],
    stiction_tolerance: float = STICTION_TOLERANCE,
    method: str = "DOP853",
) -> tuple[DiskRun, int]:
    """Integrates with error control. Returns the run and the number of evaluations."""
    model = disk.make_model()
    dynamics = ContinuousDynamics(
        model,
        properties=disk.properties,
        tessellation=disk.tessellation,
        quadrature=disk.quadrature,
        stiction_tolerance=stiction_tolerance,
    )
    data = disk.make_data(model, ratio)
    times = np.linspace(0, duration, round(duration / sampling) + 1)
    motion = dynamics.integrate(
        data, duration, times=times, relative_tolerance=tolerance,
        absolute_tolerance=1e-5 * tolerance, method=method,
    )  # fmt: skip
    run = DiskRun(
        time=motion.time.tolist(),
        v=np.hypot(motion.qvel[:, 0], motion.qvel[:, 1]).tolist(),
        spin=(RADIUS * np.abs(motion.qvel[:, 5])).tolist(),
        height=motion.qpos[:, 2].tolist(),
    )
    return run, motion.num_evaluations


def _calc_error(run: DiskRun, reference: DiskRun) -> tuple[float, float]:
    """Returns the relative errors of v and w in the L2 norm over the times of the coarse run."""
    spacing = reference.time[1] - reference.time[0]
    index = np.rint(np.array(run.time) / spacing).astype(int)
    errors = []
    for name in ("v", "spin"):
        mine: Vector = np.array(getattr(run, name))
        other: Vector = np.array(getattr(reference, name))[index]
        errors.append(math.sqrt(float(np.sum((mine - other) ** 2) / np.sum(other**2))))
    return errors[0], errors[1]


# ---- The final ratio of the discrete geometry, by an integrator with error control ---------------
# No contact solver and no fixed step take part: the forces are functions of the state
# (stiction.ContinuousDynamics). The remaining error is that of the quadrature rule and of regularized
# friction. Source: [masterjohn2022] section V.A.

_SAMPLING = 1e-5  # [s]
_TOLERANCE = 1e-6  # relative
_STICTION_TOLERANCE = 1e-6  # [m/s]


def study_error_controlled(settings: Settings, ring: float) -> tuple[dict[str, Any], Checks]:
    """Integrates the disk to its stop from several initial ratios. Returns figures and checks."""
    disk = Disk(tips=False)
    final = {}
    for ratio in QUICK_PUBLISHED_RATIOS if settings.quick else RATIOS:
        settings.tell(f"with error control, from {ratio:.3g}")
        run, _ = run_continuous(
            disk, _TOLERANCE, ratio=ratio, duration=LONGEST, sampling=_SAMPLING,
            stiction_tolerance=_STICTION_TOLERANCE, method="LSODA",
        )  # fmt: skip
        final[ratio] = run.ratio_at(PUBLISHED_FRACTION)
    furthest = max(final.values(), key=lambda each: abs(each - ring))
    checks = Checks()
    what = f"final ratio with error control, {len(final)} starts, furthest relative to the ring's"
    source = "V.A: the discrete geometry has a ratio of its own"
    checks.near(what, furthest / ring, 1.0, 5e-3, source)
    return {"final": final, "furthest": furthest / ring - 1}, checks
