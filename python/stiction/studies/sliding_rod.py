"""A rod that slides on its tip and jams: figures 7 to 12 of [castro2023], section IX.C.

The tip leads, the centre is behind it, and friction turns the rod upright: with mu above 4/3 the normal
force grows without an impact (Painleve's paradox) until the tip sticks and the rod jumps. Its ends are
spheres of the rod's diameter and touch without overlap; the centre is half the length less a radius from
either. Models that act at a distance start at the gap on which they glide, mu (dt + tau_d) U0 high; else
they are kicked off at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from stiction.colours import find_colour
from stiction.studies.checks import (
    Check,
    check_at_least,
    check_at_most,
    check_near,
)
from stiction.studies.convergence import calc_last_order, calc_order, calc_rms_error
from stiction.studies.peers import find_peer_file, read_trajectory
from stiction.studies.planar import PlanarBody, Trajectory, run_planar
from stiction.studies.planar_checks import check_coupling, check_reference, check_steps
from stiction.studies.plots import add_legend, draw_convergence, find_line, make_plot
from stiction.studies.study import Settings, Study, StudyResult

Vector = NDArray[np.float64]

MASS = 0.3  # [kg]
LENGTH = 0.5  # [m]
RADIUS = 0.005  # [m]
FRICTION = 2.3  # [-]
STIFFNESS = 1e7  # [N/m]
ANGLE = math.radians(30)  # of the rod with the ground
SPEED = 10.0  # U0 [m/s]
DURATION = 0.08  # [s]
STEPS = (6.4e-4, 1.6e-4, 4e-5, 1e-5)  # figure 12 [s]

_SAMPLES = 1e-5  # between samples of fine runs [s]
_STEP_SHOWN = 1e-6  # figures 8 to 11 [s]
_REFERENCE_STEPS = (2e-7, 1e-7)  # [s]
_QUICK_REFERENCE_STEPS = (1e-6, 5e-7)
_STICKS = 1e-2  # slip below this is stiction, in figures of the jam [m/s]


@dataclass(frozen=True)
class Dissipation:
    """A case. name: as in figures. d [s/m]; tau: 'sap's [s]."""

    name: str
    d: float
    tau: float


CASES = (Dissipation("without", 0.0, 0.0), Dissipation("with", 0.2, 4e-6))


@dataclass(frozen=True)
class Rod:
    """end: from the centre to the ends' spheres [m]. radius: theirs [m]."""

    end: float = LENGTH / 2 - RADIUS
    radius: float = RADIUS

    def make_body(self, dissipation: Dissipation) -> PlanarBody:
        return PlanarBody(
            mass=MASS,
            inertia=MASS * LENGTH**2 / 12,
            spheres=((self.end, 0.0, self.radius), (-self.end, 0.0, self.radius)),
            friction=FRICTION,
            stiffness=STIFFNESS,
            dissipation=dissipation.d,
            relaxation_time=dissipation.tau,
        )

    def run(
        self, contact_model: str, dissipation: Dissipation, time_step: float, stride: int = 1
    ) -> Trajectory:
        reach = {"similar": time_step, "sap": time_step + dissipation.tau}.get(contact_model, 0.0)
        height = self.end * math.sin(ANGLE) + self.radius + FRICTION * reach * SPEED
        return run_planar(
            self.make_body(dissipation),
            contact_model,
            time_step,
            DURATION,
            np.array([0.0, height, -ANGLE]),
            np.array([SPEED, 0.0, 0.0]),
            stride=stride,
        )


_ROD = Rod()
# As thin as a prototype of the theory had it: the contact stays at the rod's very end.
_THIN_ROD = Rod(end=LENGTH / 2, radius=1e-6)


def run_sliding_rod(settings: Settings) -> StudyResult:
    """Both cases: all models at all steps against `lagged` at steps far smaller; close looks at the
    jam.
    """
    result = StudyResult()
    runs: dict[str, dict[str, dict[float, Trajectory]]] = {}
    fine: dict[str, dict[str, Trajectory]] = {}
    references: dict[str, Trajectory] = {}
    for case in CASES:
        references[case.name], change = _run_references(settings, case)
        runs[case.name] = {}
        for name in settings.contact_models:
            settings.tell(f"{name}, {case.name} dissipation")
            runs[case.name][name] = {step: _ROD.run(name, case, step) for step in STEPS}
        fine[case.name] = _run_fine(settings, case, _ROD)
        result.figures[case.name] = _describe(
            runs[case.name], fine[case.name], references[case.name], change
        )
    thin = {case.name: _run_fine(settings, case, _THIN_ROD) for case in CASES}
    result.figures["thin_rod"] = {
        case: {name: measure_jam(run) for name, run in of_models.items()}
        for case, of_models in thin.items()
    }
    result.checks = _make_checks(settings, result.figures, runs, fine)
    for case in CASES:
        result.checks += _check_peer(settings, case, fine[case.name], result)
    result.plots = _draw(runs, fine, references)
    return result


