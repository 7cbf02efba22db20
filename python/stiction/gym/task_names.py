"""Tasks from what the caller names: a Task, a class, or a text such as 'module:Class'."""

from __future__ import annotations

import dataclasses
from importlib import import_module
from typing import Any

import gymnasium

from stiction.errors import Error
from stiction.gym.task import Task
from stiction.inputs.arguments import check_integer
from stiction.inputs.names import suggest_name
from stiction.setup.options import OPTIONS

TaskLike = Task | type[Task] | str


def make_task(task: TaskLike, parameters: dict[str, Any]) -> tuple[Task, dict[str, Any]]:
    """Makes a task from a task, a class or a name, and returns it with the options of Batch."""
    made = isinstance(task, Task)
    kind = type(task) if isinstance(task, Task) else _find_class(task)
    names = [] if made else [field.name for field in dataclasses.fields(kind)]
    for name in parameters:
        if name not in names and name not in OPTIONS:
            raise TypeError(
                f"there is no parameter '{name}' of {kind.__name__} and no option of Batch "
                f"{suggest_name(name, [*names, *OPTIONS])}"
            )
    given = {name: value for name, value in parameters.items() if name in names}
    options = {name: value for name, value in parameters.items() if name not in names}
    out = task if isinstance(task, Task) else kind(**given)
    check_integer("frame_skip", out.frame_skip, 1)
    return out, options


def _find_class(task: Any) -> type[Task]:
    found = _import_class(task) if isinstance(task, str) else task
    if not isinstance(found, type) or not issubclass(found, Task):
        raise Error(
            "unknown_name",
            "task",
            f"is {task!r}, must be a Task, a class of tasks, or 'module:Class'",
        )
    return found


def _import_class(name: str) -> Any:
    module, _, attribute = name.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as e:
        raise Error("unknown_name", "task", f"is {name!r}, which cannot be imported: {e}") from e


# ---- The ids under which gymnasium.make_vec and gymnasium.make find the environments -------------

# Id, class of the task, number of steps of an episode, parameters of the task. An id is that of the
# environment of Gymnasium or gymnasium-robotics with the same task.
ENVIRONMENTS: tuple[tuple[str, str, int, dict[str, Any]], ...] = (
    ("stiction/Ant-v5", "locomotion:Ant", 1000, {}),
    ("stiction/Humanoid-v5", "locomotion:Humanoid", 1000, {}),
    ("stiction/HandManipulateBlock-v1", "hand_manipulate_block:HandManipulateBlock", 100, {}),
    (
        "stiction/HandManipulateBlockDense-v1",
        "hand_manipulate_block:HandManipulateBlock",
        100,
        {"reward_type": "dense"},
    ),
    ("stiction/PickAndHold-v0", "pick_and_hold:PickAndHold", 150, {}),
)


def register_environments() -> None:
    """Registers the environments, unless they are registered already."""
    for name, task, num_steps, parameters in ENVIRONMENTS:
        if name not in gymnasium.registry:
            gymnasium.register(
                name,
                entry_point="stiction.gym.single_env:SingleEnv",
                vector_entry_point="stiction.gym.vector_env:BatchVectorEnv",
                max_episode_steps=num_steps,
                kwargs={"task": f"stiction.gym.{task}", **parameters},
            )
