"""The multi-block grasp: figures of [drumwright2015], section on rigid grasping.

Of its 36 contacts, the no-slip model needs only as many normal impulses, and pivots, as the
projected normals have independent rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stiction.evidence.studies.checks import Checks
from stiction.evidence.studies.grasp.run import (
    GraspRun,
    ModelRun,
    run_coulomb,
    run_model,
    run_no_slip,
    time_solvers,
)
from stiction.evidence.studies.grasp.scene import (
    CANONICAL,
    CASES,
    PUBLISHED,
    TIME_STEP,
    find_contacts,
    make_start,
)
from stiction.evidence.studies.study import Settings, Study, StudyResult
from stiction.inputs.names import find_models
from stiction.tables.plots import find_color, make_plot

# ---- The plots -----------------------------------------------------------------------------------

_FLOOR = 1e-18  # value drawn for zero on a log axis [m]


def draw_drop(
    without_slip: GraspRun, coulomb: Mapping[float, GraspRun], models: Mapping[str, ModelRun]
) -> Figure:
    """Draws the distance by which a block is below the grippers over time."""
    figure, (left, right) = make_plot(2)
    _draw(left, "no slip", without_slip.drop, find_color("no_slip"))
    for (friction, run), dash in zip(coulomb.items(), ("-", "--", ":"), strict=True):
        label = f"Stewart and Trinkle, μ = {friction:g}"
        _draw(left, label, run.drop, find_color("stewart_trinkle"), dash)
    left.set_title("36 contacts")
    for name, model in models.items():
        _draw(right, name, model.drop, find_color(name))
    right.set_title("scenes/grasp.xml")
    for axes in (left, right):
        axes.set(yscale="log", xlabel="time [ms]", ylabel="drop of a block [m]")
    left.legend(frameon=False, fontsize=8, loc="center right")
    if models:
        right.legend(
            frameon=False,
            fontsize=8,
            loc="lower right",
            bbox_to_anchor=(1, 0.27),
            ncols=2,
            labelspacing=0.2,
        )
    return figure


def _draw(axes: Axes, name: str, drop: Sequence[float], color: str, dash: str = "-") -> None:
    time = 1e3 * TIME_STEP * (1 + np.arange(len(drop)))
    axes.plot(time, np.maximum(np.abs(drop), _FLOOR), dash, label=name, color=color, lw=1.4)


def draw_times(times: Mapping[str, float], paper: Mapping[str, float]) -> Figure:
    """Draws the time of an LCP by solver, and the paper's times, scaled to that of pivoting."""
    figure, (axes,) = make_plot()
    names = [name for name in times if name != "call"]
    axes.barh(names, [times[name] for name in names], color="#2f7fd0")
    axes.axvline(times["call"], color="0.5", ls="--", lw=1, label="overhead of a call from Python")
    scale = times.get("no_slip, ppm", times["no_slip, ppm_ratio"]) / paper["ppm"]
    for solver, name in (
        ("lemke", "stewart_trinkle, lemke"),
        ("active_set", "no_slip, active_set"),
        ("ppm", "no_slip, ppm"),
    ):
        if name in names:
            axes.plot(scale * paper[solver], name, "k|", ms=16, mew=2)
    axes.plot([], [], "k|", ms=10, mew=2, label="paper's ratios")
    axes.set(xscale="log", xlabel="CPU time of an LCP [µs]")
    axes.invert_yaxis()
    axes.legend(frameon=False, fontsize=9)
    return figure


# ---- The study -----------------------------------------------------------------------------------

NUM_STEPS, QUICK_STEPS = 1000, 150
COULOMB_STEPS = 100
# The rigid models with Coulomb friction.
HOLDING = find_models(lambda model: model.is_rigid and model.uses_friction)
PUBLISHED_FRICTION = 5e39  # friction of the blocks: half the product of 1e20 and 1e20 [-]
STICKING_FRICTION = 1e8  # a value that sticks, too, and that stewart_trinkle uses instead [-]
PIVOTS = {"gripper joint": 5, "published joints": 3, "no joint": 9, "three blocks": 8}
# Times of the paper's runs [s]: Lemke's method with friction, and without slip a QP and pivoting.
PAPER = {"lemke": 10.97, "active_set": 1.99, "ppm": 1.67}


