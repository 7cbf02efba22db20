"""Proximal policy optimization: it collects steps, and improves an agent by them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from normalizer import Normalizer
from numpy.typing import NDArray

Array = NDArray[np.float32]
# Steps of all environments: 'states', 'actions', 'log_probabilities', 'advantages' and 'targets'.
Batch = dict[str, Array]


@dataclass
class Settings:
    """The settings of the training; the names are those of the paper."""

    num_steps: int = 128  # of each environment between updates
    num_epochs: int = 5
    num_minibatches: int = 8
    discount: float = 0.99
    trace: float = 0.95  # lambda of the advantage estimates
    clip: float = 0.2
    rate: float = 3e-4  # falls linearly to 0
    deviation: float = 0.5  # first standard deviation of the actions


class Trainer:
    """Trains an agent on vector environments.

    Schulman et al., "Proximal Policy Optimization Algorithms" (2017), with generalized advantage
    estimates and scaled rewards.

    Attributes:
        returns: returns of the episodes that ended, the latest last.

    Args:
        envs: vector environments with autoreset in the same step.
        agent: an Agent of numpy_agent.py, or another one with its methods.
        seed: of the environments and of the noise.
    """

    def __init__(self, envs: Any, agent: Any, settings: Settings, seed: int) -> None:
        self.envs, self.agent, self.settings = envs, agent, settings
        self.returns: list[float] = []
        self._random = np.random.default_rng(seed)
        self._now, _ = envs.reset(seed=seed)
        self._discounted = np.zeros(envs.num_envs)
        self._reward_scale = Normalizer(1)
        self._sums = np.zeros(envs.num_envs)

    def update(self, progress: float) -> None:
        """Collects steps and improves the agent; progress is the finished part of the training."""
        batch = self._collect()
        size = len(batch["actions"])
        for _ in range(self.settings.num_epochs):
            order = self._random.permutation(size)
            for rows in np.array_split(order, self.settings.num_minibatches):
                part = {key: value[rows] for key, value in batch.items()}
                rate = self.settings.rate * (1 - progress)
                self.agent.improve(part, rate, self.settings.clip)

    def _collect(self) -> Batch:
        agent, num_envs, num_steps = self.agent, self.envs.num_envs, self.settings.num_steps
        shape = (num_steps, num_envs)
        size, num_actions = self._now.shape[1], len(agent.log_deviation)
        states = np.zeros((*shape, size), np.float32)
        actions = np.zeros((*shape, num_actions), np.float32)
        log_probabilities, rewards = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
        values, next_values = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
        done = np.zeros(shape, bool)
        for t in range(num_steps):
            agent.observations.learn(self._now)
            states[t] = agent.observations.scale(self._now)
            mean = agent.policy(states[t])
            noise = self._random.standard_normal(mean.shape).astype(np.float32)
            actions[t] = mean + np.exp(agent.log_deviation) * noise
            log_probabilities[t] = agent.calc_log_probability(actions[t], mean)
            values[t] = agent.value(states[t])[:, 0]
            after, reward, terminations, truncations, infos = self.envs.step(
                np.clip(actions[t], -1, 1)
            )
            done[t] = terminations | truncations
            last = after.copy()
            for i in np.flatnonzero(done[t]):
                last[i] = infos["final_obs"][i]
            next_values[t] = agent.value(agent.observations.scale(last))[:, 0] * ~terminations
            rewards[t] = self._scale_rewards(reward, done[t])
            self._now = after
        advantages = self._calc_advantages(rewards, values, next_values, done)
        return {
            "states": states.reshape(-1, size),
            "actions": actions.reshape(-1, num_actions),
            "log_probabilities": log_probabilities.reshape(-1),
            "advantages": advantages.reshape(-1),
            "targets": (advantages + values).reshape(-1),
        }

    def _scale_rewards(self, rewards: NDArray[np.float64], done: NDArray[np.bool_]) -> Array:
        """Divides rewards by the deviation of discounted returns, and keeps returns of episodes."""
        self._sums += rewards
        self.returns += list(self._sums[done])
        self._sums[done] = 0
        self._discounted = self._discounted * self.settings.discount + rewards
        self._reward_scale.learn(self._discounted[:, None])
        self._discounted[done] = 0
        deviation = np.sqrt(self._reward_scale.variance[0] + 1e-8)
        return np.clip(rewards / deviation, -10, 10).astype(np.float32)

    def _calc_advantages(
        self, rewards: Array, values: Array, next_values: Array, done: NDArray[np.bool_]
    ) -> Array:
        s = self.settings
        surprise = rewards + s.discount * next_values - values
        out = np.zeros_like(surprise)
        later = np.zeros(surprise.shape[1], np.float32)
        for t in reversed(range(len(surprise))):
            later = surprise[t] + s.discount * s.trace * ~done[t] * later
            out[t] = later
        return out
