"""A plot of how Newton's method converged in a step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stiction._core import TraceReport
from stiction.errors import Error
from stiction.inputs.arguments import describe_type

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

_MAX_LABELS = 12  # more lines than this get no legend


def plot_trace(trace: TraceReport) -> Figure:
    """Draws cost, gradient norm and step length of each run of Newton's method in a step.

    Each run is one line. The first plot shows the cost minus its value at the end of the run. The
    last point is missing, because this difference is 0 there and the axis is logarithmic. Under
    'tamsi', which minimizes no cost, the first plot is empty.

    Args:
        trace: `report.trace` of a step by Simulator(..., trace=True).

    Returns:
        A matplotlib figure with three plots.

    Raises:
        TypeError: the argument is not the trace of a report.
        Error: the trace is empty.
    """
    from matplotlib.figure import Figure  # slow, and only plots need it

    if not isinstance(trace, TraceReport):
        raise TypeError(
            f"trace is {describe_type(trace)}, must be a TraceReport; "
            "pass report.trace of a step by Simulator(..., trace=True)"
        )
    if len(trace) == 0:
        raise Error(
            "unsupported",
            "trace",
            "is empty; make the simulator with trace=True, with a contact model that uses Newton's "
            "method, and step a scene in which something moves",
        )
    figure = Figure(figsize=(9, 3.2), layout="constrained")
    cost, gradient, step = figure.subplots(1, 3)
    runs = _find_runs(trace)
    for rows in runs:
        solve, island, run = (int(a[rows[0]]) for a in (trace.solve, trace.island, trace.run))
        label = f"solve {solve}, island {island}, run {run}"
        iteration = trace.iteration[rows]
        cost.plot(iteration, trace.cost[rows] - trace.cost[rows[-1]], "o-", ms=3, label=label)
        gradient.plot(iteration, trace.gradient_norm[rows], "o-", ms=3, label=label)
        step.plot(iteration[:-1], trace.step_length[rows[:-1]], "o-", ms=3, label=label)
    _finish(cost, "cost above the minimum [J]", log=True)
    _finish(gradient, r"gradient norm [$\sqrt{\mathrm{J}}$]", log=True)
    _finish(step, "step length [-]", log=False)
    if len(runs) <= _MAX_LABELS:
        gradient.legend(fontsize="x-small")
    return figure


def _find_runs(trace: TraceReport) -> list[NDArray[np.intp]]:
    """Returns the rows of each run, in order."""
    starts = np.flatnonzero(trace.iteration == 0)
    return [rows for rows in np.split(np.arange(len(trace)), starts) if len(rows)]


def _finish(axes: Axes, label: str, *, log: bool) -> None:
    axes.set_xlabel("iteration")
    axes.set_ylabel(label)
    axes.locator_params(axis="x", integer=True)
    axes.grid(alpha=0.2)
    # Matplotlib warns of a logarithmic axis without positive values.
    if log and any((np.asarray(line.get_ydata(), float) > 0).any() for line in axes.lines):
        axes.set_yscale("log", nonpositive="mask")
