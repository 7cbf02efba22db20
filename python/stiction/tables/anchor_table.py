"""The springs of contacts that stick under friction_law 'elastic' as one table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stiction.tables.record_table import RecordTable, Rows

TABLE = RecordTable(
    "anchors",
    (
        ("bodies", "i4", (2,), "", "ids of the first and the second body"),
        ("geoms", "i4", (2,), "", "ids of the first and the second geom"),
        ("elements", "i4", (2,), "", "elements that meet in a face; -1 for a contact point"),
        ("position", "f8", (3,), "m", "contact point at the start of the step"),
        ("normal", "f8", (3,), "", "unit normal from the first into the second body"),
        ("stretch", "f8", (3,), "m", "stretch of the second body relative to the first"),
        ("twist", "f8", (3,), "rad", "torsion about the normal, and rolling"),
        ("force", "f8", (3,), "N", "force of the spring on the second body"),
        ("stiffness", "f8", (), "N/m", "tangential stiffness of the contact"),
        ("slipping", "?", (), "", "true if the contact slid in the step"),
    ),
)
DTYPE = TABLE.dtype
UNITS = {name: unit for name, _, _, unit, _ in TABLE.fields if unit}


def tabulate_anchors(columns: dict[str, Any], geom_bodies: NDArray[np.int32]) -> Rows:
    """Returns the rows of anchors.

    Args:
        columns: arrays with the names of DTYPE, without `bodies`.
        geom_bodies: id of the body of each geom, mjModel's geom_bodyid.
    """
    rows = np.empty(len(columns["geoms"]), DTYPE)
    for name, values in {**columns, "bodies": geom_bodies[columns["geoms"]]}.items():
        rows[name] = values
    return rows
