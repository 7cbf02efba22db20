"""Names of the model's elements that entries of a state belong to."""

from __future__ import annotations

import mujoco
import numpy as np


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
