"""The ids under which gymnasium.make_vec and gymnasium.make find the environments."""

from __future__ import annotations

from typing import Any

import gymnasium

# Id, class of the task, number of steps of an episode, parameters of the task. An id is that of the
# environment of Gymnasium or gymnasium-robotics with the same task.
ENVIRONMENTS: tuple[tuple[str, str, int, dict[str, Any]], ...] = (
    ("stiction/Ant-v5", "ant:Ant", 1000, {}),
    ("stiction/Humanoid-v5", "humanoid:Humanoid", 1000, {}),
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
