"""A picture of how the return grew in a training."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt


def draw_learning_curve(
    path: Path, steps: Sequence[float], curves: dict[str, Sequence[float]], title: str
) -> None:
    """Draws returns over steps into a PNG file, and makes its folder.

    Args:
        steps: number of steps that all environments have taken, at each point.
        curves: returns at these points, by the name in the legend.
    """
    figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
    for name, returns in curves.items():
        axes.plot(steps, returns, label=name)
    axes.set(xlabel="steps of environments", ylabel="return of an episode", title=title)
    axes.grid(alpha=0.3)
    axes.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    plt.close(figure)