def _run_references(settings: Settings, case: Dissipation) -> tuple[Trajectory, float]:
    """The reference, and its distance from that at twice the step."""
    runs = []
    for step in _QUICK_REFERENCE_STEPS if settings.quick else _REFERENCE_STEPS:
        settings.tell(f"reference, lagged at {step:g} s, {case.name} dissipation")
        runs.append(_ROD.run("lagged", case, step, round(_SAMPLES / step)))
    return runs[1], _calc_error(runs[0], runs[1])


def _run_fine(settings: Settings, case: Dissipation, rod: Rod) -> dict[str, Trajectory]:
    """The models that the paper shows at 1 us; 'mujoco' has no such stiffness, and others have
    figures of their own at larger steps.
    """
    runs = {}
    for name in settings.pick("lagged", "similar", "sap", "coulomb"):
        settings.tell(f"{name} at {_STEP_SHOWN:g} s, {case.name} dissipation")
        runs[name] = rod.run(name, case, _STEP_SHOWN, round(_SAMPLES / _STEP_SHOWN))
    return runs


def _calc_error(run: Trajectory, reference: Trajectory) -> float:
    """Of x, z [m] and theta [rad], as the peers' figures."""
    return calc_rms_error(run.time, run.q, reference.time, reference.q)


def measure_jam(run: Trajectory) -> dict[str, float]:
    """The largest normal force [N], its time [s], the rod's angle then [degrees], and how long the tip
    sticks around it [s].
    """
    peak = int(np.argmax(run.normal_force))
    sticks = (np.abs(run.slip_velocity) < _STICKS) & (run.normal_force > 0)
    sticks &= np.abs(run.time - run.time[peak]) < 3e-3
    return {
        "force": float(run.normal_force[peak]),
        "time": float(run.time[peak]),
        "angle_deg": -math.degrees(run.q[peak, 2]),
        "stiction": float(sticks.sum() * run.time[1]),
    }


def calc_period(run: Trajectory) -> float | None:
    """Of the normal force's oscillation: the time between its first two maxima [s]; None: fewer."""
    force = run.normal_force
    maxima = 1 + np.nonzero((force[1:-1] > force[:-2]) & (force[1:-1] >= force[2:]))[0]
    return float(run.time[maxima[1]] - run.time[maxima[0]]) if len(maxima) > 1 else None


def _describe(
    runs: dict[str, dict[float, Trajectory]],
    fine: dict[str, Trajectory],
    reference: Trajectory,
    change: float,
) -> dict[str, Any]:
    errors = {
        name: {step: _calc_error(run, reference) for step, run in of_steps.items()}
        for name, of_steps in runs.items()
    }
    return {
        "rms_error": errors,
        "order": {name: calc_order(e) for name, e in errors.items()},
        "last_order": {name: calc_last_order(e) for name, e in errors.items()},
        "jam": {
            name: {step: measure_jam(run) for step, run in of_steps.items()}
            for name, of_steps in runs.items()
        },
        "jam_at_1_us": {name: measure_jam(run) for name, run in fine.items()},
        "period_at_1_us": {name: calc_period(run) for name, run in fine.items()},
        "reference_step": reference.time_step,
        "reference_change": change,
        "reference_jam": measure_jam(reference),
    }


def _make_checks(
    settings: Settings,
    figures: dict[str, Any],
    runs: dict[str, dict[str, dict[float, Trajectory]]],
    fine: dict[str, dict[str, Trajectory]],
) -> list[Check]:
    everything = [run for of in runs.values() for steps in of.values() for run in steps.values()]
    everything += [run for of in fine.values() for run in of.values()]
    checks = [
        check_reference(figures[case.name]["reference_change"], figures[case.name]["rms_error"])
        for case in CASES
    ]
    checks += [check_steps(everything), *check_coupling(everything)]
    reference = figures["without"]["reference_jam"]
    checks += [
        check_near("jam, force of the reference [N]", reference["force"], 812, 0.01, "peer: Drake"),
        check_near("jam, its time [s]", reference["time"], 17.4e-3, 0.01, "peer: Drake"),
        check_near(
            "stiction in the jam [s]", reference["stiction"], 0.2e-3, 0.15, "section IX.C: 0.2 ms"
        ),
        check_at_least(
            "margin of Painleve's condition at the jam",
            calc_painleve_margin(math.radians(reference["angle_deg"])),
            0.0,
            "3 mu sin cos >= 1 + 3 cos^2, theory 11.3",
        ),
    ]
    checks += _check_steps_of_models(settings, figures)
    checks += _check_dissipation(settings, figures)
    return checks + _check_thin_rod(settings, figures["thin_rod"])


