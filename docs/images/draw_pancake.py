"""Draws pancake.png: the robot at four moments of `stiction study pancake`. `./dev figures` calls it."""

from __future__ import annotations

import sys
from pathlib import Path

import mujoco
import numpy as np
from PIL import Image
from rendering import make_camera, render

from stiction.evidence.studies.pancake.run import run_pancake
from stiction.evidence.studies.pancake.scene import make_pancake_model

_GRID = 230
_CONTACT_MODEL = "sap"
_SIZE = (344, 300)


def main() -> None:
    """Writes pancake.png into the folder that follows --out."""
    folder = Path(sys.argv[sys.argv.index("--out") + 1])
    run = run_pancake(_GRID, _CONTACT_MODEL)
    assert run.failure is None, run.failure
    # The pictures show the start, the pancake carried, the pancake on its edge, and the end.
    turning = float(run.samples["time"][np.argmax(run.samples["turn_deg"] > 90)])
    times = [0.0, run.find_start("set down"), turning, run.last("time")]
    model = make_pancake_model()
    model.vis.headlight.ambient[:] = 0.35
    data = mujoco.MjData(model)
    camera = make_camera((0.5, 0.02, 0.2), distance=1.3, azimuth=137, elevation=-20)
    images = []
    for time in times:
        state = run.film.find_frame(time).start
        mujoco.mj_setState(model, data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
        mujoco.mj_forward(model, data)
        images.append(render(model, data, camera, _SIZE))
    folder.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.hstack(images)).save(folder / "pancake.png")


if __name__ == "__main__":
    main()
