"""The table of a convergence for the terminal."""

from __future__ import annotations

from rich.table import Table

from stiction.analysis.converge.convergence import Convergence, ModelConvergence
from stiction.tables.text_table import make_text_table


def make_table(result: Convergence) -> Table:
    """Makes the table: a row for each contact model, a column of errors for each step."""
    name = result.scene.replace("\\", "/").rsplit("/", 1)[-1]
    title = (
        f"{name}, {result.duration:.4g} s: errors of positions [m], and the step that reaches "
        f"{result.accuracy:g} m"
    )
    steps = [f"{1e3 * step:.4g} ms" for step in result.time_steps]
    headings = ["contact model", *steps, "order", "step", f"from {result.reference}", "status"]
    rows = []
    for model in result.models:
        errors = [f"{error:.2e}" for error in model.errors]
        errors += ["-"] * (len(result.time_steps) - len(errors))
        order = "-" if model.order is None else f"{model.order:.2f}"
        distance = "-" if model.limit_distance is None else f"{model.limit_distance:.2e}"
        step = _format_step(model, result)
        rows.append((model.label, *errors, order, step, distance, model.status))
    align = "l" + "r" * (len(headings) - 2) + "l"
    return make_text_table(headings, rows, align, title=title, no_wrap=True)


def _format_step(model: ModelConvergence, result: Convergence) -> str:
    step = model.accurate_step
    if step is None:
        return "none"
    sign = ">= " if step >= result.time_steps[0] else "~" if model.is_extrapolated else ""
    return f"{sign}{1e3 * step:.3g} ms"