def calc_painleve_margin(angle: float) -> float:
    """3 mu sin cos - 1 - 3 cos^2 of a thin rod: not negative where rigid contact has no solution."""
    s, c = math.sin(angle), math.cos(angle)
    return 3 * FRICTION * s * c - 1 - 3 * c * c


def _check_steps_of_models(settings: Settings, figures: dict[str, Any]) -> list[Check]:
    checks = []
    without = figures["without"]
    # Targets of 'coulomb' stand in the model's issue; those of 'tamsi' are what Drake's did.
    for name in settings.pick("coulomb", "tamsi"):
        checks += [
            check_at_most(
                f"rms error at 0.64 ms, {name} [m, rad]",
                without["rms_error"][name][STEPS[0]],
                0.055,
                "target; peer: Drake's tamsi, 0.054",
            ),
            check_at_least(
                f"jam seen at 0.64 ms, {name} [N]",
                without["jam"][name][STEPS[0]]["force"],
                300,
                "target; peer: Drake's tamsi, 674 N",
            ),
        ]
    for name in settings.pick("lagged"):
        errors = without["rms_error"]
        checks += [
            check_at_most(
                f"jam missed at 0.64 ms, {name} [N]",
                without["jam"][name][STEPS[0]]["force"],
                50,
                "fig. 12, theory 11.3: 9 N; peer: Drake 38 N",
            ),
            check_at_least(
                f"order between the smallest steps, {name}",
                without["last_order"][name],
                0.75,
                "fig. 12: 1; peer: Drake 0.8-1.1",
            ),
        ]
        for other in settings.pick("similar", "sap"):
            checks.append(
                check_at_least(
                    f"error of lagged over that of {other} at 0.64 ms",
                    errors[name][STEPS[0]] / errors[other][STEPS[0]],
                    1.0,
                    "fig. 12: lagged worst at the largest step",
                )
            )
    if {"similar", "sap"} <= set(settings.contact_models):
        for step in STEPS:
            e1, e2 = (without["rms_error"][name][step] for name in ("similar", "sap"))
            checks.append(
                check_at_most(
                    f"sap and similar differ at {1e3 * step:g} ms, share of the error",
                    abs(e1 - e2) / e2,
                    0.02,
                    "fig. 12: indistinguishable",
                )
            )
    return checks


def _check_dissipation(settings: Settings, figures: dict[str, Any]) -> list[Check]:
    """Figures 10 and 11: who jams earlier, who later, and whose contact is stiffer."""
    jam = figures["with"]["jam_at_1_us"]
    before = figures["without"]["jam_at_1_us"]
    if not {"lagged", "similar", "sap"} <= jam.keys():
        return []
    period = figures["with"]["period_at_1_us"]
    stiffness = (1 + FRICTION * CASES[1].d * SPEED) ** 0.5
    return [
        check_at_most(
            "dissipation changes the time of lagged's jam [s]",
            abs(jam["lagged"]["time"] - before["lagged"]["time"]),
            1e-4,
            "section IX.C: very little",
        ),
        check_at_least(
            "similar jams before lagged, by [s]",
            jam["lagged"]["time"] - jam["similar"]["time"],
            2e-4,
            "figs. 10, 11",
        ),
        check_at_least(
            "sap jams after lagged, by [s]",
            jam["sap"]["time"] - jam["lagged"]["time"],
            2e-4,
            "figs. 10, 11",
        ),
        check_near(
            "similar's frequency over lagged's",
            period["lagged"] / period["similar"],
            stiffness,
            0.05,
            "sqrt(k_eff / k), k_eff = k (1 + mu d |v_t|)",
        ),
    ]


# Of a prototype of the theory with the contact at the rod's end, at 1 us: time of the largest force
# [s], and the force [N] where it was noted.
_PROTOTYPE: dict[str, dict[str, tuple[float, float | None]]] = {
    "without": {"lagged": (25.70e-3, 812), "similar": (25.76e-3, 785), "sap": (25.76e-3, 785)},
    "with": {"lagged": (25.68e-3, None), "similar": (25.22e-3, None), "sap": (26.44e-3, None)},
}


def _check_thin_rod(settings: Settings, jams: dict[str, Any]) -> list[Check]:
    checks = []
    source = "theory 11.3, prototype"
    for case, of_models in _PROTOTYPE.items():
        for name in settings.pick(*of_models):
            time, force = of_models[name]
            jam = jams[case][name]
            where = f"thin rod {case} dissipation, {name}"
            checks.append(check_near(f"{where}: jams at [s]", jam["time"], time, 5e-3, source))
            if force:
                checks.append(check_near(f"{where}: force [N]", jam["force"], force, 0.02, source))
    return checks


