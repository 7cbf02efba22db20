"""Trains Gymnasium's Ant to walk, with proximal policy optimization and networks of PyTorch.

Usage: python examples/gym/train_torch.py [--steps N] [--out FOLDER]

Needs PyTorch: pip install "stiction[gym,torch]". The steps are collected as in train_ant.py; PyTorch
computes the gradient. Writes FOLDER/ant_torch.pt and the learning curve FOLDER/ant_torch.png.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from normalizer import Normalizer
from numpy.typing import NDArray
from ppo import Array, Batch
from train_ant import parse_arguments, train

try:
    import torch
except ImportError:
    raise SystemExit(
        'This example needs PyTorch, which is not installed; run pip install "stiction[gym,torch]", '
        "or run train_ant.py, which needs only NumPy"
    ) from None


def make_network(num_inputs: int, num_outputs: int) -> torch.nn.Sequential:
    """Makes a network with two hidden layers."""
    return torch.nn.Sequential(
        torch.nn.Linear(num_inputs, 64),
        torch.nn.Tanh(),
        torch.nn.Linear(64, 64),
        torch.nn.Tanh(),
        torch.nn.Linear(64, num_outputs),
    )


class TorchAgent:
    """The agent of numpy_agent.py, with networks whose gradients PyTorch computes."""

    def __init__(self, num_observations: int, num_actions: int, deviation: float) -> None:
        self._policy = make_network(num_observations, num_actions)
        self._value = make_network(num_observations, 1)
        with torch.no_grad():
            self._policy[-1].weight *= 0.01
        self._log_deviation = torch.nn.Parameter(torch.full((num_actions,), np.log(deviation)))
        self.observations = Normalizer(num_observations)
        self._parameters = [
            *self._policy.parameters(),
            self._log_deviation,
            *self._value.parameters(),
        ]
        self._adam = torch.optim.Adam(self._parameters)

    @property
    def log_deviation(self) -> Array:
        """Logarithm of the standard deviation of each action."""
        return self._log_deviation.detach().numpy().copy()

    @torch.no_grad()
    def policy(self, states: Array) -> Array:
        """Returns the mean actions for scaled observations."""
        return self._policy(torch.from_numpy(states)).numpy()

    @torch.no_grad()
    def value(self, states: Array) -> Array:
        """Returns the estimated returns for scaled observations, (n, 1)."""
        return self._value(torch.from_numpy(states)).numpy()

    def act(self, observations: NDArray[np.float64]) -> Array:
        """Returns the actions without noise."""
        return self.policy(self.observations.scale(observations))

    @torch.no_grad()
    def calc_log_probability(self, actions: Array, means: Array) -> Array:
        """Returns the logarithm of the density of actions, without its constant."""
        return self._calc_log_probability(
            torch.from_numpy(actions), torch.from_numpy(means)
        ).numpy()

    def _calc_log_probability(self, actions: Any, means: Any) -> Any:
        normal = (actions - means) / self._log_deviation.exp()
        return -(0.5 * normal**2 + self._log_deviation).sum(dim=1)

    def improve(self, batch: Batch, rate: float, clip: float) -> None:
        """Takes one step of Adam for a part of the collected steps."""
        data = {key: torch.from_numpy(value) for key, value in batch.items()}
        advantages = data["advantages"]
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        density = self._calc_log_probability(data["actions"], self._policy(data["states"]))
        ratio = (density - data["log_probabilities"]).exp()
        clipped = ratio.clamp(1 - clip, 1 + clip)
        policy_loss = -torch.minimum(ratio * advantages, clipped * advantages).mean()
        error = self._value(data["states"])[:, 0] - data["targets"]
        self._adam.zero_grad()
        (policy_loss + 0.5 * (error**2).mean()).backward()
        torch.nn.utils.clip_grad_norm_(self._parameters, 0.5)
        for group in self._adam.param_groups:
            group["lr"] = rate
        self._adam.step()

    def save(self, path: Path) -> None:
        """Writes the policy and the scale of its observations into a file."""
        scale = {"mean": self.observations.mean, "variance": self.observations.variance}
        state = {key: torch.from_numpy(value) for key, value in scale.items()}
        torch.save({"policy": self._policy.state_dict(), **state}, path)


def main() -> None:
    arguments = parse_arguments(__doc__)
    torch.manual_seed(0)
    torch.set_num_threads(1)  # the networks are small
    train(TorchAgent, "ant_torch.pt", "ant_torch.png", arguments)


if __name__ == "__main__":
    main()
