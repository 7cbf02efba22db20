"""dm_control: Physics, the environments of its suite, and those of composer."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import mujoco

from stiction.clients.client import Client, Substitution


def _find_owner(target: Any) -> Any:
    """Returns a Physics, or the innermost environment, which may make its Physics again."""
    engine = sys.modules.get("dm_control.mujoco.engine")
    if engine is None or isinstance(target, engine.Physics):
        return target if engine else None
    environment = import_module("dm_env").Environment
    while isinstance(target, environment):
        inner = getattr(target, "_env", None)  # of the wrappers in dm_control.suite.wrappers
        if not isinstance(inner, environment):
            return target if hasattr(target, "physics") else None
        target = inner
    return None


def _find_data(owner: Any) -> mujoco.MjData | None:
    # An environment of composer has no physics, and a Physics no data, while it compiles a model.
    physics = getattr(owner, "physics", owner)
    data: mujoco.MjData | None = getattr(getattr(physics, "data", None), "ptr", None)
    return data


def _list_constructors() -> Sequence[tuple[type, str]]:
    # The constructor, the named constructors, copies and pickles all call it.
    return [(import_module("dm_control.mujoco.engine").Physics, "_reload_from_data")]


def _list_shims() -> Sequence[Substitution]:
    """Omits fields that MuJoCo 4 no longer has from the table by which Physics names elements.

    dm_control 1.0.50 reads each field of its table when it makes a Physics, also flex_vertedge,
    flex_vertedgeadr and flex_vertedgenum, which MuJoCo 4.0 has removed.
    """
    sizes = import_module("dm_control.mujoco.wrapper.mjbindings.sizes")
    return [Substitution(sizes, "array_sizes", _drop_removed_fields)]


def _drop_removed_fields(array_sizes: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    structs = {"mjmodel": mujoco.MjModel, "mjdata": mujoco.MjData}
    return {
        struct: {
            name: size
            for name, size in fields.items()
            if struct not in structs or hasattr(structs[struct], name)
        }
        for struct, fields in array_sizes.items()
    }


DM_CONTROL = Client(
    "dm_control", "dm_control", _find_owner, _find_data, _list_constructors, _list_shims
)
