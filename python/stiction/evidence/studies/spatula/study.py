"""A spatula that turns in a loose soft grip and sticks in a tight one: the slip control of
[masterjohn2022], figures 1 and 10, and Drake's example of the same name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from stiction.evidence.experiments.spatula import (
    EXAMPLE,
    PAPER,
    FlatPatch,
    GripWave,
    SpatulaRun,
    Vector,
    run_spatula,
)
from stiction.evidence.studies.checks import Checks
from stiction.evidence.studies.pages import add_page
from stiction.evidence.studies.peers import find_peer_rows
from stiction.evidence.studies.study import Settings, Study, StudyResult
from stiction.setup.options import DEFAULTS
from stiction.tables.plots import find_color, find_line, label_steps, make_plot
from stiction.view.film import Film
from stiction.view.stills import draw_stills

# ---- The plots -----------------------------------------------------------------------------------

_OURS = find_color(DEFAULTS["contact_model"])
_STICKS, _SLIPS = "black", "crimson"  # colors of arrows


def draw_motion(wave: GripWave, runs: Mapping[str, SpatulaRun], title: str) -> Figure:
    """Draws the pitch over time by contact model. The tight phases are gray."""
    figure, (axes,) = make_plot(1)
    for name, run in runs.items():
        axes.plot(run.time, run.pitch, **find_line(name, list(runs)))
    _shade_tight(axes, wave, next(iter(runs.values())).time[-1])
    axes.set(title=title, xlabel="time [s]", ylabel="pitch [rad]")
    axes.legend(frameon=False, fontsize=9)
    return figure


def draw_grip(wave: GripWave, run: SpatulaRun) -> Figure:
    """Draws figure 10: the grip force over time, and the pitch that it controls."""
    figure, (left, right) = make_plot(2)
    left.plot(run.time, run.pressing, color=_OURS, lw=1.2, label="patches")
    left.step(run.time, run.force, "k--", where="pre", lw=1, label="command")
    left.set_ylabel("grip force [N]")
    left.legend(frameon=False, fontsize=9)
    right.plot(run.time, run.pitch, color=_OURS, lw=1.4)
    right.set_ylabel("pitch [rad]")
    for axes in (left, right):
        _shade_tight(axes, wave, run.time[-1])
        axes.set_xlabel("time [s]")
    return figure


def draw_pressure(patches: Mapping[str, FlatPatch]) -> Figure:
    """Draws a patch on the handle by phase, as in figure 1: pressure and friction of its faces."""
    figure, panels = make_plot(len(patches), height=2.9)
    for axes, (phase, patch) in zip(panels, patches.items(), strict=True):
        axes.grid(visible=False)
        axes.set_aspect("equal")
        faces = PolyCollection([1e3 * face for face in patch.faces], edgecolor="0.4", lw=0.4)
        faces.set(array=1e-3 * patch.pressure, cmap="YlGnBu", clim=(0, None))
        axes.add_collection(faces)
        figure.colorbar(faces, ax=axes, label="pressure [kPa]", shrink=0.8)
        largest = np.linalg.norm(patch.friction, axis=1).max()
        for is_chosen, color in ((~patch.slipping, _STICKS), (patch.slipping, _SLIPS)):
            x, y = 1e3 * patch.center[is_chosen].T
            u, v = patch.friction[is_chosen].T
            axes.quiver(x, y, u, v, color=color, scale=12 * largest, width=0.004)
        axes.set_title(
            f"{phase}: {len(patch.faces)} faces, friction up to {1e-3 * largest:.2g} kPa"
        )
        axes.set_xlabel("along the handle [mm]")
        axes.set_ylabel("across [mm]")
        axes.autoscale_view()
    arrows = [Line2D([], [], color=color, marker=">") for color in (_STICKS, _SLIPS)]
    labels = ["friction on the handle, sticks", "slips"]
    figure.legend(arrows, labels, loc="outside upper center", ncols=2, frameon=False, fontsize=9)
    return figure


def draw_patches(wave: GripWave, run: SpatulaRun) -> Figure:
    """Draws area, number of faces and slip speed over time. The tight phases are gray."""
    figure, (area, faces, slip) = make_plot(3)
    area.plot(run.time, 1e4 * run.area, color=_OURS)
    area.set_ylabel("area of both patches [cm$^2$]")
    faces.plot(run.time, run.faces, color=_OURS, lw=1)
    faces.set_ylabel("faces")
    slip.semilogy(run.time, np.maximum(run.slip_speed, 1e-9), color=_OURS, lw=1)
    slip.set_ylabel("slip speed, mean over the area [m/s]")
    for axes in (area, faces, slip):
        _shade_tight(axes, wave, run.time[-1])
        axes.set_xlabel("time [s]")
    return figure


def draw_convergence(
    steps: Mapping[float, float], speeds: Mapping[float, float], time: float
) -> Figure:
    """Draws the pitch at a time as a function of the time step and of the stiction tolerance."""
    figure, (left, right) = make_plot(2)
    left.semilogx(list(steps), list(steps.values()), "o-", color=_OURS)
    label_steps(left, sorted(steps))
    left.set_ylim(0, 1.25 * max(steps.values()))
    right.semilogx(list(speeds), list(speeds.values()), "o-", color=_OURS)
    right.set(ylim=(0, 1.1 * max(speeds.values())), xlabel="stiction tolerance [m/s]")
    for axes in (left, right):
        axes.set_ylabel(f"pitch at {time:g} s [rad]")
    return figure


def _shade_tight(axes: Axes, wave: GripWave, end: float) -> None:
    """Shades the phases in which the grip is tight."""
    for start in np.arange(0, end, wave.period):
        axes.axvspan(start, min(start + wave.duty * wave.period, end), color="k", alpha=0.06, lw=0)
    axes.set_xlim(0, end)


# ---- The study -----------------------------------------------------------------------------------

STICTION_TOLERANCE = 1e-4  # [m/s]
PAPER_STEP, EXAMPLE_STEP = 5e-3, 4e-2  # [s]
TIMES = (5.9, 11.9, 29.9)  # times shortly before the grip becomes tight again [s]
TIME_SHOWN = TIMES[0]

_DRAKES_MODEL = "lagged_regularized"  # Drake's `lagged`, with which the sweeps are compared
_SHOWN = {"tight": 4.0, "loose": 5.9}  # times at which a patch is drawn [s]
_SETTLING = 0.3  # time after a switch of the grip that is not measured [s]
_STEPS = (4e-2, 2e-2, 1e-2, 5e-3, 2.5e-3, 1.25e-3)  # [s]
_FINEST = min(_STEPS)
_QUICK_STEPS = (4e-2, 1e-2, _FINEST)
_SPEED_STEP = 1e-2  # time step at which the stiction tolerance is varied [s]
_SPEEDS = (1e-3, 1e-4, 1e-5, 1e-6)  # v_s [m/s]
_TOLERANCES = (1e-2, 1e-8)
_MEANS = ("pressing", "faces", "area", "slip_speed", "slipping", "length_ratio")

# Stiction's contact models and Drake's names of the same models.
_DRAKE_NAMES = {
    "lagged_regularized": "lagged",
    "similar": "similar",
    "sap": "sap",
    "tamsi": "tamsi",
}
_MODELS = (*_DRAKE_NAMES, "lagged", "coulomb")
_AGREEMENT = 0.01  # largest relative difference to Drake [-]


def run_study(settings: Settings) -> StudyResult:
    """Runs the waves of the paper and of the example, the latter also with other settings."""
    result = StudyResult()
    settings.tell("the paper's wave")
    paper_duration, duration = (12.0, 12.0) if settings.quick else (24.0, 36.0)
    film = Film(DEFAULTS["contact_model"])
    paper = run_spatula(
        PAPER, paper_duration, PAPER_STEP, times_shown=tuple(_SHOWN.values()), step=film.step
    )
    example: dict[str, SpatulaRun] = {}
    for model in settings.pick(*_MODELS):
        settings.tell(f"the example's wave, {model}")
        example[model] = run_spatula(EXAMPLE, duration, EXAMPLE_STEP, model)
    sweeps = _run_sweeps(settings)
    result.figures = {
        "paper": _describe(PAPER, paper),
        "example": {model: _describe(EXAMPLE, run) for model, run in example.items()},
        **sweeps,
    }
    result.checks += _check_phases(result.figures["paper"])
    result.checks += _check_convergence(sweeps)
    result.checks += _check_peers(settings, result, example)
    result.plots = {
        "fig01_patch": draw_pressure({name: paper.patches[at] for name, at in _SHOWN.items()}),
        "fig01_gripper": draw_stills(
            film, [(name, film.find_frame(at)) for name, at in _SHOWN.items()], azimuth=-75
        ),
        "fig10_grip": draw_grip(PAPER, paper),
        "paper_patches": draw_patches(PAPER, paper),
        "convergence": draw_convergence(
            sweeps["pitch_by_step"], sweeps["pitch_by_stiction_tolerance"], TIME_SHOWN
        ),
    }
    add_page("replay", "A spatula in a soft grip of 16 N and 1 N", [film], result)
    if example:
        result.plots["example_pitch"] = draw_motion(EXAMPLE, example, "1.5 and 6.5 N, 40 ms")
    return result


def _run_sweeps(settings: Settings) -> dict[str, dict[float, float]]:
    """Returns the example's pitch at TIME_SHOWN by time step, stiction tolerance and tolerance."""

    def find_pitch(time_step: float, **options: Any) -> float:
        settings.tell(f"the example's wave at {1000 * time_step:g} ms {options or ''}")
        return run_spatula(EXAMPLE, 6, time_step, _DRAKES_MODEL, **options).find_pitch(TIME_SHOWN)

    steps = _QUICK_STEPS if settings.quick else _STEPS
    return {
        "pitch_by_step": {step: find_pitch(step) for step in steps},
        "pitch_with_fine_openings": {
            step: find_pitch(step, opening_step=_FINEST) for step in steps if step > _FINEST
        },
        "pitch_by_stiction_tolerance": {
            speed: find_pitch(_SPEED_STEP, stiction_tolerance=speed) for speed in _SPEEDS
        },
        "pitch_by_tolerance": {
            tolerance: find_pitch(EXAMPLE_STEP, tolerance=tolerance) for tolerance in _TOLERANCES
        },
    }


