"""The contacts of a recorded step as rows of a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stiction.recording.step import Step
from stiction.tables.contact_table import (
    FACE_FIELDS,
    calc_couple,
    tabulate_faces,
    tabulate_points,
)
from stiction.tables.record_table import Rows


def tabulate_step(step: Step, geom_bodies: NDArray[np.int32], time_step: float) -> Rows:
    """Returns the contacts of a recorded step as rows of contact_table.DTYPE.

    Args:
        step: the step.
        geom_bodies: id of the body of each geom, mjModel's geom_bodyid.
        time_step: length of a step [s]; a call of Simulator.advance has its own.
    """
    contacts, patches = step.contacts, step.patches
    if step.advance is not None:
        time_step = step.advance["duration"] or time_step
    # The patches of a divided step are those of its last part. Its points are those of all parts.
    has_faces = step.report.get("num_parts", 1) == 1
    points = contacts[contacts["patch"] < 0] if has_faces else contacts
    columns: dict[str, Any] = {name: points[name] for name in points.dtype.names or ()}
    tables = [tabulate_points({**columns, "bodies": geom_bodies[points["geoms"]]}, time_step)]
    for i, patch in enumerate(patches if has_faces else ()):
        geoms = patch.patch["geoms"]
        faces: dict[str, Any] = {name: patch.faces[name] for name in FACE_FIELDS}
        pair: dict[str, Any] = {"geoms": geoms, "bodies": geom_bodies[geoms], "patch": i}
        pair["couple"] = calc_couple(patch.patch["center"], patch.patch["torque"], faces)
        tables.append(tabulate_faces({**faces, **pair}, time_step))
    return np.concatenate(tables)
