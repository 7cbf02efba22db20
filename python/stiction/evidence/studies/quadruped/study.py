"""A walking robot under rigid contact without slip and with viscous friction: the second
experiment of [drumwright2015], on a floor and on hills, and dm_control's quadruped."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from stiction.errors import Error
from stiction.evidence.studies.quadruped.checks import (
    check_ahead,
    check_counts,
    check_hills,
    check_in_place,
    check_whole,
    describe_package,
    describe_walk,
)
from stiction.evidence.studies.quadruped.run import (
    RUBBER,
    VISCOUS,
    WalkRun,
    run_package_walker,
    run_trotter,
)
from stiction.evidence.studies.quadruped.terrain import (
    PITCH,
    Terrain,
    Vector,
    make_hills,
    make_rough_terrain,
)
from stiction.evidence.studies.study import Settings, Study, StudyResult
from stiction.tables.plots import add_legend, find_color, make_plot

# ---- The plots -----------------------------------------------------------------------------------

Runs = Mapping[str, WalkRun]

# Styles for two solvers of one model, whose lines coincide.
_SOLVERS: dict[str, dict[str, Any]] = {
    "ppm_ratio": {"color": find_color("viscous"), "lw": 2.6},
    "lemke": {"color": find_color("mujoco"), "ls": "--"},
}


def draw_walk(runs: Runs) -> Figure:
    """Draws position along x, height, pitch and number of contacts over time by contact model."""
    figure, axes = make_plot(2, 2, height=3.0)
    ahead, height, pitch, contacts = axes
    for name, run in runs.items():
        line: dict[str, Any] = {"color": find_color(name), "lw": 1.1, "label": name}
        line |= _SOLVERS.get(name, {})
        ahead.plot(run.time, run.base[:, 0], **line)
        height.plot(run.time, 1e3 * run.base[:, 2], **line)
        pitch.plot(run.time, 1e3 * run.rpy[:, 1], **line)
        contacts.plot(run.time, run.contacts, **{**line, "lw": 0.6})
    ahead.set_ylabel("x of the base [m]")
    height.set_ylabel("z of the base [mm]")
    pitch.set_ylabel("pitch, nose down [mrad]")
    contacts.set_ylabel("contacts per step")
    for each in axes:
        each.set_xlabel("time [s]")
    add_legend(figure, ahead)
    return figure


def draw_contacts(runs: Runs) -> Figure:
    """Draws histograms of the number of contacts, and of active contacts, by contact model."""
    figure, axes = make_plot(2)
    for name, run in runs.items():
        for each, counts in zip(axes, (run.contacts, run.loaded), strict=True):
            share = np.bincount(counts, minlength=1) / max(1, len(counts))
            each.step(np.arange(len(share)), share, where="mid", color=find_color(name), label=name)
    axes[0].set_xlabel("contacts per step")
    axes[1].set_xlabel("active contacts per step")
    axes[0].set_ylabel("fraction of steps")
    add_legend(figure, axes[0])
    return figure


def draw_hills(terrain: Terrain, runs: Runs) -> Figure:
    """Draws the base's height minus 140 mm over its position along x, with the ground at y = 0."""
    figure, (axes,) = make_plot(1)
    end = max(run.base[:, 0].max(initial=0) for run in runs.values())
    x = np.linspace(-0.1, end + 0.1, 400)
    ground = [terrain.calc_height(at, 0) for at in x]
    axes.fill_between(x, 0, 1e3 * np.array(ground), color="k", alpha=0.2, lw=0)
    for name, run in runs.items():
        axes.plot(
            run.base[:, 0], 1e3 * run.base[:, 2] - 140, color=find_color(name), label=name, lw=1
        )
    axes.set(xlabel="x of the base [m]", ylabel="z of the ground, and of the base minus 140 [mm]")
    axes.legend(frameon=False, fontsize=9)
    return figure


# ---- The study -----------------------------------------------------------------------------------

RIGID = ("no_slip", "drumwright_shell")  # the rigid models of the paper
MODELS = (*RIGID, "lagged", "coulomb", "rigid_coulomb", "mujoco")
QUICK_MODELS = 3  # number of models in a quick run
VISCOUS_SOLVERS = ("ppm_ratio", "lemke")
DURATION, QUICK_DURATION = 10.0, 2.2  # duration of a walk; the paper's is 10 s [s]
SHORT_DURATION, QUICK_SHORT_DURATION = 5.0, 1.5  # largest duration on the plane and over hills [s]
QUICK_VISCOUS_DURATION = 0.5  # largest duration of viscous, which is ten times as expensive [s]
COUNT_DURATION = 1.0  # duration of a walk whose contacts are counted [s]
EVENTS = "in place, event-driven"  # the walk as published
SPEED, HILL_SPEED = 0.05, 0.1  # commanded speed on the floor and over hills [m/s]
AGREEMENT_TIME = 0.5  # time until which the solvers of one problem are compared [s]

# Contacts of a foot with different normals hold it down if the friction is the published 1000.
_OPTIONS: dict[str, dict[str, Any]] = {"drumwright_shell": {"properties": RUBBER}}

_NO_TARGETS = (
    "the times in the paper's tables II and III are not used as targets: the published program also "
    "solves drumwright_shell when it times no_slip, applies viscous forces only below 1.5e-8 N, and "
    "uses other models for the impacts of the viscous run; this study compares its own runs, which "
    "have the same time step, integrator and contacts"
)


