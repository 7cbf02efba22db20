"""The packages whose simulations stiction.patch steps."""

from __future__ import annotations

from typing import Any

from stiction.clients.client import Client
from stiction.clients.dm_control import DM_CONTROL
from stiction.clients.gymnasium import GYMNASIUM
from stiction.clients.gymnasium_robotics import GYMNASIUM_ROBOTICS
from stiction.clients.simulations import MJDATA
from stiction.errors import Error
from stiction.inputs.suggestions import suggest_name

# The first client that knows a target takes it. gymnasium-robotics stands before gymnasium, because
# its environments are also environments of gymnasium.
CLIENTS = (MJDATA, DM_CONTROL, GYMNASIUM_ROBOTICS, GYMNASIUM)
_BY_NAME = {client.name: client for client in CLIENTS if client is not MJDATA}


def find_client(target: Any) -> tuple[Client, Any]:
    """Returns the client of a target, or raises Error, and the object to follow, None for a package."""
    if isinstance(target, str):
        if target not in _BY_NAME:
            suggestion = suggest_name(target, list(_BY_NAME))
            raise Error("unknown_name", "target", f"there is no package '{target}' {suggestion}")
        client = _BY_NAME[target]
        client.load()
        return client, None
    for client in CLIENTS:
        if client.is_loaded and (owner := client.find_owner(target)) is not None:
            return client, owner
    raise Error(
        "wrong_shape",
        "target",
        f"is a {type(target).__name__}, must be an environment of Gymnasium, gymnasium-robotics or "
        f"dm_control, a Physics of dm_control, a mujoco.MjData, or the name of a package "
        f"({', '.join(repr(name) for name in _BY_NAME)})",
    )
