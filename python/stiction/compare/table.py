"""The columns of a comparison, shared by the terminal and the report."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from rich.table import Table

from stiction._core import contact_model_traits
from stiction.compare.rows import Comparison, Row
from stiction.inputs.names import advise_elastic
from stiction.tables.text_table import make_text_table


@dataclass(frozen=True)
class Column:
    """A column of the table.

    value: returns a row's value in the unit, or None.
    floor: values up to this size are shown as 0.
    word: returns a word to show in place of a row's value, or None.
    """

    heading: str
    unit: str
    value: Callable[[Row], float | None]
    meaning: str
    digits: int = 3
    floor: float = 0.0
    missing: str = "-"
    word: Callable[[Row], str | None] = lambda row: None

    def format(self, row: Row) -> str:
        """Returns a row's value as text."""
        if word := self.word(row):
            return word
        value = self.value(row)
        if value is None:
            return self.missing
        return format_number(value, self.digits) if abs(value) > self.floor else "0"


def format_number(value: float, digits: int) -> str:
    """Formats a number with significant digits, and with an exponent only if it is small or large."""
    if not 1e-3 <= abs(value) < 1e6:
        return f"{value:.{digits - 1}e}" if value else "0"
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    return f"{value:.{max(0, decimals)}f}"


def _micro(value: float | None) -> float | None:
    return None if value is None else 1e6 * value


_CREEP = (
    Column(
        "creep",
        "um/s",
        lambda row: _micro(row.creep_measured),
        "slip speed of the held body out of the grip, measured over the hold",
        digits=4,
        word=lambda row: "dropped" if row.dropped else None,
    ),
    Column(
        "predicted",
        "um/s",
        lambda row: _micro(row.creep_predicted),
        "slip speed by theory, from the load, the grip and the model's regularization of friction",
        digits=4,
    ),
)
_ADVANCE = (
    Column("steps", "", lambda row: row.advanced_steps, "steps of error control in the whole run"),
    Column(
        "local errors",
        "mm",
        lambda row: None if row.sum_of_errors is None else 1e3 * row.sum_of_errors,
        "sum of the local errors of all steps of error control; no bound of the global error",
    ),
)
_COMMON = (
    Column(
        "penetration", "um", lambda row: _micro(row.penetration), "deepest overlap of two bodies"
    ),
    Column(
        "error bound",
        "um/s",
        lambda row: _micro(row.velocity_bound),
        "proved bound on the solver's error in the velocity of any contact point, maximum of all "
        "steps",
        missing="none",
    ),
    Column(
        "residual",
        "-",
        lambda row: row.relative_residual,
        "relative residual of the solver, to compare with its tolerance; maximum of all steps",
        digits=2,
    ),
    Column(
        "iterations",
        "1/step",
        lambda row: row.iterations,
        "iterations of Newton's method, mean of the judged steps",
        floor=5e-3,
    ),
    Column(
        "contacts", "", lambda row: row.contacts, "number of contacts, mean of the judged steps"
    ),
    Column(
        "cost",
        "us/step",
        lambda row: row.us_per_step,
        "wall time per step, mean of the cheapest 50 steps",
    ),
)
_ENERGY = Column(
    "energy",
    "J",
    lambda row: row.energy_change,
    "change of the kinetic energy and of the potential energies of gravity and springs over the "
    "whole run",
)


def make_columns(comparison: Comparison) -> list[Column]:
    """Returns the columns: with creep if the scene declares a held body, else with energy."""
    columns = [*_CREEP, *_COMMON] if comparison.held else [*_COMMON, _ENERGY]
    return columns if comparison.accuracy is None else [*columns, *_ADVANCE]


def make_title(comparison: Comparison) -> str:
    """Returns one line with the scene, the duration and the time step."""
    name = comparison.scene.replace("\\", "/").rsplit("/", 1)[-1]
    held = f", {comparison.held} held" if comparison.held else ""
    return (
        f"{name}{held}: {comparison.duration:.4g} s in steps of {1e3 * comparison.time_step:g} ms"
    )


def make_table(comparison: Comparison) -> Table:
    """Makes the table for a terminal. Unknown values of a failed row are shown as '-'."""
    columns = make_columns(comparison)
    headings = ["contact model", *(f"{column.heading}\n{column.unit}" for column in columns)]
    rows = [(row.label, *(column.format(row) for column in columns)) for row in comparison.rows]
    align = "l" + "r" * len(columns)
    return make_text_table(headings, rows, align, title=make_title(comparison), no_wrap=True)


def advise_springs(comparison: Comparison) -> str:
    """Returns the advice to hold the body on springs, if it creeps under models that have them."""
    creeping = [
        row.label
        for row in comparison.rows
        if row.creep_predicted
        and comparison.friction_law != "elastic"
        and contact_model_traits(row.contact_model).takes_anchors
    ]
    return advise_elastic(creeping, comparison.friction_law, comparison.held or "")


def describe_trouble(row: Row) -> str | None:
    """Returns the reason why a row failed, or None if it did not fail."""
    if row.status == "ok":
        return None
    if row.status == "refused":
        return f"{row.label}: {row.message}"
    step = f"step {row.num_steps + 1} at {row.end_time:.6g} s"
    return f"{row.label}: {step} failed ({row.status}): {row.message}"
