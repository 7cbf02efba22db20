"""The plots of the study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from stiction.colors import find_color
from stiction.experiments.plots import make_plot

_LEAST = 1e-18  # [m/s]; a logarithmic axis has no zero

Creep = Mapping[str, Mapping[str, float | None]]  # [m/s], by scene and variant


def draw_creep(creep: Creep, variants: Sequence[str]) -> Figure:
    """Draws the creep of all variants in all scenes."""
    figure, (axes,) = make_plot(height=5)
    for scene, of_variants in creep.items():
        for variant, speed in of_variants.items():
            if speed is None:
                continue
            is_elastic = variant.endswith("elastic")
            axes.plot(
                max(speed, _LEAST),
                scene,
                "D" if is_elastic else "o",
                color=find_color(variant.split(",")[0]),
                mfc=None if is_elastic else "none",
            )
    for variant in variants:
        is_elastic = variant.endswith("elastic")
        axes.plot(
            [],
            [],
            "D" if is_elastic else "o",
            color=find_color(variant.split(",")[0]),
            mfc=None if is_elastic else "none",
            label=variant,
        )
    axes.set_xscale("log")
    axes.set_xlabel("creep [m/s]")
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize=8)
    return figure


def draw_sweeps(sweeps: Mapping[str, Mapping[str, Mapping[float, float | None]]]) -> Figure:
    """Draws the creep over load, time step and stiffness, one panel for each."""
    figure, panels = make_plot(len(sweeps))
    for axes, (label, of_variants) in zip(panels, sweeps.items(), strict=True):
        for variant, speeds in of_variants.items():
            axes.plot(
                list(speeds),
                [max(speed or 0.0, _LEAST) for speed in speeds.values()],
                "-" if variant.endswith("elastic") else "--",
                marker="o",
                ms=3,
                color="k" if variant == "prediction" else find_color(variant.split(",")[0]),
                lw=0.8 if variant == "prediction" else 1.5,
                label=variant,
            )
        axes.set_yscale("log")
        axes.set_xscale("linear" if "share" in label else "log")
        axes.set_xlabel(label)
        axes.set_ylabel("creep [m/s]")
    panels[0].legend(fontsize=7)
    return figure
