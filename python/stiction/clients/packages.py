"""The packages whose simulations stiction.patch steps."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np

from stiction.clients.client import Client, Substitution, get_data
from stiction.clients.simulations import MJDATA
from stiction.errors import Error
from stiction.inputs.arguments import describe_type
from stiction.inputs.names import suggest_name


def _find_dm_control(target: Any) -> Any:
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


def _list_dm_control_constructors() -> Sequence[tuple[type, str]]:
    # The constructor, the named constructors, copies and pickles all call it.
    return [(import_module("dm_control.mujoco.engine").Physics, "_reload_from_data")]


def _list_dm_control_shims() -> Sequence[Substitution]:
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
    "dm_control",
    "dm_control",
    _find_dm_control,
    _find_data,
    _list_dm_control_constructors,
    _list_dm_control_shims,
)


def _find_environment(target: Any) -> Any:
    """Returns the environment within all wrappers; None if there is none. Error: it is not MuJoCo's."""
    gymnasium = sys.modules["gymnasium"]
    if isinstance(target, gymnasium.vector.VectorEnv):
        raise Error(
            "unsupported",
            "target",
            f"is {describe_type(target)}, which has several environments; patch each of them: "
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
            f"is {describe_type(environment)}, which has no mujoco.MjData as its attribute 'data'; "
            "if it simulates with MuJoCo, patch the MjData itself: stiction.patch(data)",
        )
    return environment


def _list_constructors() -> Sequence[tuple[type, str]]:
    """Returns the constructor of all of Gymnasium's MuJoCo environments from version 4 on."""
    return [(import_module("gymnasium.envs.mujoco.mujoco_env").MujocoEnv, "__init__")]


GYMNASIUM = Client(
    "gymnasium", '"gymnasium[mujoco]"', _find_environment, get_data, _list_constructors
)


def _find_robotics(target: Any) -> Any:
    environment = _find_environment(target)
    module = type(environment).__module__
    return environment if module.startswith("gymnasium_robotics.") else None


def _list_robotics_constructors() -> Sequence[tuple[type, str]]:
    base = import_module("gymnasium_robotics.envs.robot_env").BaseRobotEnv
    return [(base, "__init__"), *_list_constructors()]


def _list_robotics_shims() -> Sequence[Substitution]:
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
    _find_robotics,
    get_data,
    _list_robotics_constructors,
    _list_robotics_shims,
)

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
        f"is {describe_type(target)}, must be an environment of Gymnasium, gymnasium-robotics or "
        f"dm_control, a Physics of dm_control, a mujoco.MjData, or the name of a package "
        f"({', '.join(repr(name) for name in _BY_NAME)})",
    )
