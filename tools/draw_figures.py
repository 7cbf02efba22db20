#!/usr/bin/env python3
"""Draws the pictures of docs/images again from the current code.

    draw_figures.py [NAME...]

draws the named pictures, or all of them. The commands write their plots and results to out/figures. There
you can check the numbers that a page gives with a picture. A command that fails, such as a study with a
failed check, ends the program, and its picture stays as it was. An unchanged picture gives an unchanged
file, unless it shows measured times. Draw pictures with times on a machine that does nothing else. SVG
pictures are drawn by hand, so this program does not draw them.
"""

from __future__ import annotations

import argparse
import ctypes.util
import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from stiction.evidence.engines.environments import ENVIRONMENTS, FOLDER
from stiction.tables.output_files import SOFTWARE

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
_OUTPUT = ROOT / "out" / "figures"
_COLORS = 256  # colors of the palette; it makes a file a third as large, and looks the same
_CHECK_FAILED = 1  # exit code of a study that drew its plots, but failed a check


@dataclass(frozen=True)
class Figure:
    """The command that draws a picture.

    command: program of the environment with its arguments; `--out FOLDER` is added.
    plot: name of the plot in that folder that becomes the picture.
    shows_times: True if it shows measured times, which differ from run to run.
    needs: packages, and environments of engines, that the picture needs; it is not drawn without them.
    moves: True for an animated GIF. Other pictures are PNG.
    """

    command: tuple[str, ...]
    plot: str
    shows_times: bool = False
    needs: tuple[str, ...] = ()
    moves: bool = False

    @property
    def is_study(self) -> bool:
        return self.command[:2] == ("stiction", "study")

    @property
    def suffix(self) -> str:
        return ".gif" if self.moves else ".png"


def _study(
    name: str, plot: str, *, shows_times: bool = False, needs: tuple[str, ...] = ()
) -> Figure:
    return Figure(("stiction", "study", name), plot, shows_times, needs)


FIGURES = {
    "creep": Figure(("python", "docs/images/draw_creep.py"), "creep", moves=True),
    "gym_ant": Figure(("python", "examples/gym/train_ant.py"), "ant", needs=("gymnasium",)),
    "gym_pick_and_hold": Figure(
        ("python", "examples/gym/train_pick_and_hold.py"), "pick_and_hold", needs=("gymnasium",)
    ),
    # Replays the policy that the picture before has trained.
    "gym_replay": Figure(
        (
            "python",
            "examples/gym/replay_grasp.py",
            *("--policy", "out/figures/gym_pick_and_hold/grasp.npz"),
        ),
        "grasp_drift",
        needs=("gymnasium",),
    ),
    "held_scenes": Figure(("python", "docs/images/draw_held_scenes.py"), "held_scenes"),
    "imprint": Figure(("python", "examples/python/fingertip.py"), "imprint"),
    "pinch": Figure(("python", "docs/images/draw_pinch.py"), "pinch"),
    "rigid_scenes": Figure(("python", "docs/images/draw_rigid_scenes.py"), "rigid_scenes"),
    "scorecard": Figure(("stiction", "scorecard", "--rows", "docs/scorecard.csv"), "scorecard"),
    "study_clutter": _study("clutter", "fig14_iterations_and_condition"),
    "study_conveyor": _study("conveyor", "fig02_velocity_and_force"),
    "study_disk": _study("disk", "fig05_ratio"),
    "study_falling_sphere": _study("falling_sphere", "fig06_convergence"),
    "study_grasp": _study("grasp", "drop"),
    "study_gripper": _study("gripper", "times", shows_times=True),
    "study_gripper_patch": _study("gripper", "fig04_patch"),
    "study_gripper_surface": _study("gripper", "fig02_surface"),
    "study_gripper_tetrahedra": _study("gripper", "fig03_tetrahedra"),
    "study_painleve": _study("painleve", "angles"),
    "study_pancake": Figure(("python", "docs/images/draw_pancake.py"), "pancake"),
    "study_quadruped": _study("quadruped", "ahead"),
    "study_sliding_rod": _study("sliding_rod", "fig10_force_with_dissipation"),
    "study_spatula": _study("spatula", "example_pitch"),
    "study_spatula_gripper": _study("spatula", "fig01_gripper"),
    "study_spatula_patch": _study("spatula", "fig01_patch"),
    "viewer": Figure(("python", "docs/images/draw_viewer.py"), "viewer", needs=("playwright",)),
    "trace": Figure(("python", "docs/images/draw_trace.py"), "trace"),
    "sweep": Figure(("stiction", "sweep", "examples/grasp.yaml"), "sweep", shows_times=True),
    "work_precision": Figure(
        ("stiction", "bench", "work_precision"),
        "work_precision",
        shows_times=True,
        needs=("pydrake",),
    ),
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="./dev figures", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(FIGURES)}")
    names = parser.parse_args(arguments).names or list(FIGURES)
    for name in names:
        if name not in FIGURES:
            parser.error(f"there is no picture '{name}'; there are {', '.join(FIGURES)}")
    for name in names:
        _draw(name, FIGURES[name])
    return 0


