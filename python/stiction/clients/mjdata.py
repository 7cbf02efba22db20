"""Any program that calls mujoco.mj_step on one MjData: viewers, scripts, other packages."""

from __future__ import annotations

from typing import Any

import mujoco

from stiction.clients.client import Client


def _find_owner(target: Any) -> mujoco.MjData | None:
    return target if isinstance(target, mujoco.MjData) else None


def _find_data(owner: mujoco.MjData) -> mujoco.MjData:
    return owner


MJDATA = Client("mujoco", "mujoco", _find_owner, _find_data)
