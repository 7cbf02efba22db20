"""A small neural network with its gradient, and Adam, in NumPy."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]


class Network:
    """Fully connected layers with tanh between them.

    Attributes:
        parameters: weights and biases of all layers, alternately.

    Args:
        sizes: number of inputs, of units of each hidden layer, and of outputs.
        output_scale: size of the first outputs, relative to those of usual weights.
        random: generator of the first weights.
    """

    def __init__(
        self, sizes: Sequence[int], output_scale: float, random: np.random.Generator
    ) -> None:
        self.parameters: list[Array] = []
        for i, (rows, columns) in enumerate(itertools.pairwise(sizes)):
            scale = output_scale if i == len(sizes) - 2 else 1.0
            weights = random.standard_normal((rows, columns)) * scale / np.sqrt(rows)
            self.parameters += [weights.astype(np.float32), np.zeros(columns, np.float32)]
        self._layers: list[Array] = []

    def __call__(self, inputs: Array) -> Array:
        """Returns the outputs (n, outputs) of inputs (n, inputs)."""
        self._layers = [inputs]
        pairs = list(zip(self.parameters[::2], self.parameters[1::2], strict=True))
        for i, (weights, bias) in enumerate(pairs):
            values = self._layers[-1] @ weights + bias
            self._layers.append(values if i == len(pairs) - 1 else np.tanh(values))
        return self._layers[-1]

    def calc_gradient(self, output_gradient: Array) -> list[Array]:
        """Returns the gradient by the parameters of what has this gradient by the last outputs."""
        gradient = output_gradient
        out: list[Array] = []
        for i in reversed(range(len(self._layers) - 1)):
            out = [self._layers[i].T @ gradient, gradient.sum(axis=0), *out]
            if i > 0:
                gradient = (gradient @ self.parameters[2 * i].T) * (1 - self._layers[i] ** 2)
        return out


class Adam:
    """Kingma and Ba, "Adam: A Method for Stochastic Optimization" (2015)."""

    def __init__(self, parameters: list[Array]) -> None:
        self._parameters = parameters
        self._first = [np.zeros_like(p) for p in parameters]
        self._second = [np.zeros_like(p) for p in parameters]
        self._num_steps = 0

    def step(self, gradient: list[Array], rate: float, largest_norm: float = 0.5) -> None:
        """Changes the parameters, in place, against a gradient, which is shortened if it is long."""
        norm = np.sqrt(sum(float(np.square(g).sum()) for g in gradient))
        shorten = min(1.0, largest_norm / (norm + 1e-8))
        self._num_steps += 1
        scale = np.sqrt(1 - 0.999**self._num_steps) / (1 - 0.9**self._num_steps)
        for p, g, first, second in zip(
            self._parameters, gradient, self._first, self._second, strict=True
        ):
            first += 0.1 * (shorten * g - first)
            second += 0.001 * ((shorten * g) ** 2 - second)
            p -= rate * scale * first / (np.sqrt(second) + 1e-8)
