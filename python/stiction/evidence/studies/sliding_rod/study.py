"""A rod that slides on its tip and jams: figures 7 to 12 of [castro2023], section IX.C.

The tip leads, and the center follows behind it. Friction turns the rod upright. With mu above 4/3, the
normal force grows without an impact (Painleve's paradox) until the tip sticks and the rod jumps.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stiction.evidence.experiments.planar import Trajectory
from stiction.evidence.experiments.planar_case import PlanarCase, Runs, Tell, describe_convergence
from stiction.evidence.experiments.sliding_rod import (
    CASES,
    LENGTH,
    THIN_CASES,
    calc_period,
    measure_jam,
)
from stiction.evidence.studies.planar_plots import draw_errors
from stiction.evidence.studies.sliding_rod.checks import check_peer, make_checks
from stiction.evidence.studies.study import Settings, Study, StudyResult
from stiction.tables.plots import add_legend, find_color, find_line, make_plot

# ---- The plots -----------------------------------------------------------------------------------


def draw_motion(reference: Trajectory) -> Figure:
    """Draws the rod every 10 ms and at the jam."""
    figure, (axes,) = make_plot()
    axes.axhline(0, color="k", lw=1)
    case = CASES["without"]
    jam = measure_jam(reference)["time"]
    for time in (*np.arange(0, case.duration + 1e-9, 0.01), jam):
        x, z, theta = reference.q[round(time / case.sampling)]
        dx, dz = LENGTH / 2 * math.cos(theta), LENGTH / 2 * math.sin(theta)
        is_jam = time == jam
        axes.plot(
            [x - dx, x + dx],
            [z - dz, z + dz],
            color=find_color("mujoco") if is_jam else find_color("lagged"),
            lw=4,
            alpha=0.9 if is_jam else 0.45,
            solid_capstyle="round",
            label=f"jam at {1e3 * jam:.1f} ms" if is_jam else None,
        )
    axes.plot(reference.x, reference.z, color="0.3", lw=1, label="center; rod every 10 ms")
    axes.set(aspect="equal", xlabel="x [m]", ylabel="z [m]")
    axes.legend(frameon=False, fontsize=9, loc="upper left")
    return figure


def draw_close_up(runs: Mapping[str, Trajectory], field: str) -> Figure:
    """Draws forces or velocities until after the jam, and close to it."""
    fields = {"normal_force": "normal force [N]"}
    if field == "slip_velocity":
        fields = {
            "slip_velocity": "slip velocity [m/s]",
            "normal_velocity": "normal velocity [m/s]",
        }
    times = [measure_jam(run)["time"] for run in runs.values()]
    figure, axes = make_plot(2, len(fields), height=3.2)
    for row, (name, label) in enumerate(fields.items()):
        left, right = axes[2 * row : 2 * row + 2]
        for panel in (left, right):
            for model, run in runs.items():
                panel.plot(1e3 * run.time, getattr(run, name), **_thin_line(model, runs))
            panel.set_ylabel(label)
        left.set_xlim(0, 1e3 * max(times) + 4)
        right.set_xlim(1e3 * min(times) - 1, 1e3 * max(times) + 0.8)
        if name == "normal_force":
            _set_force_limits(left, runs, min(times))
        else:
            for panel in (left, right):
                _fit_to_view(panel)
    for panel in axes[-2:]:
        panel.set_xlabel("time [ms]")
    add_legend(figure, axes[0])
    return figure


def _thin_line(model: str, runs: Mapping[str, Trajectory]) -> dict[str, Any]:
    line = find_line(model, list(runs))
    return {**line, "lw": 0.9 + 0.9 * (line["lw"] - 1.2)}


def _fit_to_view(axes: Axes) -> None:
    """Fits the limits to the values in the visible time, without time 0, which has no contact."""
    low, high = axes.get_xlim()
    shown = []
    for line in axes.lines:
        x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
        shown.append(y[(x >= low) & (x <= high) & (x > 0)])
    values = np.concatenate(shown)
    margin = 0.05 * np.ptp(values)
    axes.set_ylim(values.min() - margin, values.max() + margin)


def _set_force_limits(axes: Axes, runs: Mapping[str, Trajectory], jam: float) -> None:
    """Sets limits at which the oscillation before the jam is visible."""
    before = max(run.normal_force[run.time < jam - 1e-3].max() for run in runs.values())
    axes.set_ylim(0, 1.2 * before)


# ---- The study -----------------------------------------------------------------------------------

_STEP_SHOWN = 1e-6  # time step of figures 8 to 11 [s]


def run_study(settings: Settings) -> StudyResult:
    """Compares all models and time steps with a fine reference, and runs the jam at 1 us."""
    result = StudyResult()
    runs: dict[str, Runs] = {}
    fine: dict[str, dict[str, Trajectory]] = {}
    references: dict[str, Trajectory] = {}
    for name, case in CASES.items():

        def tell(text: str, name: str = name) -> None:
            settings.tell(f"{text}, {name} dissipation")

        coarser, references[name] = case.run_references(settings.quick, tell)
        runs[name] = case.run_models(settings.contact_models, tell)
        fine[name] = _run_fine(settings, case, tell)
        result.figures[name] = _describe(case, runs[name], fine[name], coarser, references[name])
    thin = {name: _run_fine(settings, case, settings.tell) for name, case in THIN_CASES.items()}
    result.figures["thin_rod"] = {
        name: {model: measure_jam(run) for model, run in of_models.items()}
        for name, of_models in thin.items()
    }
    result.checks += make_checks(settings, result.figures, runs, fine)
    for name in CASES:
        check_peer(settings, name, fine[name], result)
    result.plots = _draw(result.figures, fine, references)
    return result


def _run_fine(settings: Settings, case: PlanarCase, tell: Tell) -> dict[str, Trajectory]:
    """Runs the models that are drawn and checked at 1 us. 'mujoco' cannot have this stiffness, and
    other models are studied only at larger time steps."""
    runs = {}
    for name in settings.pick("lagged", "similar", "sap", "coulomb"):
        tell(f"{name} at {_STEP_SHOWN:g} s")
        runs[name] = case.run(name, _STEP_SHOWN, sampling=case.sampling)
    return runs


def _describe(
    case: PlanarCase,
    runs: Runs,
    fine: Mapping[str, Trajectory],
    coarser: Trajectory,
    reference: Trajectory,
) -> dict[str, Any]:
    return {
        **describe_convergence(case.calc_errors(runs, reference)),
        "jam": {
            name: {step: measure_jam(run) for step, run in of_steps.items()}
            for name, of_steps in runs.items()
        },
        "jam_at_1_us": {name: measure_jam(run) for name, run in fine.items()},
        "period_at_1_us": {name: calc_period(run) for name, run in fine.items()},
        "reference_step": reference.time_step,
        "reference_change": case.calc_error(coarser, reference),
        "reference_jam": measure_jam(reference),
    }


def _draw(
    figures: Mapping[str, Any],
    fine: Mapping[str, Mapping[str, Trajectory]],
    references: Mapping[str, Trajectory],
) -> dict[str, Figure]:
    errors = {f"{name} dissipation": figures[name]["rms_error"] for name in CASES}
    label = "RMS error of x, z [m] and theta [rad]"
    plots = {"fig07_rod": draw_motion(references["without"])}
    if fine["without"]:  # empty if the settings have none of the models that these plots show
        plots |= {
            "fig08_force_without_dissipation": draw_close_up(fine["without"], "normal_force"),
            "fig09_velocity_without_dissipation": draw_close_up(fine["without"], "slip_velocity"),
            "fig10_force_with_dissipation": draw_close_up(fine["with"], "normal_force"),
            "fig11_velocity_with_dissipation": draw_close_up(fine["with"], "slip_velocity"),
        }
    plots["fig12_convergence"] = draw_errors(errors, label, height=4.2)
    return plots


STUDY = Study(
    name="sliding_rod",
    title="a rod that slides on its tip and jams",
    run=run_study,
    plots=(
        "fig07_rod",
        "fig08_force_without_dissipation",
        "fig09_velocity_without_dissipation",
        "fig10_force_with_dissipation",
        "fig11_velocity_with_dissipation",
        "fig12_convergence",
    ),
)
