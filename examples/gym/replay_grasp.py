"""Replays a trained grasp under MuJoCo's contact and under Stiction's, and compares the drift.

Usage: python examples/gym/replay_grasp.py [--policy FILE] [--seconds S] [--out FOLDER]

Reads the policy that train_pick_and_hold.py has written, and writes FOLDER/grasp_drift.png.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import gymnasium
import matplotlib.pyplot as plt
import numpy as np
from linear_policy import Floats, LinearPolicy

import stiction.gym

gymnasium.register_envs(stiction.gym)

CONTACT_MODELS = ("mujoco", "coulomb")
NUM_ENVS = 32


def replay(policy: LinearPolicy, contact_model: str, seconds: float) -> dict[str, Any]:
    """Runs the policy from the same first states under a contact model.

    Returns:
        Times (n,), the drift of the held cube (n, NUM_ENVS), NaN where no cube is held, the returns of
        an episode, and the largest error bound.
    """
    envs: Any = gymnasium.make_vec(
        "stiction/PickAndHold-v0", NUM_ENVS, contact_model=contact_model, max_episode_steps=None
    )
    num_steps, dt = round(seconds / envs.task.dt), envs.task.dt
    episode = gymnasium.spec("stiction/PickAndHold-v0").max_episode_steps
    observations, _ = envs.reset(seed=10**6)
    running, returns = np.ones(NUM_ENVS, bool), np.zeros(NUM_ENVS)
    drift, bound = np.full((num_steps, NUM_ENVS), np.nan), 0.0
    for step in range(num_steps):
        observations, rewards, terminations, _, infos = envs.step(policy.act(observations))
        if step < episode:
            returns += rewards * running
        running &= ~terminations
        held = running & infos["is_held"]
        drift[step, held] = infos["drift"][held]
        bound = max(bound, infos["error_bound"].max())
    times = dt * np.arange(1, num_steps + 1)
    return {"times": times, "drift": drift, "returns": returns, "error_bound": bound}


def calc_creep(times: Floats, drift: Floats) -> Floats:
    """Returns the speed of the drift in the second half of the run [m/s], for each held cube."""
    half = len(times) // 2
    return (drift[-1] - drift[half]) / (times[-1] - times[half])


def draw(path: Path, runs: dict[str, dict[str, Any]]) -> None:
    """Draws the drifts under both contact models beside each other."""
    figure, axes = plt.subplots(1, 2, figsize=(8, 3.4), sharey=True, layout="constrained")
    for each, (name, run) in zip(axes, runs.items(), strict=True):
        each.semilogy(run["times"], 1e6 * run["drift"], color="tab:blue", lw=0.6, alpha=0.5)
        each.set(title=f"contact model {name}", xlabel="time [s]")
        each.grid(alpha=0.3)
    axes[0].set(ylabel="drift of the held cube [µm]", ylim=(1, None))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--policy", type=Path, default=Path("out/grasp.npz"))
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--out", type=Path, default=Path("out"))
    arguments = parser.parse_args()
    if not arguments.policy.is_file():
        parser.error(f"{arguments.policy} does not exist; run train_pick_and_hold.py first")

    policy = LinearPolicy.load(arguments.policy)
    runs = {name: replay(policy, name, arguments.seconds) for name in CONTACT_MODELS}
    print(f"contact model   return   held   drift [um]   creep [um/s]   (median of {NUM_ENVS})")
    for name, run in runs.items():
        held = np.isfinite(run["drift"][-1])
        drift, creep = run["drift"][-1, held], calc_creep(run["times"], run["drift"])[held]
        print(
            f"{name:12} {run['returns'].mean():9.1f} {held.mean():6.0%}"
            f" {1e6 * np.median(drift):12.1f} {1e6 * np.median(creep):14.2f}"
        )
    picture = arguments.out / "grasp_drift.png"
    draw(picture, runs)
    print(f"wrote {picture}")


if __name__ == "__main__":
    main()
