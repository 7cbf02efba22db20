"""Names of the model's elements that entries of a state belong to."""

from __future__ import annotations

from typing import Any

import mujoco
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


def describe_entry(model: mujoco.MjModel, component: str, index: int) -> str:
    """Describes the element of an entry, such as "joint 'lift'", or "joint 3" without a name.

    Args:
        model: the model.
        component: name of a component of the state, such as 'qpos'.
        index: index of the entry in the component.

    Returns:
        The description; empty if the component does not belong to elements.
    """
    obj = mujoco.mjtObj
    match component:
        case "qpos":
            joint = int(np.searchsorted(model.jnt_qposadr, index, side="right")) - 1
            return _describe(model, obj.mjOBJ_JOINT, joint)
        case "qvel" | "warmstart" | "qfrc_applied":
            return _describe(model, obj.mjOBJ_JOINT, int(model.dof_jntid[index]))
        case "act":
            return _describe_owner(model, obj.mjOBJ_ACTUATOR, model.actuator_actadr, index)
        case "ctrl":
            return _describe_owner(model, obj.mjOBJ_ACTUATOR, model.actuator_ctrladr, index)
        case "xfrc_applied":
            return _describe(model, obj.mjOBJ_BODY, index // 6)
        case "mocap_pos" | "mocap_quat":
            mocap = index // (3 if component == "mocap_pos" else 4)
            body = int(np.flatnonzero(model.body_mocapid == mocap)[0])
            return _describe(model, obj.mjOBJ_BODY, body)
        case "eq_active":
            return _describe(model, obj.mjOBJ_EQUALITY, index)
    return ""


def _describe_owner(model: mujoco.MjModel, kind: mujoco.mjtObj, address: np.ndarray, i: int) -> str:
    """Describes the element that owns entry i.

    Args:
        model: the model.
        kind: type of the elements.
        address: index of each element's first entry, -1 for an element without entries.
        i: index of the entry.
    """
    owner = int(np.argmax(np.where(address <= i, address, -1)))
    return _describe(model, kind, owner)


def _describe(model: mujoco.MjModel, kind: mujoco.mjtObj, index: int) -> str:
    label = kind.name.removeprefix("mjOBJ_").lower()
    name = mujoco.mj_id2name(model, kind, index)
    return f"{label} '{name}'" if name else f"{label} {index}"


# ---- The contacts of a recorded step as rows of a table ------------------------------------------


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
