"""Draws trace.png: Newton's method in a step in which four boxes land. `./dev figures` calls it."""

from __future__ import annotations

import sys
from pathlib import Path

import mujoco

import stiction

_BOX = '<body pos="0 0 {z}"><freejoint/><geom type="box" size=".05 .05 .05" mass="1"/></body>'
_SCENE = f"""
<mujoco>
  <option timestep="0.005"/>
  <worldbody>
    <geom type="plane" size="1 1 .1"/>
    {"".join(_BOX.format(z=0.0502 + 0.1004 * i) for i in range(4))}
  </worldbody>
</mujoco>
"""


def main() -> None:
    """Writes trace.png into the folder behind --out."""
    folder = Path(sys.argv[sys.argv.index("--out") + 1])
    model = mujoco.MjModel.from_xml_string(_SCENE)
    data = mujoco.MjData(model)
    data.qvel[2::6] = -1.0
    data.qvel[0::6] = 0.5
    report = stiction.Simulator(model, contact_model="lagged", tolerance=1e-9, trace=True).step(
        data
    )
    folder.mkdir(parents=True, exist_ok=True)
    stiction.plot_trace(report.trace).savefig(folder / "trace.png", dpi=110)


if __name__ == "__main__":
    main()
