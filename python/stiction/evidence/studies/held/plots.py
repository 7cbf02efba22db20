"""The plots of the study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from stiction.tables.colors import find_color
from stiction.tables.plots import make_plot

_LEAST = 1e-18  # [m/s]; a logarithmic axis has no zero
_PEERS_MARKERS = {"Drake, sap": "s", "Drake, lagged": "^", "Newton, Steel": "v"}

Creep = Mapping[str, Mapping[str, float | None]]  # [m/s], by scene and variant


def draw_creep(creep: Creep) -> Figure:
    """Draws the creep of all variants in all scenes."""
    figure, (axes,) = make_plot(height=5)
    for scene, of_variants in creep.items():
        for variant, speed in of_variants.items():
            if speed is not None:
                axes.plot([max(speed, _LEAST)], [scene], **_find_style(variant))
    for variant in dict.fromkeys(name for of_variants in creep.values() for name in of_variants):
        axes.plot([], [], label=variant, **_find_style(variant))
    axes.set_xscale("log")
    axes.set_xlabel("creep [m/s]")
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize=8)
    return figure


def _find_style(variant: str) -> dict[str, Any]:
    """Returns the marker of a variant.

    Springs are filled, MuJoCo's remedy is a cross, and other simulators are squares and triangles.
    """
    if variant in _PEERS_MARKERS:
        marker = _PEERS_MARKERS[variant]
        return {"marker": marker, "ls": "", "color": find_color(""), "mfc": "none"}
    style = {"ls": "", "color": find_color(variant.split(",")[0])}
    if variant.endswith("elastic"):
        return style | {"marker": "D"}
    if variant.endswith("noslip"):
        return style | {"marker": "x"}
    return style | {"marker": "o", "mfc": "none"}


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