def _draw(name: str, figure: Figure) -> None:
    missing = [need for need in figure.needs if not _is_installed(need)]
    if missing:
        print(
            f"{name}: not drawn, because of what is not installed: {', '.join(missing)}", flush=True
        )
        return
    folder = _OUTPUT / name
    program, *arguments = figure.command
    command = [str(Path(sys.executable).parent / program), *arguments, "--out", str(folder)]
    print(f"{name}: {' '.join(figure.command)}", flush=True)
    ended = subprocess.run(command, cwd=ROOT, env=_make_environment(), check=False)
    if ended.returncode != 0:
        sys.exit(_describe_failure(name, figure, folder, ended.returncode))
    picture = IMAGES / f"{name}{figure.suffix}"
    is_changed = _write_picture(folder / f"{figure.plot}{figure.suffix}", picture)
    print(f"{picture.relative_to(ROOT)}: {'changed' if is_changed else 'unchanged'}", flush=True)


def _is_installed(need: str) -> bool:
    """Returns True if the environment of an engine exists, or a package can be imported here."""
    if need in ENVIRONMENTS:
        return ENVIRONMENTS[need].is_installed(ROOT / FOLDER)
    parent = need.rpartition(".")[0]  # find_spec imports it
    return (not parent or _is_installed(parent)) and importlib.util.find_spec(need) is not None


def _describe_failure(name: str, figure: Figure, folder: Path, code: int) -> str:
    """Says that a picture was not written, why, and what to do. A negative code is a signal."""
    problem = f"error: {name}{figure.suffix} was not drawn"
    command = " ".join(figure.command)
    if figure.is_study and code == _CHECK_FAILED:
        return (
            f"{problem}: a check of `{command}` failed, or the study could not run, as its output says. "
            f"{_relative(folder)} has the results of the checks. Mend the cause, and draw it again"
        )
    return (
        f"{problem}: `{command}` ended with {code}. Mend what its output names, and draw it again"
    )


def _relative(path: Path) -> Path:
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


def _make_environment() -> dict[str, str]:
    """Returns the environment for the commands, in which MuJoCo renders without a display."""
    if os.environ.get("MUJOCO_GL", "disable") != "disable":
        return dict(os.environ)
    if ctypes.util.find_library("EGL") is None:
        sys.exit("MuJoCo cannot render: EGL is not installed; run: apt-get install libegl1")
    return {**os.environ, "MUJOCO_GL": "egl"}


def _write_picture(plot: Path, picture: Path) -> bool:
    """Writes a plot with a palette and without metadata. Returns True if this changes the file.

    A GIF has a palette already, and is copied. The name of the program stays, by which commands know
    the pictures that they may replace.
    """
    before = picture.read_bytes() if picture.exists() else b""
    if picture.suffix == ".gif":
        picture.write_bytes(plot.read_bytes())
        return picture.read_bytes() != before
    with Image.open(plot) as image:
        pixels = image.convert("RGB")
        program = image.info.get("Software")
    about = PngInfo()
    if program == SOFTWARE:
        about.add_text("Software", program)
    pixels.quantize(_COLORS, dither=Image.Dither.NONE).save(picture, optimize=True, pnginfo=about)
    return picture.read_bytes() != before


if __name__ == "__main__":
    sys.exit(main())
