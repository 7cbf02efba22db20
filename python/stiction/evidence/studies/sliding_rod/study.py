"""A rod that slides on its tip and jams: figures 7 to 12 of [castro2023], section IX.C.

The tip leads, and the center follows behind it. Friction turns the rod upright. With mu above 4/3, the
normal force grows without an impact (Painleve's paradox) until the tip sticks and the rod jumps.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from stiction.evidence.experiments.planar import Trajectory
from stiction.evidence.experiments.planar_case import PlanarCase, Runs, Tell, describe_convergence
from stiction.evidence.experiments.sliding_rod import CASES, THIN_CASES, calc_period, measure_jam
from stiction.evidence.studies.planar_plots import draw_errors
from stiction.evidence.studies.sliding_rod.checks import check_peer, make_checks
from stiction.evidence.studies.sliding_rod.plots import draw_close_up, draw_motion
from stiction.evidence.studies.study import Settings, Study, StudyResult

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