def _describe(wave: GripWave, run: SpatulaRun) -> dict[str, Any]:
    """Returns the figures of a run, and means of both phases without the time after a switch."""
    starts = run.time - (run.time[1] - run.time[0])
    is_tight = wave.is_tight(starts)
    since_switch = _calc_time_since_switch(wave, starts)
    described: dict[str, Any] = {
        "pitch_at": {time: run.find_pitch(time) for time in TIMES if time <= run.time[-1]},
        "faces": float(run.faces.mean()),
        "step_us": float(np.median(run.step_us)),
        "surfaces_us": float(np.median(run.surfaces_us)),
        "solve_us": float(np.median(run.solve_us)),
        "max_residual": run.max_residual,
    }
    for phase, chosen in (("tight", is_tight), ("loose", ~is_tight)):
        rows = chosen & (since_switch > _SETTLING)
        described[phase] = {
            "pitch_rate": float(np.mean(np.gradient(run.pitch, run.time)[rows])),
            **{name: float(np.mean(getattr(run, name)[rows])) for name in _MEANS},
        }
    return described


def _calc_time_since_switch(wave: GripWave, time: Vector) -> Vector:
    """Returns the time since the last switch of the grip [s]."""
    phase = np.mod(time + 1e-9, wave.period)
    tight = wave.duty * wave.period
    return np.where(phase < tight, phase, phase - tight)


