"""Rolls a peg under a soft fingertip, and draws what the taxels of the pad read.

Usage: python examples/python/fingertip.py [--out FOLDER]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import stiction
from stiction.inputs.package_scenes import find_scene_file

PERIOD, STROKE, LOAD = 1.0, 0.008, 3.0  # [s], [m], [N]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=Path(), help="folder for imprint.png")
    folder = parser.parse_args().out

    # fingertip.contact.yaml declares the taxels: 20 x 25 on the lower side of the pad.
    scene = stiction.load_scene(find_scene_file("fingertip"))
    data = scene.make_data()
    simulator = scene.make_simulator("lagged")

    frames = {}
    for step in range(751):
        slide = STROKE * np.sin(2 * np.pi * max(data.time - 0.5, 0) / PERIOD)
        data.ctrl[:] = slide, -LOAD
        pad = simulator.step(data).taxels["pad"]
        if step in (250, 375, 500, 625):
            title = f"t = {data.time:.2f} s, slide {1e3 * data.joint('slide').qpos[0]:+.1f} mm"
            frames[title] = pad.traction.reshape(*pad.shape, 3) / 1e3  # [kPa]
            force = pad.force.sum(axis=0)
            print(f"{title}: force ({force[0]:+.3f}, {force[1]:+.3f}, {force[2]:+.3f}) N")

    figure, axes = plt.subplots(1, len(frames), figsize=(11, 2.6), layout="constrained")
    top, _, largest_shear = np.max(np.abs(list(frames.values())), axis=(0, 1, 2))
    x, y = np.meshgrid(np.arange(-12, 12.5), np.arange(-9.5, 10))
    for axis, (title, frame) in zip(axes, frames.items(), strict=True):
        image, pressed = frame[..., 0], frame[..., 0] > 0
        shown = axis.imshow(image, vmin=0, vmax=top, extent=(-12.5, 12.5, 10, -10))
        arrows = x[pressed], y[pressed], frame[pressed, 2], frame[pressed, 1]
        axis.quiver(*arrows, color="w", angles="xy", scale_units="xy", scale=largest_shear / 2)
        axis.set_title(title, fontsize=9)
        axis.set(xlabel="second axis [mm]", ylabel="first axis [mm]")
    figure.colorbar(shown, ax=axes, label="pressure [kPa]", shrink=0.8)
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "imprint.png", dpi=110)


if __name__ == "__main__":
    main()
