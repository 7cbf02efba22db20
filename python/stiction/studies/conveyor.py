"""A box on a belt that oscillates: figures 1 to 3 of [castro2023], section IX.A.

The belt's velocity is prescribed, as that of the ground's surface: that of a step is
(x_b(t + dt) - x_b(t)) / dt, so that the belt is where it should be after every step. Of the box x and z
are simulated, with one contact below its centre.

Belt and box start at rest, the belt at its largest acceleration, which friction cannot follow. A box
that does not start at the belt's speed is thrown up by the models that act at a distance. Velocities of
the scheme are those at the middle of steps, so that the box gets that of half a step before the start.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import mujoco
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from stiction.colours import find_colour
from stiction.studies.checks import (
    Check,
    check_at_least,
    check_at_most,
    check_between,
    check_near,
)
from stiction.studies.convergence import calc_last_order, calc_order, calc_rms_error
from stiction.studies.peers import find_peer_file, read_trajectory
from stiction.studies.planar import (
    GRAVITY,
    STICTION_TOLERANCE,
    PlanarBody,
    Trajectory,
    run_planar,
)
from stiction.studies.planar_checks import (
    NOT_AT_A_DISTANCE,
    check_coupling,
    check_reference,
    check_steps,
)
from stiction.studies.plots import add_legend, draw_convergence, find_line, make_plot
from stiction.studies.study import Settings, Study, StudyResult

Vector = NDArray[np.float64]

MASS = 1.0  # [kg]
SIDE = 0.05  # [m]
FRICTION = 0.7  # [-]
STIFFNESS = 1e7  # [N/m]
DISSIPATION = 500.0  # [s/m]
RELAXATION_TIME = 1e-3  # tau_d of 'sap' [s]; the paper's mantissa is lost in print
AMPLITUDE = 0.2  # of the belt [m]
FREQUENCY = 1.0  # [Hz]
DURATION = 2.0  # [s]
STEPS = (5e-2, 1e-2, 2e-3)  # figure 3 [s]
STEP_SHOWN = 1e-2  # figure 2 [s]

_OMEGA = 2 * math.pi * FREQUENCY
_RADIUS = 0.01  # of the contact sphere [m]; the box does not rotate
_STRICTER = 0.1  # share of v_s at which the reference is run again
_REFERENCE_STEPS = (2e-5, 1e-5)  # [s]
_QUICK_REFERENCE_STEPS = (4e-5, 2e-5)

_REST = SIDE / 2 - MASS * GRAVITY / STIFFNESS  # z on the belt [m]
_BOX = PlanarBody(
    mass=MASS,
    inertia=1.0,
    spheres=((0.0, _RADIUS - SIDE / 2, _RADIUS),),
    friction=FRICTION,
    stiffness=STIFFNESS,
    dissipation=DISSIPATION,
    relaxation_time=RELAXATION_TIME,
    rotates=False,
)


def run_conveyor(settings: Settings) -> StudyResult:
    """All models at all steps, against `lagged` at steps far smaller and the exact solution."""
    result = StudyResult()
    references = []
    for step in _QUICK_REFERENCE_STEPS if settings.quick else _REFERENCE_STEPS:
        settings.tell(f"reference, lagged at {step:g} s")
        references.append(_run("lagged", step))
    runs: dict[str, dict[float, Trajectory]] = {}
    for name in settings.contact_models:
        settings.tell(name)
        runs[name] = {step: _run(name, step) for step in STEPS}
    reference = references[-1]
    errors = {
        name: {step: _calc_error(run, reference) for step, run in of_steps.items()}
        for name, of_steps in runs.items()
    }
    exact = calc_exact_motion(reference.time)
    settings.tell(f"reference, {_STRICTER:g} times the stiction tolerance")
    stricter = _run("lagged", references[0].time_step, _STRICTER * STICTION_TOLERANCE)
    result.figures = {
        "rms_error": errors,
        "order": {name: calc_order(e) for name, e in errors.items()},
        "last_order": {name: calc_last_order(e) for name, e in errors.items()},
        "features": {name: _measure(of_steps[STEP_SHOWN]) for name, of_steps in runs.items()},
        "reference_step": reference.time_step,
        "reference_change": _calc_error(references[0], reference),
        "reference_to_exact": _calc_exact_error(reference.time, reference.q),
        "stricter_reference_to_exact": _calc_exact_error(stricter.time, stricter.q),
        "exact_max_slip": float(np.abs(exact[:, 1]).max()),
        "exact_slip_share": float(np.mean(np.abs(exact[:, 1]) > 1e-9)),
    }
    result.checks = _make_checks(result.figures, settings, runs)
    result.checks += _check_peer(settings, reference, result)
    result.plots = {
        "fig01_box_on_belt": _draw_motion(reference, exact),
        "fig02_velocity_and_force": _draw_contact(runs),
        "fig03_convergence": _draw_errors(errors),
    }
    return result


def calc_belt_position(time: Vector | float) -> Vector | float:
    """x_b [m]: at rest at time 0, one amplitude to the left."""
    return -AMPLITUDE * np.cos(_OMEGA * np.asarray(time))


def calc_belt_velocity(time: Vector | float) -> Vector | float:
    """[m/s]"""
    return AMPLITUDE * _OMEGA * np.sin(_OMEGA * np.asarray(time))


def calc_exact_motion(time: Vector) -> Vector:
    """Position against the belt [m] and slip velocity [m/s] by Coulomb's law, rigid, (n, 2).

    Phases of stiction end when the belt's acceleration exceeds mu g, phases of slip, at which the
    box's acceleration is mu g, when the velocities meet. Each end is found by bisection.

    Args:
        time: ascending from 0.
    """
    bound = FRICTION * GRAVITY
    out = np.zeros((len(time), 2))
    start, position, sign = 0.0, 0.0, 1.0  # of the phase; its direction of friction
    slipping = True  # the belt starts at its largest acceleration, above mu g
    while start < time[-1]:
        u0, x0 = float(calc_belt_velocity(start)), float(calc_belt_position(start)) + position

        def slip(
            t: float, t0: float = start, u0: float = u0, acceleration: float = sign * bound
        ) -> float:
            return u0 + acceleration * (t - t0) - float(calc_belt_velocity(t))

        def excess(t: float) -> float:
            return abs(AMPLITUDE * _OMEGA**2 * math.cos(_OMEGA * t)) - bound

        function = (lambda t, s=sign: s * slip(t)) if slipping else excess
        end = _find_rise(function, start + 1e-6, time[-1])
        inside = (time >= start) & (time <= end)
        t = time[inside]
        if slipping:
            x = x0 + u0 * (t - start) + 0.5 * sign * bound * (t - start) ** 2
            out[inside, 0] = x - calc_belt_position(t)
            out[inside, 1] = [slip(each) for each in t]
            span = end - start
            position = float(
                x0 + u0 * span + 0.5 * sign * bound * span**2 - calc_belt_position(end)
            )
        else:
            out[inside, 0] = position
        # Friction has the sign of the acceleration that it cannot follow.
        sign = 1.0 if math.cos(_OMEGA * end) > 0 else -1.0
        slipping = not slipping or excess(end) > 0
        start = end
    return out


def _find_rise(function: object, start: float, end: float) -> float:
    """The first time at which a function, below 0 at the start, is 0; else the end."""
    assert callable(function)
    grid = np.linspace(start, end, 4000)
    for low, high in itertools.pairwise(grid):
        if function(high) >= 0:
            for _ in range(60):
                middle = 0.5 * (low + high)
                low, high = (middle, high) if function(middle) < 0 else (low, middle)
            return float(high)
    return end


def _run(
    contact_model: str, time_step: float, stiction_tolerance: float = STICTION_TOLERANCE
) -> Trajectory:
    """q and v are against the belt."""

    def move_belt(model: mujoco.MjModel, data: mujoco.MjData, time: float) -> None:
        model.geom_surfacevel[0, 0] = calc_mean_velocity(time)

    def calc_mean_velocity(start: float) -> float:
        return float(calc_belt_position(start + time_step) - calc_belt_position(start)) / time_step

    run = run_planar(
        _BOX,
        contact_model,
        time_step,
        DURATION,
        np.array([calc_belt_position(0.0), _REST]),
        np.array([-0.5 * time_step * FRICTION * GRAVITY, 0.0]),
        before_step=move_belt,
        stiction_tolerance=stiction_tolerance,
    )
    run.q[:, 0] -= calc_belt_position(run.time)
    run.v[:, 0] = run.slip_velocity
    return run


def _calc_error(run: Trajectory, reference: Trajectory) -> float:
    return calc_rms_error(run.time, run.q, reference.time, reference.q)


def _calc_exact_error(time: Vector, q: Vector) -> float:
    """Of x alone, root mean square [m]."""
    return float(np.sqrt(np.mean((q[:, 0] - calc_exact_motion(time)[:, 0]) ** 2)))


def _measure(run: Trajectory) -> dict[str, float]:
    """What figure 2 shows. Forces and velocities but of the first two steps, in which the models find
    their own equilibrium.
    """
    force, v_n = run.normal_force[2:], run.normal_velocity[2:]
    fastest = int(np.argmax(np.abs(run.slip_velocity)))
    return {
        "max_slip": float(np.abs(run.slip_velocity[fastest])),
        "slip_share": float(np.mean(np.abs(run.slip_velocity) > 2 * STICTION_TOLERANCE)),
        "gap_at_max_slip": float(run.z[fastest] - _REST),
        "max_normal_velocity": float(np.abs(v_n).max()),
        "min_normal_force": float(force.min()),
        "max_normal_force": float(force.max()),
    }


def _make_checks(
    figures: dict[str, Any], settings: Settings, runs: dict[str, dict[float, Trajectory]]
) -> list[Check]:
    errors, features = figures["rms_error"], figures["features"]
    everything = [run for of_steps in runs.values() for run in of_steps.values()]
    checks = [
        check_reference(figures["reference_change"], errors),
        check_at_most(
            "reference to the exact solution, x rms [m]",
            figures["reference_to_exact"],
            STICTION_TOLERANCE * DURATION,
            "creep of v_s for all the time",
        ),
        check_at_most(
            f"that with {_STRICTER:g} v_s, share",
            figures["stricter_reference_to_exact"] / figures["reference_to_exact"],
            2 * _STRICTER,
            "creep is proportional to v_s",
        ),
        check_steps(everything),
        *check_coupling(everything),
    ]
    for name in settings.pick(*NOT_AT_A_DISTANCE):
        checks += _check_no_gliding(name, errors[name][STEPS[-1]], features[name])
    for name in settings.pick("lagged", "lagged_regularized", "coulomb", "similar"):
        checks.append(
            check_at_least(f"order of convergence, {name}", figures["order"][name], 0.85, "fig. 3")
        )
    for name in settings.pick(*_GLIDING):
        checks += _check_gliding(name, errors[name][STEPS[-1]], features[name])
    for name in settings.pick("sap"):
        checks.append(
            check_at_most(
                f"order between the smallest steps, {name}",
                figures["last_order"][name],
                0.7,
                "fig. 3: a plateau; theory 11.1: 0.54",
            )
        )
    for name in settings.pick(*NOT_AT_A_DISTANCE, *_GLIDING):
        checks.append(
            check_near(
                f"largest slip, {name} [m/s]",
                features[name]["max_slip"],
                figures["exact_max_slip"],
                0.02,
                "exact solution",
            )
        )
    return checks


def _check_no_gliding(name: str, error: float, features: dict[str, float]) -> list[Check]:
    limit, source = (1.3e-4, "peer: Drake's tamsi") if name == "tamsi" else (4.4e-5, "target")
    return [
        check_at_most(f"rms error at 2 ms, {name} [m]", error, limit, source),
        check_at_most(
            f"vertical motion, {name} [m/s]", features["max_normal_velocity"], 1e-9, "fig. 2: none"
        ),
        check_between(
            f"largest normal force, {name} [N]",
            features["max_normal_force"],
            MASS * GRAVITY - 1e-6,
            MASS * GRAVITY + 1e-6,
            "fig. 2: the weight",
        ),
    ]


# What a prototype of the theory found, one contact and the same start: error at 2 ms, smallest and
# largest normal force at 10 ms, largest normal velocity.
_GLIDING = {
    "similar": (9.0e-5, 9.53, 10.98, 1.7e-2),
    "sap": (2.3e-4, 9.50, 11.05, 1.8e-2),
}


def _check_gliding(name: str, error: float, features: dict[str, float]) -> list[Check]:
    prototype = "theory 11.1, prototype"
    wanted_error, low, high, v_n = _GLIDING[name]
    reach = STEP_SHOWN + (RELAXATION_TIME if name == "sap" else 0)
    return [
        check_near(f"rms error at 2 ms, {name} [m]", error, wanted_error, 0.2, prototype),
        check_near(
            f"smallest normal force, {name} [N]",
            features["min_normal_force"],
            low,
            5e-3,
            prototype,
        ),
        check_near(
            f"largest normal force, {name} [N]",
            features["max_normal_force"],
            high,
            5e-3,
            prototype,
        ),
        check_near(
            f"largest normal velocity, {name} [m/s]",
            features["max_normal_velocity"],
            v_n,
            0.03,
            prototype,
        ),
        check_near(
            f"gap at the largest slip, {name} [m]",
            features["gap_at_max_slip"],
            FRICTION * reach * features["max_slip"],
            0.01,
            "mu (dt + tau) |v_t|, theory 6.6",
        ),
    ]


def _check_peer(settings: Settings, reference: Trajectory, result: StudyResult) -> list[Check]:
    path = find_peer_file(settings, result, "conveyor_lagged_ref_2e-4")
    if path is None:
        return []
    peer = read_trajectory(path)
    q = np.column_stack([peer["x_rel"], peer["z"]])
    distance = calc_rms_error(peer["t"], q, reference.time, reference.q)
    result.figures["peer_reference"] = distance
    return [
        check_at_most(
            "distance to Drake's reference [m]",
            distance,
            2e-5,
            "its own error: its scheme's at its step of 0.2 ms is 1.4e-5",
        )
    ]


def _draw_motion(reference: Trajectory, exact: Vector) -> Figure:
    figure, (left, right) = make_plot(2)
    time = reference.time
    slips = np.abs(exact[:, 1]) > 1e-9
    for axes in (left, right):
        low, high = (-0.25, 0.25) if axes is left else (-0.13, 0.13)
        axes.fill_between(
            time, low, high, where=slips, color="k", alpha=0.07, lw=0, label="slip, exact"
        )
        axes.set_ylim(low, high)
        axes.set_xlabel("time [s]")
    left.plot(time, calc_belt_position(time), color="0.5", label="belt")
    left.plot(
        time, calc_belt_position(time) + reference.x, color=find_colour("lagged"), label="box"
    )
    left.set_ylabel("x [m]")
    right.plot(time, exact[:, 1], color="0.5", lw=4, label="Coulomb, exact")
    right.plot(
        time, reference.slip_velocity, color=find_colour("lagged"), label="reference, lagged"
    )
    right.set_ylabel("slip velocity [m/s]")
    left.legend(loc="lower right", fontsize=9)
    right.legend(loc="lower right", fontsize=9)
    return figure


def _draw_contact(runs: dict[str, dict[float, Trajectory]]) -> Figure:
    """Of figure 2; what leaves the frame are the peaks of 'mujoco'."""
    figure, axes = make_plot(2, 2, height=2.8)
    panels = [
        ("slip_velocity", "slip velocity [m/s]", (-0.13, 0.13)),
        ("friction_force", "friction force [N]", (-9, 9)),
        ("normal_velocity", "normal velocity [m/s]", (-0.025, 0.025)),
        ("normal_force", "normal force [N]", (8.8, 11.5)),
    ]
    for panel, (field, label, limits) in zip(axes, panels, strict=True):
        for name, of_steps in runs.items():
            run = of_steps[STEP_SHOWN]
            panel.plot(run.time[1:], getattr(run, field)[1:], **find_line(name, list(runs)))
        panel.set_ylabel(label)
        panel.set_ylim(*limits)
        panel.set_xlim(0, DURATION)
    for panel in axes[2:]:
        panel.set_xlabel("time [s]")
    add_legend(figure, axes[0])
    return figure


def _draw_errors(errors: dict[str, dict[float, float]]) -> Figure:
    figure, (axes,) = make_plot()
    draw_convergence(axes, errors, "rms error of x and z against the belt [m]")
    return figure


CONVEYOR = Study("conveyor", "a box on an oscillating belt", run_conveyor)