def run_study(settings: Settings) -> StudyResult:
    """Runs all variants without slip, one with Coulomb friction, and the scene under the models."""
    result = StudyResult()
    steps = QUICK_STEPS if settings.quick else NUM_STEPS
    without_slip = {}
    for case in CASES:
        settings.tell(f"no slip, {case.name}")
        without_slip[case.name] = run_no_slip(case, steps)
        result.checks += _check_no_slip(without_slip[case.name])
    coulomb = {}
    for friction in (1.0, STICKING_FRICTION, PUBLISHED_FRICTION):
        settings.tell(f"Stewart and Trinkle, friction {friction:g}")
        coulomb[friction] = run_coulomb(CANONICAL, min(steps, COULOMB_STEPS), friction)
    result.checks += _check_coulomb(coulomb[1.0], "friction 1", 1e-3, "held by friction")
    result.checks += _check_coulomb(
        coulomb[STICKING_FRICTION], "friction 1e8 instead of 5e39", 1e-9, "held without slip"
    )
    settings.tell("times of the solvers")
    times = time_solvers(without_slip[CANONICAL.name].problems, CANONICAL)
    result.checks += _check_times(times)
    models = {}
    for name in settings.contact_models:
        settings.tell(f"scenes/grasp.xml, {name}")
        models[name] = run_model(name, steps)
    result.checks += _check_models(models)
    published = len(find_contacts(PUBLISHED, make_start(PUBLISHED)))
    result.checks.between("contacts with published grippers", published, 36, 36, "four blocks")
    result.figures = {
        "no_slip": {name: run.measure() for name, run in without_slip.items()},
        "coulomb": {f"{friction:g}": run.measure() for friction, run in coulomb.items()},
        "times_us": times,
        "paper_s": PAPER,
        "models": {name: run.measure() for name, run in models.items()},
    }
    result.notes.append(
        "times include the call from Python; `stiction bench lcp` measures the solvers alone; the "
        "paper's times are those of whole runs in MATLAB, with assembly, so ratios to them mean little"
    )
    result.plots = {
        "drop": draw_drop(without_slip[CANONICAL.name], coulomb, models),
        "times": draw_times(times, PAPER),
    }
    return result


def _check_no_slip(run: GraspRun) -> Checks:
    name, figures = run.case.name, run.measure()
    pivots = PIVOTS[name]
    wanted = 12 * (run.case.num_bodies - 1)  # twelve hits for each pair of faces in the row
    checks = Checks()
    what = f"pivots of the first step, {name}"
    checks.between(what, figures["pivots_first"], pivots, pivots, "rank of Q")
    what = f"mean pivots of a step with warm start, {name}"
    checks.at_most(what, figures["pivots_mean"], 0.1, "target")
    what = f"largest number of positive forces, {name}"
    checks.at_most(what, figures["positive_max"], pivots, "theorem 1")
    checks.at_most(f"drop of a block, {name} [m]", figures["drop_max"], 1e-9, "target")
    checks.at_most(f"number of unsolved steps, {name}", figures["unsolved"], 0, "target")
    checks.at_most(f"residual, {name} [m/s]", figures["residual_max"], 1e-9, "target")
    # A second joint connects touching bodies, which then do not collide.
    if len(run.case.joints) < 2:
        what = f"contacts, {name}"
        checks.between(what, figures["contacts"], wanted, wanted, "twelve per pair of faces")
    return checks


def _check_coulomb(run: GraspRun, name: str, drop: float, source: str) -> Checks:
    figures = run.measure()
    checks = Checks()
    what = f"number of unsolved steps, Stewart and Trinkle, {name}"
    checks.at_most(what, figures["unsolved"], 0, "specification")
    value = figures["drop_max"]
    checks.at_most(f"drop of a block, Stewart and Trinkle, {name} [m]", value, drop, source)
    return checks


def _check_times(times: dict[str, Any]) -> Checks:
    checks = Checks()
    what = "ratio of times of an LCP, Stewart and Trinkle to no slip"
    value = times["stewart_trinkle, lemke"] / times["no_slip, ppm_ratio"]
    checks.at_least(what, value, PAPER["lemke"] / PAPER["ppm"], "paper's ratio of whole runs")
    return checks


def _check_models(models: dict[str, Any]) -> Checks:
    checks = Checks()
    for name, run in models.items():
        drop = run.measure()["drop_max"]
        if name == "no_slip":
            checks.at_most("drop of a block, no_slip, MuJoCo's contacts [m]", drop, 1e-9, "target")
        if name in HOLDING:
            checks.at_most(f"drop of a block, {name} [m]", drop, 1e-3, "held by friction")
    return checks


STUDY = Study(
    name="grasp",
    title="two blocks in a row, held by friction between two grippers",
    run=run_study,
    plots=("drop", "times"),
    contact_models=("no_slip", "viscous", *HOLDING, "lagged", "coulomb", "mujoco"),
)
