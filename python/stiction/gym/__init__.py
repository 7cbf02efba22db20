"""Gymnasium environments whose simulations step together in one stiction.Batch.

    import gymnasium
    import stiction.gym  # registers the environments

    envs = gymnasium.make_vec("stiction/Ant-v5", num_envs=64)

Needs Gymnasium: pip install "stiction[gym]".
"""

from stiction.gym.requirements import check_gymnasium

check_gymnasium()

from stiction.gym.single_env import SingleEnv  # noqa: E402
from stiction.gym.task import Task  # noqa: E402
from stiction.gym.task_names import register_environments  # noqa: E402
from stiction.gym.vector_env import BatchVectorEnv, ResetNeededError  # noqa: E402

register_environments()

__all__ = ["BatchVectorEnv", "ResetNeededError", "SingleEnv", "Task"]


def __dir__() -> list[str]:
    return sorted(__all__)
