"""The columns of a table of artifacts, shared by the terminal and reports."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rich.table import Table

from stiction.analysis.artifacts.budget import PairBudget
from stiction.tables.text_table import make_text_table


@dataclass(frozen=True)
class Column:
    """A column; `values` returns a budget's prediction, measurement and value in the run in SI units."""

    heading: str
    unit: str
    values: Callable[[PairBudget], Sequence[float | None]]
    scale: float
    meaning: str

    def format(self, budget: PairBudget) -> str:
        """Returns the values as text: 'predicted / measured', or 'predicted / measured / in the run'."""
        return " / ".join(_format(value, self.scale) for value in self.values(budget))


COLUMNS = (
    Column(
        "slip",
        "mm/s",
        lambda b: (b.at.slip_speed,),
        1e3,
        "mean slip speed of the contacts of the pair that slide; the artifacts of sliding are those "
        "at this speed",
    ),
    Column(
        "gliding gap",
        "um",
        lambda b: (b.predicted.gliding_gap, b.measured.gliding_gap, b.gap_in_run),
        1e6,
        "height by which sliding lifts the surfaces apart: predicted, measured on a block with the "
        "properties of the pair, and in the run",
    ),
    Column(
        "stiffness",
        "times k",
        lambda b: (b.predicted.stiffness_factor, b.measured.stiffness_factor),
        1,
        "stiffness of the contact while it slides over that of its normal law: predicted and measured",
    ),
    Column(
        "dissipation lost",
        "%",
        lambda b: (b.predicted.dissipation_lost, b.measured.dissipation_lost),
        100,
        "share of the dissipation that the contact lacks while it slides: predicted and measured",
    ),
    Column(
        "transition",
        "um/s",
        lambda b: (b.predicted.transition_speed, b.measured.transition_speed),
        1e6,
        "slip speed between stiction and sliding: predicted and measured",
    ),
    Column(
        "creep",
        "um/s",
        lambda b: (b.predicted.creep, b.measured.creep, b.creep_in_run),
        1e6,
        "slip speed of the contacts that stick, under their mean load: predicted, measured on a "
        "block, and in the run",
    ),
)

CHORD = Column(
    "chord drift",
    "um/s",
    lambda b: (b.predicted.chord_drift, b.measured.chord_drift),
    1e6,
    "slip speed of a held body that moves along chords while what holds it turns: predicted, and "
    "measured on a plate with the same acceleration",
)


def find_columns(budgets: Iterable[PairBudget]) -> tuple[Column, ...]:
    """Returns the columns of a table of budgets: with the chord drift if a contact turns."""
    return (*COLUMNS, CHORD) if any(b.at.turning > _LEAST_TURNING for b in budgets) else COLUMNS


_LEAST_TURNING = 1e-3  # [m/s^2]; in steps of 2 ms it gives a drift of 1 um/s

EXPLANATION = "predicted / measured on a block with the same properties / mean of the run"


def make_table(rows: Sequence[tuple[str, PairBudget]]) -> Table:
    """Makes a table for the terminal; each row has a label, such as the contact model."""
    columns = find_columns(budget for _, budget in rows)
    headings = ["contact model", "geoms", *(f"{c.heading}\n{c.unit}" for c in columns)]
    cells = [
        (label, " and ".join(budget.geoms), *(column.format(budget) for column in columns))
        for label, budget in rows
    ]
    align = "ll" + "r" * len(columns)
    title = f"Artifacts: {EXPLANATION}"
    return make_text_table(headings, cells, align, title=title, no_wrap=True)


def _format(value: float | None, scale: float) -> str:
    if value is None or math.isnan(value):
        return "-"
    scaled = value * scale
    return "0" if abs(scaled) < _ROUND_OFF else f"{scaled:.4g}"


_ROUND_OFF = 1e-3  # in the unit of the column; smaller values are shown as 0