def _check_phases(figures: dict[str, Any]) -> Checks:
    """Checks slip, patches and faces of both phases of the paper's wave."""
    tight, loose = figures["tight"], figures["loose"]
    checks = Checks()
    what = "force of the patches when tight [N]"
    checks.near(what, tight["pressing"], PAPER.tight, 0.01, "fig. 10: command")
    what = "force of the patches when loose [N]"
    checks.near(what, loose["pressing"], PAPER.loose, 0.01, "fig. 10: command")
    what = "slip speed when tight [m/s]"
    checks.at_most(what, tight["slip_speed"], STICTION_TOLERANCE, "stiction: below v_s")
    what = "slip speed when loose [m/s]"
    checks.at_least(what, loose["slip_speed"], 5 * STICTION_TOLERANCE, "slip: far above v_s")
    what = "ratio of pitch rates, tight to loose"
    source = "paper: the spatula sticks when tight"
    checks.at_most(what, tight["pitch_rate"] / loose["pitch_rate"], 0.1, source)
    what = "ratio of a patch's length to its width when tight"
    checks.at_least(what, tight["length_ratio"], 1.5, "paper: elongated along the handle")
    value = tight["faces"]
    checks.near("number of faces when tight", value, 160, 0.2, "[castro2022] VI.D: about 160")
    value = loose["faces"]
    checks.near("number of faces when loose", value, 60, 0.2, "[castro2022] VI.D: about 60")
    return checks


