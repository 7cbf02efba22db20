"""Trains a gripper to lift a cube and to hold it without creep, with an evolution strategy in NumPy.

Usage: python examples/gym/train_pick_and_hold.py [--generations N] [--contact-model NAME]
           [--out FOLDER]

Writes the policy into FOLDER/grasp.npz, which replay_grasp.py reads, and the learning curve into
FOLDER/pick_and_hold.png.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from evolution import EvolutionStrategy
from learning_curve import draw_learning_curve
from linear_policy import Floats, LinearPolicy

import stiction.gym

gymnasium.register_envs(stiction.gym)

NUM_PAIRS = 32
NUM_EPISODES = 2  # of each policy of a generation
NOISE, RATE = 0.1, 0.05


def run_episodes(
    envs: Any, policy: LinearPolicy, seed: int
) -> tuple[Floats, dict[str, Any], Floats]:
    """Runs an episode in each environment.

    Returns:
        The returns, the infos of the last step, and the observations of all steps.
    """
    observations, _ = envs.reset(seed=seed)
    returns, running = np.zeros(envs.num_envs), np.ones(envs.num_envs, bool)
    seen, infos = [], {}
    for _ in range(envs.spec.max_episode_steps):
        seen.append(observations[running])
        observations, rewards, terminations, _, infos = envs.step(policy.act(observations))
        returns += rewards * running
        running &= ~terminations  # an environment that begins another episode does not count
    return returns, infos, np.concatenate(seen)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--generations", type=int, default=100)
    parser.add_argument("--contact-model", default="coulomb")
    parser.add_argument("--out", type=Path, default=Path("out"))
    arguments = parser.parse_args()

    num_policies = 2 * NUM_PAIRS
    options = {"contact_model": arguments.contact_model}
    envs = gymnasium.make_vec("stiction/PickAndHold-v0", NUM_EPISODES * num_policies, **options)
    tests = gymnasium.make_vec("stiction/PickAndHold-v0", 32, **options)
    size, num_actions = envs.single_observation_space.shape[0], envs.single_action_space.shape[0]
    policy = LinearPolicy(size, num_actions)
    strategy = EvolutionStrategy(policy.weights, NUM_PAIRS, NOISE, RATE, np.random.default_rng(0))

    begin = time.perf_counter()
    steps, curve, best = [], [], -np.inf
    for generation in range(arguments.generations + 1):
        policy.weights = strategy.mean
        returns, infos, _ = run_episodes(tests, policy, seed=10**6)
        steps.append(generation * envs.num_envs * envs.spec.max_episode_steps)
        curve.append(returns.mean())
        if curve[-1] > best:
            best = curve[-1]
            arguments.out.mkdir(parents=True, exist_ok=True)
            policy.save(arguments.out / "grasp.npz")
        if generation % 5 == 0 or generation == arguments.generations:
            print(
                f"generation {generation:3d}  return {curve[-1]:7.2f}"
                f"  held {infos['is_held'].mean():4.0%}"
                f"  drift {1e6 * infos['drift'].max():7.1f} um"
                f"  error bound {infos['error_bound'].max():.0e}"
                f"  {time.perf_counter() - begin:5.0f} s",
                flush=True,
            )
        if generation == arguments.generations:
            break
        policy.weights = np.repeat(strategy.ask(), NUM_EPISODES, axis=0)
        returns, _, seen = run_episodes(envs, policy, seed=generation * envs.num_envs)
        strategy.tell(returns.reshape(num_policies, NUM_EPISODES).mean(axis=1))
        if generation < 10:  # a scale that changes late would change what the weights mean
            policy.learn_scale(seen)

    picture = arguments.out / "pick_and_hold.png"
    draw_learning_curve(picture, steps, {"evolution strategy": curve}, "stiction/PickAndHold-v0")
    print(f"best return {best:.2f}; wrote {arguments.out / 'grasp.npz'} and {picture}")


if __name__ == "__main__":
    main()
