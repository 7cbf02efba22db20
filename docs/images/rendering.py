"""Renders scenes on white, without a display."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray
from PIL import Image

_SAMPLES = 3  # a pixel's, in each direction


def make_camera(
    lookat: Sequence[float], *, distance: float, azimuth: float, elevation: float
) -> mujoco.MjvCamera:
    """Returns a camera. Distances are in [m], angles in [deg]."""
    camera = mujoco.MjvCamera()
    camera.lookat[:] = lookat
    camera.distance, camera.azimuth, camera.elevation = distance, azimuth, elevation
    return camera


def render(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    camera: mujoco.MjvCamera,
    size: tuple[int, int],
    *,
    with_shadows: bool = True,
    with_forces: bool = False,
) -> NDArray[np.uint8]:
    """Renders a scene; data must be as after mj_forward.

    Args:
        size: width and height in pixels.
        with_forces: draws the forces of data.contact as arrows; data must be as after a step.

    Returns:
        Colors, (height, width, 3).
    """
    width, height = (_SAMPLES * pixels for pixels in size)
    model.vis.global_.offwidth, model.vis.global_.offheight = width, height
    model.vis.quality.offsamples = 0  # so that no pixel mixes an element and the background
    with mujoco.Renderer(model, height, width) as renderer:
        options = mujoco.MjvOption()
        options.flags[mujoco.mjtVisFlag.mjVIS_CONTACTFORCE] = with_forces
        renderer.update_scene(data, camera, options)
        renderer.scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = with_shadows
        image = renderer.render()
        renderer.enable_segmentation_rendering()
        image[renderer.render()[:, :, 0] < 0] = 255
    return np.asarray(Image.fromarray(image).resize(size, Image.Resampling.BOX))