def _check_peer(
    settings: Settings, case: Dissipation, fine: dict[str, Trajectory], result: StudyResult
) -> list[Check]:
    """The same model at the same step: all that differs is the program."""
    if "lagged" not in fine:
        return []
    name = {"without": "nodiss", "with": "diss"}[case.name]
    path = find_peer_file(settings, result, f"rod_{name}_lagged_ref_1e-6_every10")
    if path is None:
        return []
    peer = read_trajectory(path)
    ours = fine["lagged"]
    q = np.column_stack([peer["x"], peer["z"], peer["theta"]])
    distance = calc_rms_error(peer["t"], q, ours.time, ours.q)
    result.figures[case.name]["peer_lagged_at_1_us"] = distance
    return [
        check_at_most(
            f"distance to Drake's lagged, both at 1 us, {case.name} dissipation [m, rad]",
            distance,
            1e-8,
            "one scheme, two programs, tolerances of 1e-10",
        )
    ]


def _draw(
    runs: dict[str, dict[str, dict[float, Trajectory]]],
    fine: dict[str, dict[str, Trajectory]],
    references: dict[str, Trajectory],
) -> dict[str, Figure]:
    return {
        "fig07_rod": _draw_motion(references["without"]),
        "fig08_force_without_dissipation": _draw_close_up(fine["without"], "normal_force"),
        "fig09_velocity_without_dissipation": _draw_close_up(fine["without"], "slip_velocity"),
        "fig10_force_with_dissipation": _draw_close_up(fine["with"], "normal_force"),
        "fig11_velocity_with_dissipation": _draw_close_up(fine["with"], "slip_velocity"),
        "fig12_convergence": _draw_errors(runs, references),
    }


def _draw_motion(reference: Trajectory) -> Figure:
    figure, (axes,) = make_plot()
    axes.axhline(0, color="k", lw=1)
    jam = measure_jam(reference)["time"]
    for time in (*np.arange(0, DURATION + 1e-9, 0.01), jam):
        x, z, theta = reference.q[round(time / _SAMPLES)]
        dx, dz = LENGTH / 2 * math.cos(theta), LENGTH / 2 * math.sin(theta)
        is_jam = time == jam
        axes.plot(
            [x - dx, x + dx],
            [z - dz, z + dz],
            color=find_colour("mujoco") if is_jam else find_colour("lagged"),
            lw=4,
            alpha=0.9 if is_jam else 0.45,
            solid_capstyle="round",
            label=f"jams at {1e3 * jam:.1f} ms" if is_jam else None,
        )
    axes.plot(reference.x, reference.z, color="0.3", lw=1, label="centre; rods every 10 ms")
    axes.set_aspect("equal")
    axes.set_xlabel("x [m]")
    axes.set_ylabel("z [m]")
    axes.legend(frameon=False, fontsize=9, loc="upper left")
    return figure


def _draw_close_up(runs: dict[str, Trajectory], field: str) -> Figure:
    """Over all the time until after the jam, and about it; velocities with the normal one below."""
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


def _thin_line(model: str, runs: dict[str, Trajectory]) -> dict[str, Any]:
    line = find_line(model, list(runs))
    return {**line, "lw": 0.9 + 0.9 * (line["lw"] - 1.2)}


def _fit_to_view(axes: Axes) -> None:
    """Limits by what is between those of time; not by the first step, in which a model that glides
    meets the ground.
    """
    low, high = axes.get_xlim()
    shown = []
    for line in axes.lines:
        x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
        shown.append(y[(x >= low) & (x <= high) & (x > 0)])
    values = np.concatenate(shown)
    margin = 0.05 * np.ptp(values)
    axes.set_ylim(values.min() - margin, values.max() + margin)


def _set_force_limits(axes: Axes, runs: dict[str, Trajectory], jam: float) -> None:
    """So that the oscillation before the jam is seen."""
    before = max(run.normal_force[run.time < jam - 1e-3].max() for run in runs.values())
    axes.set_ylim(0, 1.2 * before)


def _draw_errors(
    runs: dict[str, dict[str, dict[float, Trajectory]]], references: dict[str, Trajectory]
) -> Figure:
    figure, axes = make_plot(2, height=4.2)
    for panel, (case, of_models) in zip(axes, runs.items(), strict=True):
        errors = {
            name: {step: _calc_error(run, references[case]) for step, run in steps.items()}
            for name, steps in of_models.items()
        }
        draw_convergence(panel, errors, "rms error of x, z [m] and theta [rad]")
        panel.set_title(f"{case} dissipation")
    return figure


SLIDING_ROD = Study("sliding_rod", "a rod slides on its tip and jams", run_sliding_rod)
