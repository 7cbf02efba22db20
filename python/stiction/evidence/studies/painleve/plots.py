"""Plot of the angles at which the rod jams."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from stiction.evidence.experiments.painleve import SMALLEST_FRICTION, Jam, calc_singular_angle
from stiction.evidence.experiments.sliding_rod import ANGLE
from stiction.evidence.studies.painleve.run import JamRun
from stiction.tables.plots import (
    add_legend,
    find_color,
    find_line,
    label_steps,
    make_log_log,
    make_plot,
)

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
