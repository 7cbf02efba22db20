"""Draws pinch.png: the gripper, and how far its cube slips under each contact model. `./dev figures`
calls it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import mujoco
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray
from rendering import make_camera, render

from stiction.compare import Comparison, Row, compare_models
from stiction.compare.plots import find_styles
from stiction.inputs.names import find_compliant_models
from stiction.runs.controls import ControlsName, make_controls
from stiction.scene import Scene, load_scene

SCENE = Path(__file__).parents[2] / "scenes" / "pinch.xml"
_LEAST_SLIP = 0.1  # on the axis [µm]
_TIME_SHOWN = 3.0  # time at which the cube is held [s]


def main() -> None:
    """Writes pinch.png into the folder that follows --out."""
    folder = Path(sys.argv[sys.argv.index("--out") + 1])
    scene = load_scene(SCENE)
    # With default options these are the only rigid models that hold the cube still.
    comparison = compare_models(scene, [*find_compliant_models(), "no_slip", "rigid_coulomb"])
    plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(9.2, 4.6), width_ratios=(1, 2.2), layout="constrained"
    )
    left.imshow(_render(scene))
    left.axis("off")
    _draw_slip(right, comparison)
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "pinch.png", dpi=130, facecolor="white")


def _render(scene: Scene) -> NDArray[np.uint8]:
    """Returns a picture of the held cube."""
    simulator = scene.make_simulator("lagged")
    data = scene.make_data()
    drive = make_controls(ControlsName.schedule, scene)
    while data.time < _TIME_SHOWN:
        drive(data)
        simulator.step(data)
    mujoco.mj_forward(scene.model, data)
    camera = make_camera((0, 0, 0.175), distance=0.42, azimuth=163, elevation=-14)
    return render(scene.model, data, camera, (460, 760), with_shadows=False)


def _format_speed(creep: float) -> str:
    up = " up" if creep < 0 else ""
    return f"{abs(creep):.{0 if abs(creep) > 10 else 1}f} µm/s{up}"


def _draw_slip(axes: Axes, comparison: Comparison) -> None:
    # The noslip solver lets the cube creep upwards, so the distance is drawn.
    ends: list[tuple[float, float, list[Row], str]] = []  # of lines, and who shares them
    still: list[str] = []  # labels of the models that hold the cube
    for row, trace, (color, dash) in zip(
        comparison.rows, comparison.traces, find_styles(comparison), strict=True
    ):
        judged = trace["time"] >= comparison.judged_from
        time = trace["time"][judged] - comparison.judged_from
        slip = 1e6 * np.abs(trace["slip"][judged] - trace["slip"][judged][0])
        if slip[-1] < _LEAST_SLIP:
            assert slip[-1] < 1e-9
            still.append(row.label)
            continue
        axes.plot(time[1:], slip[1:], color=color, ls=dash, lw=1.8)
        same = [end for end in ends if abs(np.log(end[1] / slip[-1])) < 0.05]
        if same:
            same[0][2].append(row)
        else:
            ends.append((float(time[-1]), float(slip[-1]), [row], color))
    axes.annotate(
        f"{', '.join(still)}: below 1e-9 µm", (4, _LEAST_SLIP), va="bottom", ha="right", fontsize=8
    )
    for time_end, slip_end, rows, color in ends:
        creep = 1e6 * np.median([row.creep_measured or np.nan for row in rows])
        axes.annotate(
            f"{_format_speed(creep)}  {', '.join(row.label for row in rows)}",
            (time_end, slip_end), color=color if len(rows) == 1 else "black", va="center",
            xytext=(4, 0), textcoords="offset points", annotation_clip=False, fontsize=8,
        )  # fmt: skip
    axes.set(yscale="log", xlabel="time held [s]", ylabel="slip of the cube [µm]")
    axes.set(xlim=(0, 4), ylim=(_LEAST_SLIP, None), xticks=range(5))
    axes.grid(alpha=0.2)
    axes.set_title("45 g held by two pads with 20 N each, friction 0.7", loc="left", fontsize=10)


if __name__ == "__main__":
    main()