def run_study(settings: Settings) -> StudyResult:
    """Runs walks in place (as published), forward, over hills and on oil, and dm_control's robot."""
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
    result.checks += check_in_place(result.figures, "in place")
    for where in ("ahead", "plane"):
        result.checks += check_ahead(result.figures, where)
    result.checks += check_hills(result.figures["hills"])
    events = _study_events(settings, floor, duration, result)
    _study_counts(settings, result)
    for where in ("in place", EVENTS, "ahead", "hills"):
        ratios = _compare_times(result, where, *reversed(RIGID))
        if ratios:
            # The rest of a step is the same work under both, and may be most of it over hills.
            name = f"{where}: ratio of the solver's CPU times, drumwright_shell to no_slip"
            source = "more expensive in the paper, too"
            result.checks.at_least(name, ratios["solver"], 1, source)
    _study_viscous(
        settings, min(duration, QUICK_VISCOUS_DURATION) if settings.quick else duration, result
    )
    _study_package(settings, result)
    if models:
        result.plots |= {
            "events": draw_walk(events or in_place),
            "in_place": draw_walk(in_place),
            "ahead": draw_walk(ahead),
            "contacts": draw_contacts(in_place),
            "hills": draw_hills(hills, over_hills),
        }
    return result


def _study_events(
    settings: Settings, floor: Terrain, duration: float, result: StudyResult
) -> dict[str, WalkRun]:
    """Runs the rigid models of the paper as published, with steps divided at touches."""
    runs = {}
    for name in settings.pick(*RIGID):
        settings.tell(f"{EVENTS}, {name}")
        runs[name] = run_trotter(
            floor, duration, name, integrator="event_driven", **_OPTIONS.get(name, {})
        )
    result.figures[EVENTS] = {name: describe_walk(run) for name, run in runs.items()}
    result.checks += check_in_place(result.figures, EVENTS)
    return runs


def _study_counts(settings: Settings, result: StudyResult) -> None:
    """Counts the contacts of no_slip on floors with other distances between their heights."""
    if not settings.pick("no_slip"):
        return
    figures = {}
    for pitch in (PITCH / 2, PITCH, 2 * PITCH):
        settings.tell(f"no_slip on a grid of {1e3 * pitch:.3g} mm")
        floor = make_rough_terrain(pitch=pitch)
        run = run_trotter(floor, COUNT_DURATION, "no_slip", integrator="event_driven")
        figures[pitch] = describe_walk(run)
    result.figures["over_grid"] = figures
    result.checks += check_counts(figures)


def _order(speed: float) -> Callable[[float], Vector]:
    """Returns a constant forward command [m/s]. The published one is 0 unless the nose is down."""
    return lambda pitch: np.array([speed, 0.0])


def _compare_times(
    result: StudyResult, where: str, slow: str, fast: str
) -> dict[str, float] | None:
    """Returns ratios of times of solver, steps and whole runs; None if a run is missing or failed."""
    runs = result.figures[where]
    if slow not in runs or fast not in runs or runs[slow]["failure"] or runs[fast]["failure"]:
        return None
    kinds = {"solver": "solve_us_per_step", "physics": "physics_s", "whole run": "whole_s"}
    ratios = {kind: runs[slow][key] / runs[fast][key] for kind, key in kinds.items()}
    result.figures.setdefault("time_ratios", {})[f"{where}, {slow} to {fast}"] = ratios
    return ratios


def _study_viscous(settings: Settings, duration: float, result: StudyResult) -> None:
    """Runs the viscous model with two solvers, and checks that their motions agree."""
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
    what = "viscous: ratio of CPU times of whole runs, lemke to ppm_ratio"
    source = "paper: 1.37; the LCPs take little of the time"
    result.checks.between(what, ratios["whole run"] if ratios else None, 0.5, 2, source)
    for solver, figures in result.figures["viscous"].items():
        result.checks += check_whole(figures, f"viscous, {solver}", 0.5)
    ours, lemke = (run.base[run.time < AGREEMENT_TIME] for run in runs.values())
    both = len(ours) > 0 and ours.shape == lemke.shape
    distance = float(np.abs(ours - lemke).max()) if both else None
    what = f"viscous: largest difference of the base between solvers until {AGREEMENT_TIME:g} s [m]"
    result.checks.at_most(what, distance, 1e-6, "the solution is unique")
    result.plots["viscous"] = draw_walk(runs)


def _study_package(settings: Settings, result: StudyResult) -> None:
    duration = 3.0 if settings.quick else 8.0
    figures: dict[str, Any] = {}
    for name in settings.pick(*MODELS):
        settings.tell(f"dm_control's quadruped, {name}")
        try:
            walk = run_package_walker(duration, name, **_OPTIONS.get(name, {}))
        except Error as e:
            result.notes.append(f"dm_control's quadruped is not run: {e}")
            return
        figures[name] = describe_package(walk)
        what = f"dm_control's quadruped, {name}: failures"
        result.checks.at_most(what, bool(walk.failure), 0, "the whole run is completed")
        what = f"dm_control's quadruped, {name}: smallest cosine of the tilt [-]"
        result.checks.at_least(what, figures[name]["least_upright"], 0.9, "upright")
        # The walk needs slip: of two feet that swing sideways together, one must slip.
        if name != "no_slip":
            way = figures[name]["travel"]
            result.checks.at_least(
                f"dm_control's quadruped, {name}: distance walked [m]", way, 0.1, "it walks"
            )
    result.figures["package"] = figures


STUDY = Study(
    name="quadruped",
    title="a robot that walks without slip",
    run=run_study,
    plots=("in_place", "events", "ahead", "contacts", "hills", "viscous"),
    contact_models=(*RIGID, "viscous", *MODELS[2:]),
)
