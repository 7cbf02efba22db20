"""Trains Gymnasium's Ant to walk, with proximal policy optimization in NumPy.

Usage: python examples/gym/train_ant.py [--steps N] [--out FOLDER]

Writes the policy into FOLDER/ant.npz and the learning curve into FOLDER/ant.png.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

# The matrices are small. Threads of NumPy's BLAS would wait for each other most of the time.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import gymnasium
import numpy as np
from learning_curve import draw_learning_curve
from numpy_agent import Agent
from ppo import Settings, Trainer

import stiction.gym

gymnasium.register_envs(stiction.gym)

NAME = "stiction/Ant-v5"
NUM_ENVS = 64
# Forces on bodies are not needed to walk, and without these 78 observations the learning is faster.
TASK = {"include_cfrc_ext_in_observation": False}


def measure(agent: Any, envs: Any) -> tuple[float, float]:
    """Runs an episode in each environment without noise.

    Returns:
        The mean return, and the mean velocity along x [m/s] of the steps before a fall.
    """
    observations, _ = envs.reset(seed=10**6)
    running = np.ones(envs.num_envs, bool)
    total, distance, num_steps = 0.0, 0.0, 0
    for _ in range(envs.max_episode_steps):
        actions = np.clip(agent.act(observations), -1, 1)
        observations, rewards, terminations, _, infos = envs.step(actions)
        total += (rewards * running).sum()
        if running.any():
            distance += infos["x_velocity"][running].sum()
        num_steps += running.sum()
        running &= ~terminations
    return total / envs.num_envs, distance / num_steps


def train(
    make_agent: Callable[[int, int, float], Any],
    policy_name: str,
    picture_name: str,
    arguments: argparse.Namespace,
) -> None:
    """Trains an agent, prints progress, and writes its policy and the learning curve.

    Args:
        make_agent: takes the numbers of observations and actions, and the deviation of the noise.
        policy_name, picture_name: names of the files of the policy and of the learning curve.
    """
    options: dict[str, Any] = {**TASK, "max_episode_steps": arguments.episode}
    envs = gymnasium.make_vec(NAME, NUM_ENVS, autoreset_mode="SameStep", **options)
    tests = gymnasium.make_vec(NAME, 16, **options)
    settings = Settings()
    sizes = envs.single_observation_space.shape[0], envs.single_action_space.shape[0]
    agent = make_agent(*sizes, settings.deviation)
    trainer = Trainer(envs, agent, settings, seed=0)
    begin = time.perf_counter()
    steps_per_update = NUM_ENVS * settings.num_steps
    num_updates = max(1, arguments.steps // steps_per_update)
    print("before: return {:.0f}, {:.2f} m/s".format(*measure(agent, tests)), flush=True)
    steps, curve = [], []
    for update in range(num_updates):
        trainer.update(update / num_updates)
        if not trainer.returns:
            continue
        steps.append((update + 1) * steps_per_update)
        curve.append(float(np.mean(trainer.returns[-2 * NUM_ENVS :])))
        if update % 10 == 9 or update == num_updates - 1:
            print(
                f"{steps[-1]:9,d} steps  return {curve[-1]:7.1f}  deviation "
                f"{np.exp(agent.log_deviation).mean():.2f}  {time.perf_counter() - begin:5.0f} s",
                flush=True,
            )
    print("after: return {:.0f}, {:.2f} m/s".format(*measure(agent, tests)))
    arguments.out.mkdir(parents=True, exist_ok=True)
    policy, picture = arguments.out / policy_name, arguments.out / picture_name
    agent.save(policy)
    draw_learning_curve(picture, steps, {"PPO, with noise": curve}, NAME)
    print(f"wrote {policy} and {picture}")


def parse_arguments(description: str | None) -> argparse.Namespace:
    """Reads the arguments of the command line."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("--steps", type=int, default=1_500_000, help="steps of all environments")
    parser.add_argument("--episode", type=int, default=1000, help="largest steps of an episode")
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder of the files")
    return parser.parse_args()


def main() -> None:
    random = np.random.default_rng(0)
    train(lambda *sizes: Agent(*sizes, random), "ant.npz", "ant.png", parse_arguments(__doc__))


if __name__ == "__main__":
    main()
