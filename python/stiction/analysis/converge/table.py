"""The table of a convergence for the terminal."""

from __future__ import annotations

from rich.markup import escape
from rich.table import Table

from stiction.analysis.converge.convergence import Convergence, ModelConvergence


def make_table(result: Convergence) -> Table:
    """Makes the table: a row for each contact model, a column of errors for each step."""
    name = result.scene.replace("\\", "/").rsplit("/", 1)[-1]
    title = (
        f"{name}, {result.duration:.4g} s: errors of positions [m], and the step that reaches "
        f"{result.accuracy:g} m"
    )
    table = Table(title=escape(title), title_justify="left", box=None, pad_edge=False)
    table.add_column("contact model", no_wrap=True)
    for step in result.time_steps:
        table.add_column(f"{1e3 * step:.4g} ms", justify="right", no_wrap=True)
    for heading in ("order", "step", f"from {result.reference}"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("status", no_wrap=True)
    for model in result.models:
        errors = [f"{error:.2e}" for error in model.errors] or ["-"] * len(result.time_steps)
        order = "-" if model.order is None else f"{model.order:.2f}"
        distance = "-" if model.limit_distance is None else f"{model.limit_distance:.2e}"
        table.add_row(
            model.label, *errors, order, _format_step(model, result), distance, model.status
        )
    return table


def _format_step(model: ModelConvergence, result: Convergence) -> str:
    step = model.accurate_step
    if step is None:
        return "none"
    sign = ">= " if step >= result.time_steps[0] else "~" if model.is_extrapolated else ""
    return f"{sign}{1e3 * step:.3g} ms"
