"""A recording contains the pressure fields that its contact properties name."""

import itertools
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
import zstandard

import stiction
from stiction.recording import pressure_fields

HALF = 0.05  # half the edge of the cube [m]
SCENE = f"""
<mujoco><option timestep="0.002"/><worldbody>
  <geom name="floor" type="plane" size="1 1 0.1"/>
  <body pos="0 0 {HALF - 1e-3}"><freejoint/>
    <geom name="cube" type="box" size="{HALF} {HALF} {HALF}" mass="1"/></body>
</worldbody></mujoco>"""


def write_cube(path: Path) -> None:
    """Writes the tetrahedra between the center of a cube and the triangles of its faces."""
    corners = [np.array(signs) * HALF for signs in itertools.product((-1, 1), repeat=3)]
    points = [*corners, np.zeros(3)]
    tets = []
    for axis, side in itertools.product(range(3), (-1, 1)):
        face = [i for i, corner in enumerate(corners) if corner[axis] * side > 0]
        for triangle in (face[:3], face[1:]):
            a, b, c = (points[i] for i in triangle)
            if np.dot(np.cross(b - a, c - a), a) < 0:
                triangle = triangle[::-1]
            tets.append((*triangle[::-1], 8))
    path.write_text(
        "# vtk DataFile Version 3.0\ncube\nASCII\nDATASET UNSTRUCTURED_GRID\n"
        f"POINTS 9 double\n{chr(10).join(' '.join(map(repr, map(float, p))) for p in points)}\n"
        f"CELLS {len(tets)} {5 * len(tets)}\n"
        + "".join(f"4 {' '.join(map(str, tet))}\n" for tet in tets)
        + f"CELL_TYPES {len(tets)}\n{' '.join(['10'] * len(tets))}\n"
    )


@pytest.fixture
def recorded(tmp_path: Path) -> tuple[Path, Path]:
    """Records a cube with a pressure field on a floor; returns the recording and the field's file."""
    field, path = tmp_path / "cube.vtk", tmp_path / "out.mcap"
    write_cube(field)
    properties: dict[str, Any] = {
        "materials": {
            "../soft": {"hydroelastic_modulus": 1e5, "pressure_field": str(field)},
            "steel": {"rigid": True},
        },
        "geoms": {"floor": "steel", "cube": "../soft"},
    }
    model = mujoco.MjModel.from_xml_string(SCENE)
    data = mujoco.MjData(model)
    with stiction.Recorder(path, stiction.Simulator(model, properties=properties)) as recorder:
        report = recorder.step(data, 20)
    assert len(report.patches) == 1
    return path, field


def test_a_replay_needs_no_file(recorded: tuple[Path, Path]) -> None:
    path, field = recorded
    field.unlink()
    recording = stiction.Recording(path)
    steps = list(stiction.Replay(recording))
    assert len(steps) == 20
    assert all(step.find_difference() is None for step in steps)
    assert not any("soft" in name for name in recording.scene_files)


def test_a_missing_or_damaged_copy_is_an_error(
    recorded: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, field = recorded
    field.unlink()

    def replay(copy: bytes) -> None:
        recording = stiction.Recording(path)
        recording._head.attachments[pressure_fields.PREFIX + "../soft"] = copy
        stiction.Replay(recording)

    with pytest.raises(stiction.Error, match=r"field of material '../soft' is damaged"):
        replay(b"not compressed")
    with pytest.raises(stiction.Error, match=r"0\.vtk"):
        replay(zstandard.compress(b"no mesh"))
    monkeypatch.setattr(pressure_fields, "_MAX_SIZE", 1000)
    with pytest.raises(stiction.Error, match="expands to more than 1000 bytes"):
        replay(zstandard.compress(bytes(1001)))


def test_a_field_that_is_gone_cannot_be_recorded(
    tmp_path: Path, recorded: tuple[Path, Path]
) -> None:
    path, _ = recorded
    simulator = stiction.Recording(path).make_simulator()  # its recording, and copies, are gone
    with pytest.raises(
        stiction.Error, match="pressure field of material '../soft' cannot be recorded"
    ):
        stiction.Recorder(tmp_path / "again.mcap", simulator)
    assert not (tmp_path / "again.mcap").exists()
