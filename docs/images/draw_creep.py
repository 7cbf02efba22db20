"""Draws creep.gif: a gripper that holds a cube under three contact models. `./dev figures` calls it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import mujoco
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont
from rendering import make_camera, render

from stiction.scene import Scene, load_scene

SCENE = Path(__file__).parents[2] / "scenes" / "pinch.xml"
_SPEED = 8  # simulated seconds in a second of the picture
_FRAMES_PER_SECOND = 10
_LAST_FRAME = 2.5  # how long the last frame is shown [s]
_HOLD_BEGINS = 1.8  # time of the keyframe `lifted`, from which on the controls are constant [s]
_HOLD = 42.0  # time shown [s]; under mj_step the cube falls after 36 s

_PANEL = (250, 320)  # pixels of a rendered picture
_MARGIN = 10  # pixels between the pictures
_HEAD, _FOOT = 48, 64  # pixels above and below them, for text
_COLORS = 128  # colors of the palette
_CUBE = 0.02  # half size of the cube [m]
_CAMERA = make_camera((0, 0, 0.105), distance=0.275, azimuth=168, elevation=-12)
_DASHES = 12  # of the line at which the cube was
_TEXT, _GRAY, _GOOD, _BAD = "#202428", "#666c74", "#1b7f4b", "#c0392b"


@dataclass(frozen=True)
class Panel:
    """A contact model, and how the picture names it."""

    contact_model: str
    title: str
    subtitle: str


PANELS = (
    Panel("mujoco", "mj_step", "MuJoCo's default contact"),
    Panel("coulomb", "Stiction: coulomb", "the default"),
    Panel("no_slip", "Stiction: no_slip", "rigid, sticks"),
)


@dataclass(frozen=True)
class Moment:
    """What a panel shows at one time.

    image: the picture.
    mark: the ends of a line where the cube's lower edge would be without slip, in pixels.
    slip: of the cube since then [m].
    is_held: False once the cube lies on the floor.
    """

    image: NDArray[np.uint8]
    mark: NDArray[np.float64]
    slip: float
    is_held: bool


def main() -> None:
    """Writes creep.gif into the folder that follows --out."""
    folder = Path(sys.argv[sys.argv.index("--out") + 1])
    folder.mkdir(parents=True, exist_ok=True)
    rows = zip(*(_film(panel) for panel in PANELS), strict=True)
    frames = [_compose(moments, i * _SPEED / _FRAMES_PER_SECOND) for i, moments in enumerate(rows)]
    ends = np.vstack([np.asarray(frames[i]) for i in (0, -1)])  # they have all colors
    palette = Image.fromarray(ends).quantize(_COLORS, Image.Quantize.MAXCOVERAGE)
    indexed = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    duration = [1000 // _FRAMES_PER_SECOND] * (len(frames) - 1) + [int(1000 * _LAST_FRAME)]
    indexed[0].save(
        folder / "creep.gif",
        save_all=True,
        append_images=indexed[1:],
        duration=duration,
        loop=0,
        optimize=True,
    )


def _film(panel: Panel) -> Iterator[Moment]:
    """Simulates the hold, and yields what each frame shows."""
    scene = load_scene(SCENE)
    simulator, data = scene.make_simulator(panel.contact_model), scene.make_data()
    start = None
    for i in range(round(_HOLD / _SPEED * _FRAMES_PER_SECOND) + 1):
        end = _HOLD_BEGINS + i * _SPEED / _FRAMES_PER_SECOND
        while data.time < end - 0.5 * simulator.time_step:
            scene.control_schedule(data)
            simulator.step(data)
        palm, cube = (data.body(name).xpos[2] for name in ("palm", "cube"))
        start = palm - cube if start is None else start
        edge = [(_CUBE, y, palm - start - _CUBE) for y in (-0.045, 0.045)]
        mark = np.array([_project(point, scene.model.vis.global_.fovy) for point in edge])
        yield Moment(_render(scene, data), mark, palm - cube - start, cube > 1.5 * _CUBE)


def _render(scene: Scene, data: mujoco.MjData) -> NDArray[np.uint8]:
    shown = mujoco.MjData(scene.model)  # mj_forward computes MuJoCo's contact, so not in data
    shown.qpos[:] = data.qpos
    mujoco.mj_forward(scene.model, shown)
    return render(scene.model, shown, _CAMERA, _PANEL, with_shadows=False)


def _project(point: Sequence[float], field_of_view: float) -> NDArray[np.float64]:
    """Returns the pixel of a panel at which the camera sees a point of the world."""
    azimuth, elevation = np.radians([_CAMERA.azimuth, _CAMERA.elevation])
    right = np.array([np.sin(azimuth), -np.cos(azimuth), 0])
    forward = np.array([np.cos(azimuth), np.sin(azimuth), np.tan(elevation)]) * np.cos(elevation)
    place = np.asarray(point) - _CAMERA.lookat
    depth = place @ forward + _CAMERA.distance
    width, height = _PANEL
    focal = height / 2 / np.tan(np.radians(field_of_view) / 2)
    return np.array([width / 2, height / 2]) + focal / depth * np.array(
        [place @ right, -place @ np.cross(right, forward)]
    )


def _compose(moments: tuple[Moment, ...], time_held: float) -> Image.Image:
    """Returns a frame: the panels side by side, with their texts."""
    width, height = _PANEL
    size = (len(PANELS) * (width + _MARGIN) - _MARGIN, _HEAD + height + _FOOT)
    frame = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(frame)
    for i, (panel, moment) in enumerate(zip(PANELS, moments, strict=True)):
        left = i * (width + _MARGIN)
        frame.paste(Image.fromarray(moment.image), (left, _HEAD))
        _draw_dashes(draw, np.add(moment.mark, (left, _HEAD)))
        center = left + width / 2
        _write(draw, (center, 16), panel.title, 17, _TEXT, is_bold=True)
        _write(draw, (center, 36), panel.subtitle, 13, _GRAY)
        text, color = _describe(moment)
        _write(draw, (center, _HEAD + height + 18), text, 18, color, is_bold=True)
    text = f"held for {time_held:.0f} s, shown {_SPEED} times as fast; dashes: no slip"
    _write(draw, (size[0] / 2, size[1] - 14), text, 13, _GRAY)
    return frame


def _draw_dashes(draw: ImageDraw.ImageDraw, ends: NDArray[np.float64]) -> None:
    """Draws a dashed line."""
    cuts = np.linspace(ends[0], ends[1], 2 * _DASHES)
    for start, end in zip(cuts[::2], cuts[1::2], strict=True):
        draw.line([*start, *end], fill=_BAD, width=2)


def _describe(moment: Moment) -> tuple[str, str]:
    """Returns the text about the slip, and its color."""
    if not moment.is_held:
        return "dropped", _BAD
    slip = 1e3 * moment.slip
    text = "no slip" if abs(slip) < 1e-6 else f"slipped {slip:.{1 if slip >= 1 else 2}f} mm"
    return text, _BAD if slip >= 1 else _GOOD


def _write(
    draw: ImageDraw.ImageDraw,
    center: tuple[float, float],
    text: str,
    size: int,
    color: str,
    *,
    is_bold: bool = False,
) -> None:
    name = f"DejaVuSans{'-Bold' if is_bold else ''}.ttf"
    font = ImageFont.truetype(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / name, size)
    draw.text(center, text, color, font, anchor="mm")


if __name__ == "__main__":
    main()
