"""Gymnasium: its MujocoEnv, and every other environment with an MjData called `data`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from stiction.clients.client import Client, get_data
from stiction.errors import Error


def find_environment(target: Any) -> Any:
    """Returns the environment within all wrappers; None if there is none. Error: it is not MuJoCo's."""
    gymnasium = sys.modules["gymnasium"]
    if isinstance(target, gymnasium.vector.VectorEnv):
        raise Error(
            "unsupported",
            "target",
            f"is a {type(target).__name__}, which has several environments; patch each of them: "
            "call stiction.patch(env) in the function that makes an environment, which "
            "AsyncVectorEnv runs in the process of the environment",
        )
    if not isinstance(target, gymnasium.Env):
        return None
    environment = target.unwrapped
    if get_data(environment) is None:
        raise Error(
            "unsupported",
            "target",
            f"is a {type(environment).__name__}, which has no mujoco.MjData as its attribute 'data'; "
            "if it simulates with MuJoCo, patch the MjData itself: stiction.patch(data)",
        )
    return environment


def list_constructors() -> Sequence[tuple[type, str]]:
    """Returns the constructor of all of Gymnasium's MuJoCo environments from version 4 on."""
    return [(import_module("gymnasium.envs.mujoco.mujoco_env").MujocoEnv, "__init__")]


GYMNASIUM = Client(
    "gymnasium", '"gymnasium[mujoco]"', find_environment, get_data, list_constructors
)
