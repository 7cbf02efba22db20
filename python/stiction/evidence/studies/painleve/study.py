"""A rod that slides on its tip until it jams: Painleve's paradox under every contact model.

For accelerations, rigid contact has no solution beyond the angle with 1 + 3 cos^2 = 3 mu sin cos.
Time stepping has one: an impulse that stops the tip. Rigid models must jam at this angle, and
compliant ones at the later angle of a rod on a spring.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from stiction.evidence.experiments.painleve import (
    SMALLEST_FRICTION,
    Jam,
    calc_compliant_jam,
    calc_rigid_jam,
    calc_singular_angle,
)
from stiction.evidence.experiments.sliding_rod import ANGLE, FRICTION, STIFFNESS
from stiction.evidence.studies.checks import Checks
from stiction.evidence.studies.painleve.checks import (
    JamRun,
    RodCase,
    check_compliant,
    check_friction,
    check_no_slip,
    check_rigid,
    check_stiffness,
    check_theory,
    find_jam,
)
from stiction.evidence.studies.study import Settings, Study, StudyResult
from stiction.inputs.names import find_models
from stiction.tables.plots import (
    add_legend,
    find_color,
    find_line,
    label_steps,
    make_log_log,
    make_plot,
)

# ---- The plots -----------------------------------------------------------------------------------

_MARKERS = "osD^vPX*<>"


def draw_angles(
    over_step: Mapping[str, Mapping[float, JamRun]],
    spring: Jam,
    over_stiffness: Mapping[float, JamRun],
    springs: Mapping[float, Jam],
    over_friction: Mapping[float, JamRun | None],
) -> Figure:
    """Draws the angle of the jam over the time step, the stiffness and the friction coefficient."""
    figure, (steps, stiffness, friction) = make_plot(3, height=4.2)
    _draw_steps(steps, over_step, spring)
    _draw_stiffness(stiffness, over_stiffness, springs)
    _draw_friction(friction, over_friction)
    add_legend(figure, steps)
    return figure


def _draw_steps(axes: Axes, over_step: Mapping[str, Mapping[float, JamRun]], spring: Jam) -> None:
    shown = {
        name: jams for name, jams in over_step.items() if min(jam.time for jam in jams.values()) > 0
    }
    for i, (name, jams) in enumerate(shown.items()):
        line = {**find_line(name, list(shown)), "lw": 1.3}
        angles = np.degrees([jam.angle for jam in jams.values()])
        axes.plot(list(jams), angles, marker=_MARKERS[i], ms=max(4, 9 - i), **line)
    singular = np.degrees(calc_singular_angle())
    axes.axhline(singular, color="k", ls="--", lw=1, label="singular angle")
    axes.axhline(np.degrees(spring.angle), color="0.7", lw=5, label="motion on a spring", zorder=1)
    axes.set_xscale("log")
    label_steps(axes, sorted({step for jams in shown.values() for step in jams}))
    axes.set_ylabel("angle of the jam [degrees]")


def _draw_stiffness(axes: Axes, jams: Mapping[float, JamRun], springs: Mapping[float, Jam]) -> None:
    singular = calc_singular_angle()
    k = np.array(sorted(springs))
    behind = np.degrees([springs[each].angle - singular for each in k])
    axes.plot(k, behind, color="0.7", lw=5, label="motion on a spring")
    axes.plot(
        list(jams), np.degrees([jam.angle - singular for jam in jams.values()]), "o",
        color=find_color("coulomb"), label="coulomb",
    )  # fmt: skip
    axes.plot(k, 0.6 * behind[0] * (k / k[0]) ** (-1 / 3), "k--", lw=1, label="order -1/3")
    make_log_log(axes)
    axes.set_yticks([0.3, 1, 3], ["0.3", "1", "3"])
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set(xlabel="stiffness [N/m]", ylabel="jam behind the singular angle [degrees]")
    axes.legend(frameon=False, fontsize=9)


def _draw_friction(axes: Axes, jams: Mapping[float, JamRun | None]) -> None:
    mu = SMALLEST_FRICTION + np.geomspace(1e-6, 3 - SMALLEST_FRICTION, 200)
    singular = np.degrees([calc_singular_angle(each) for each in mu])
    axes.plot(mu, singular, "k--", lw=1, label="singular angle")
    found = {each: np.degrees(jam.angle) for each, jam in jams.items() if jam is not None}
    axes.plot(
        list(found), list(found.values()), "o", color=find_color("stewart_trinkle"),
        label="stewart_trinkle",
    )  # fmt: skip
    axes.axhline(np.degrees(ANGLE), color="0.6", lw=1, label="start")
    axes.set(xlabel="friction coefficient", ylabel="angle of the jam [degrees]")
    axes.legend(frameon=False, fontsize=9)


# ---- The study -----------------------------------------------------------------------------------

STEPS = (1.6e-4, 8e-5, 4e-5, 2e-5, 1e-5, 5e-6)  # [s]
QUICK_STEPS = (1.6e-4, 4e-5, 1e-5)
STIFFNESSES = (1e5, 1e6, 1e7, 1e8, 1e9)  # [N/m]
QUICK_STIFFNESSES = (1e5, 1e6, 1e7)
# The first turns down, and the last starts beyond its singular angle.
FRICTIONS = (1.6, 1.9, 2.0, 2.15, FRICTION, 2.45, 3.0)
QUICK_FRICTIONS = (1.6, 2.0, FRICTION, 3.0)
_FRICTION_STEP = 2e-5  # [s]

_RIGID = ("stewart_trinkle", "anitescu_potra", "drumwright_shell", "rigid_coulomb")
_COMPLIANT = find_models(lambda model: not (model.is_rigid or model.is_mj_step))
_JAMS = (*_RIGID, *_COMPLIANT, "no_slip")


def run_study(settings: Settings) -> StudyResult:
    """Runs all models at several time steps, then other stiffnesses and friction coefficients."""
    result = StudyResult()
    rigid, spring = calc_rigid_jam(), calc_compliant_jam(STIFFNESS)
    over_step, failed = _run_steps(settings)
    over_stiffness, springs = _run_stiffnesses(settings)
    over_friction = _run_frictions(settings)
    result.figures = {
        "singular_angle_deg": math.degrees(calc_singular_angle()),
        "rigid": asdict(rigid),
        "spring": asdict(spring),
        "over_time_step": {
            name: {step: _describe(jam) for step, jam in jams.items()}
            for name, jams in over_step.items()
        },
        "over_stiffness": {k: _describe(jam) for k, jam in over_stiffness.items()},
        "springs": {k: asdict(jam) for k, jam in springs.items()},
        "over_friction": {mu: _describe(jam) for mu, jam in over_friction.items()},
    }
    result.checks += check_theory(rigid)
    result.checks.at_most("number of failed steps, all models", failed, 0, "every step is solved")
    result.checks += _check_steps(settings, over_step, rigid, spring)
    result.checks += check_stiffness(over_stiffness, springs)
    result.checks += check_friction(over_friction, _FRICTION_STEP)
    jams = {name: of_steps for name, of_steps in over_step.items() if of_steps}
    result.plots = {"angles": draw_angles(jams, spring, over_stiffness, springs, over_friction)}
    return result


def _run_steps(settings: Settings) -> tuple[dict[str, dict[float, JamRun]], int]:
    """Returns the jams that happen by contact model and time step, and the number of failed steps."""
    jams: dict[str, dict[float, JamRun]] = {}
    failed = 0
    for name in settings.contact_models:
        settings.tell(name)
        jams[name] = {}
        for step in QUICK_STEPS if settings.quick else STEPS:
            run = RodCase(name, step).run()
            failed += sum(run.status.values())
            if (jam := find_jam(run)) is not None:
                jams[name][step] = jam
    return jams, failed


def _run_stiffnesses(settings: Settings) -> tuple[dict[float, JamRun], dict[float, Jam]]:
    """Returns the jams of 'coulomb' and of the integrated motion by stiffness."""
    jams, springs = {}, {}
    for stiffness in QUICK_STIFFNESSES if settings.quick else STIFFNESSES:
        settings.tell(f"coulomb at {stiffness:g} N/m")
        step = 2.5e-6 * math.sqrt(STIFFNESS / stiffness)
        jam = find_jam(RodCase("coulomb", step, stiffness=stiffness).run())
        if jam is not None:
            jams[stiffness] = jam
        springs[stiffness] = calc_compliant_jam(stiffness)
    return jams, springs


def _run_frictions(settings: Settings) -> dict[float, JamRun | None]:
    """Returns the jams of 'stewart_trinkle' by friction coefficient."""
    jams = {}
    for friction in QUICK_FRICTIONS if settings.quick else FRICTIONS:
        settings.tell(f"stewart_trinkle, mu = {friction:g}")
        case = RodCase("stewart_trinkle", _FRICTION_STEP, friction=friction, duration=0.13)
        jams[friction] = find_jam(case.run())
    return jams


def _check_steps(
    settings: Settings, over_step: Mapping[str, Mapping[float, JamRun]], rigid: Jam, spring: Jam
) -> Checks:
    num_steps = len(QUICK_STEPS if settings.quick else STEPS)
    checks = Checks()
    for name, jams in over_step.items():
        if name == "viscous":  # without viscosity the tip slides without friction
            checks.at_most(f"number of jams, {name}", len(jams), 0, "no friction")
        if name not in _JAMS:
            continue
        missed = num_steps - len(jams)
        checks.at_most(f"number of runs without a jam, {name}", missed, 0, "it jams")
        if missed:
            continue
        if name in _RIGID:
            checks += check_rigid(name, jams, rigid)
        elif name in _COMPLIANT:
            checks += check_compliant(name, jams, spring)
        else:
            checks += check_no_slip(jams)
    return checks


def _describe(jam: JamRun | None) -> dict[str, Any] | None:
    """Returns the figures of a jam, fit for JSON."""
    return None if jam is None else {**asdict(jam), "angle_deg": math.degrees(jam.angle)}


STUDY = Study(
    name="painleve",
    title="a rod that jams, under every contact model",
    run=run_study,
    plots=("angles",),
    contact_models=(*_COMPLIANT, *_RIGID, "no_slip", "viscous"),
)