def _check_convergence(sweeps: dict[str, dict[float, float]]) -> Checks:
    """Checks that the pitch converges in the time step, and in both tolerances. The grip opens
    within milliseconds, which 40 ms cannot resolve. These steps therefore reach the limit only
    if the openings have finer ones."""
    steps, openings = sweeps["pitch_by_step"], sweeps["pitch_with_fine_openings"]
    speeds, tolerances = sweeps["pitch_by_stiction_tolerance"], sweeps["pitch_by_tolerance"]
    checks = Checks()
    what = f"pitch at {TIME_SHOWN:g} s, 40 ms but {1000 * _FINEST:g} ms at openings [rad]"
    source = f"pitch with steps of {1000 * _FINEST:g} ms"
    checks.near(what, openings[EXAMPLE_STEP], steps[_FINEST], 0.02, source)
    for tolerance, pitch in tolerances.items():
        what = f"pitch with tolerance {tolerance:g} [rad]"
        checks.near(what, pitch, steps[EXAMPLE_STEP], 0.02, "pitch with tolerance 1e-5")
    what = "pitch with v_s = 1e-5 m/s [rad]"
    checks.near(what, speeds[1e-5], speeds[1e-6], 0.02, "pitch with v_s = 1e-6 m/s")
    return checks


def _check_peers(settings: Settings, result: StudyResult, runs: dict[str, SpatulaRun]) -> Checks:
    """Compares the example with Drake's results for the same model, time step and v_s."""
    main = find_peer_rows(settings, result, "spatula_main")
    reference = find_peer_rows(settings, result, "spatula_ref")
    if main is None or reference is None:
        return Checks()
    pairs: list[tuple[str, float, float]] = []
    for model in settings.pick(*_DRAKE_NAMES):
        row = main[f"example_{_DRAKE_NAMES[model]}_polygon"]["pitch_at"]
        pairs += [
            (f"{model} at {time:g} s", runs[model].find_pitch(time), row[f"{time:g}"])
            for time in TIMES
            if time <= runs[model].time[-1]
        ]
    by_step = find_peer_rows(settings, result, "spatula_dt") or {}
    for step, pitch in result.figures["pitch_by_step"].items():
        if row := by_step.get(f"lagged_dt{step:g}"):
            pairs.append((f"{1000 * step:g} ms", pitch, row["pitch_at"][f"{TIME_SHOWN:g}"]))
    for speed, pitch in result.figures["pitch_by_stiction_tolerance"].items():
        row = reference[f"lagged_dt{_SPEED_STEP:g}_vs{_format_speed(speed)}"]["pitch_at"]
        pairs.append((f"v_s = {speed:g} m/s", pitch, row[f"{TIME_SHOWN:g}"]))
    result.figures["drake"] = {name: [ours, drake] for name, ours, drake in pairs}
    checks = Checks()
    for name, ours, drake in pairs:
        checks.near(f"pitch, {name} [rad]", ours, drake, _AGREEMENT, "Drake")
    return checks


def _format_speed(speed: float) -> str:
    """Formats a speed as in the tags of Drake's results: 0.001, 0.0001, 1e-05."""
    return f"{speed:g}"


STUDY = Study(
    name="spatula",
    title="a spatula that slips and sticks in a soft grip",
    run=run_study,
    plots=(
        "fig01_patch",
        "fig01_gripper",
        "fig10_grip",
        "paper_patches",
        "convergence",
        "example_pitch",
    ),
)
