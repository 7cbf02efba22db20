"""A walking robot under rigid contact without slip and with viscous friction: the second experiment of
[drumwright2015], its robot, gait and controller, on a floor and on hills; and dm_control's quadruped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from stiction.errors import Error
from stiction.studies.checks import check_at_least, check_at_most, check_between
from stiction.studies.quadruped.checks import check_ahead, check_hills, check_in_place, check_whole
from stiction.studies.quadruped.figures import describe_package, describe_walk
from stiction.studies.quadruped.package_walker import run_package_walker
from stiction.studies.quadruped.plots import draw_contacts, draw_hills, draw_walk
from stiction.studies.quadruped.run import RUBBER, VISCOUS, WalkRun, run_trotter
from stiction.studies.quadruped.terrain import Terrain, Vector, make_hills, make_rough_terrain
from stiction.studies.study import Settings, Study, StudyResult

RIGID = ("no_slip", "drumwright_shell")  # of the paper
MODELS = (*RIGID, "lagged", "coulomb", "mujoco")
QUICK_MODELS = 3  # so many, the first
VISCOUS_SOLVERS = ("ppm_ratio", "lemke")
DURATION, QUICK_DURATION = 10.0, 2.2  # [s]; the paper's 10 s
SHORT_DURATION, QUICK_SHORT_DURATION = 5.0, 1.5  # at most, on the plane and over hills [s]
QUICK_VISCOUS_DURATION = 0.5  # at most, for it costs ten times the others' [s]
SPEED, HILL_SPEED = 0.05, 0.1  # that the walk is told to have, on the floor and over hills [m/s]
AGREEMENT_TIME = 0.5  # until which solvers of one problem are compared [s]

# With the published friction of 1000 contacts of a foot whose normals differ hold it down.
_OPTIONS: dict[str, dict[str, Any]] = {"drumwright_shell": {"properties": RUBBER}}

_NO_TARGETS = (
    "the paper's tables II and III, seconds of whole runs, are no targets: its published program solves "
    "drumwright_shell after no_slip in what it times as no_slip, applies viscous forces only below "
    "1.5e-8 N, and treats impacts of the viscous run by other models; compared is what is run here, with "
    "one step, integrator and set of contacts"
)


def run_study(settings: Settings) -> StudyResult:
    """In place as published, ahead, over hills, on oil; then a robot that nobody here wrote."""
    result = StudyResult(notes=[_NO_TARGETS])
    duration = QUICK_DURATION if settings.quick else DURATION
    models = settings.pick(*MODELS)[: QUICK_MODELS if settings.quick else None]
    result.notes += [f"{name} is not studied" for name in RIGID if name not in models]
    floor, hills = make_rough_terrain(), make_hills()

    def walk_all(
        where: str, terrain: Terrain | None, duration: float = duration, **options: Any
    ) -> dict[str, WalkRun]:
        runs = {}
        for name in models:
            settings.tell(f"{where}, {name}")
            own = _OPTIONS.get(name, {})
            runs[name] = run_trotter(terrain, duration, name, **options, **own)
        result.figures[where] = {name: describe_walk(run) for name, run in runs.items()}
        return runs

    in_place = walk_all("in place", floor)
    ahead = walk_all("ahead", floor, command=_order(SPEED))
    short = min(duration, QUICK_SHORT_DURATION if settings.quick else SHORT_DURATION)
    walk_all("plane", None, short, command=_order(SPEED))
    over_hills = walk_all("hills", hills, short, command=_order(HILL_SPEED))
    result.checks = [
        *check_in_place(result.figures["in place"]),
        *check_ahead(result.figures, "ahead"),
        *check_ahead(result.figures, "plane"),
        *check_hills(result.figures["hills"]),
    ]
    for where in ("in place", "ahead", "hills"):
        ratios = _compare_times(result, where, *reversed(RIGID))
        if ratios:
            name = f"{where}: physics, drumwright_shell to no_slip"
            source = "the dearer, as in the paper"
            result.checks.append(check_at_least(name, ratios["physics"], 1, source))
    _study_viscous(
        settings, min(duration, QUICK_VISCOUS_DURATION) if settings.quick else duration, result
    )
    _study_package(settings, result)
    if models:
        result.plots |= {
            "in_place": draw_walk(in_place),
            "ahead": draw_walk(ahead),
            "contacts": draw_contacts(in_place),
            "hills": draw_hills(hills, over_hills),
        }
    return result


def _order(speed: float) -> Callable[[float], Vector]:
    """Ahead [m/s], without the published rule, which says 0 while the nose is not down."""
    return lambda pitch: np.array([speed, 0.0])


def _compare_times(
    result: StudyResult, where: str, slow: str, fast: str
) -> dict[str, float] | None:
    """Of two runs that both were made, as a ratio: wall time of the solver, CPU time of all steps, and of
    the whole run with the controller.
    """
    runs = result.figures[where]
    if slow not in runs or fast not in runs or runs[slow]["failure"] or runs[fast]["failure"]:
        return None
    kinds = {"solver": "solve_us_per_step", "physics": "physics_s", "whole run": "whole_s"}
    ratios = {kind: runs[slow][key] / runs[fast][key] for kind, key in kinds.items()}
    result.figures.setdefault("time_ratios", {})[f"{where}, {slow} to {fast}"] = ratios
    return ratios


def _study_viscous(settings: Settings, duration: float, result: StudyResult) -> None:
    """One problem, two solvers: the same motion, at its own price."""
    if not settings.pick("viscous"):
        result.notes.append("viscous is not studied")
        return
    runs = {}
    for solver in VISCOUS_SOLVERS:
        settings.tell(f"viscous, {solver}")
        runs[solver] = run_trotter(
            make_rough_terrain(), duration, "viscous", lcp_solver=solver, integrator="rk4",
            properties=VISCOUS,
        )  # fmt: skip
    result.figures["viscous"] = {solver: describe_walk(run) for solver, run in runs.items()}
    ratios = _compare_times(result, "viscous", *reversed(VISCOUS_SOLVERS))
    result.checks.append(
        check_between(
            "viscous: whole run, lemke to ppm_ratio", ratios["whole run"] if ratios else None, 0.5, 2,
            "paper 1.37; the LCP of a few contacts is little of a run",
        )
    )  # fmt: skip
    for solver, figures in result.figures["viscous"].items():
        result.checks += check_whole(figures, f"viscous, {solver}", 0.5)
    ours, lemke = (run.base[run.time < AGREEMENT_TIME] for run in runs.values())
    both = len(ours) > 0 and ours.shape == lemke.shape
    distance = float(np.abs(ours - lemke).max()) if both else None
    result.checks.append(
        check_at_most(
            f"viscous: distance of the solvers' bases until {AGREEMENT_TIME:g} s [m]",
            distance,
            1e-6,
            "one solution",
        )
    )
    result.plots["viscous"] = draw_walk(runs)


def _study_package(settings: Settings, result: StudyResult) -> None:
    duration = 3.0 if settings.quick else 8.0
    figures: dict[str, Any] = {}
    for name in settings.pick(*MODELS):
        settings.tell(f"dm_control's quadruped, {name}")
        try:
            walk = run_package_walker(duration, name, **_OPTIONS.get(name, {}))
        except Error as e:
            result.notes.append(f"dm_control's quadruped is left out: {e}")
            return
        figures[name] = describe_package(walk)
        result.checks += [
            check_at_most(
                f"dm_control's quadruped, {name}: failures",
                bool(walk.failure),
                0,
                "whole run",
            ),
            check_at_least(
                f"dm_control's quadruped, {name}: upright [-]",
                figures[name]["least_upright"],
                0.9,
                "stands",
            ),
        ]
        if name != "no_slip":  # of two feet that swing aside together one slips
            way = figures[name]["travel"]
            result.checks.append(
                check_at_least(f"dm_control's quadruped, {name}: way [m]", way, 0.1, "walks")
            )
    result.figures["package"] = figures


STUDY = Study(
    name="quadruped",
    title="a robot that walks without slip",
    run=run_study,
    plots=("in_place", "ahead", "contacts", "hills", "viscous"),
    contact_models=(*RIGID, "viscous", *MODELS[2:]),
)
