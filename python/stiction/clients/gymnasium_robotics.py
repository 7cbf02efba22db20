"""gymnasium-robotics: the Fetch and hand environments, and those built on Gymnasium's MujocoEnv."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np

from stiction.clients import gymnasium
from stiction.clients.client import Client, Substitution, get_data


def _find_owner(target: Any) -> Any:
    environment = gymnasium.find_environment(target)
    module = type(environment).__module__
    return environment if module.startswith("gymnasium_robotics.") else None


def _list_constructors() -> Sequence[tuple[type, str]]:
    base = import_module("gymnasium_robotics.envs.robot_env").BaseRobotEnv
    return [(base, "__init__"), *gymnasium.list_constructors()]


def _list_shims() -> Sequence[Substitution]:
    """Makes the types of joints integers in the module that gets and sets positions of joints.

    gymnasium-robotics 1.4.2 asserts `model.jnt_type[joint] in (mujoco.mjtJoint.mjJNT_HINGE, ...)`. In
    MuJoCo 4 an enum does not equal NumPy's integers, if it stands on the left of the comparison, so
    the Fetch, hand and kitchen environments cannot be made.
    """
    if np.int32(mujoco.mjtJoint.mjJNT_HINGE) in (mujoco.mjtJoint.mjJNT_HINGE,):
        return []
    utils = import_module("gymnasium_robotics.utils.mujoco_utils")
    return [Substitution(utils, "mujoco", lambda module: _IntegerJointTypes())]


class _IntegerJointTypes:
    """The module mujoco, except that mjtJoint has integers."""

    mjtJoint = SimpleNamespace(  # noqa: N815
        **{name: int(value) for name, value in mujoco.mjtJoint.__members__.items()}
    )

    def __getattr__(self, name: str) -> Any:
        return getattr(mujoco, name)


GYMNASIUM_ROBOTICS = Client(
    "gymnasium_robotics",
    "gymnasium-robotics",
    _find_owner,
    get_data,
    _list_constructors,
    _list_shims,
)
