"""The springs of friction_law 'elastic' in recordings: their topic, their table and its files."""

import csv
import json
import math
from collections.abc import Callable
from pathlib import Path

import mcap.reader
import mujoco
import numpy as np
import pytest
from typer.testing import CliRunner

import stiction
from stiction.cli import app
from stiction.recording import format as fmt
from stiction.tables.contact_table import ANCHOR_TABLE

SLOPE = math.atan(0.6 * 0.5)  # six tenths of the friction cone
# Beside the box that sticks, a soft ball that sticks in a patch, and a ball that slides.
BALLS = """
  <body name="soft" pos="0 1 0.049"><joint type="slide" axis="0 0 1"/><joint type="slide" axis="1 0 0"/>
    <geom name="soft" size="0.05" mass="0.5" friction="0.5"/></body>
  <body name="puck" pos="0 -1 0.05"><joint type="slide" axis="0 0 1"/><joint type="slide" axis="1 0 0"/>
    <geom name="puck" size="0.05" mass="0.5" friction="0.1" priority="1"/></body>"""
PROPERTIES = {
    "materials": {
        "soft": {"hydroelastic_modulus": 1e6, "dissipation": 10},
        "firm": {"tangential_stiffness": 2e5, "stiffness": 1e6},
        "floor": {"rigid": True},
    },
    "geoms": {"soft": "soft", "box": "firm", "floor": "floor"},
}
NUM_STEPS = 300


@pytest.fixture(scope="module")
def model(make_slope: Callable[..., mujoco.MjModel]) -> mujoco.MjModel:
    return make_slope(SLOPE, BALLS)


def make(model: mujoco.MjModel, **options: object) -> stiction.Simulator:
    options = {"friction_law": "elastic", "properties": PROPERTIES, **options}
    return stiction.Simulator(model, "lagged", **options)


@pytest.fixture(scope="module")
def recording(
    model: mujoco.MjModel, tmp_path_factory: pytest.TempPathFactory
) -> stiction.Recording:
    path = tmp_path_factory.mktemp("anchors") / "run.mcap"
    with stiction.Recorder(path, make(model)) as recorder:
        recorder.step(mujoco.MjData(model), NUM_STEPS)
    return stiction.Recording(path)


def test_anchors_say_what_holds_a_body(model: mujoco.MjModel) -> None:
    sim, data = make(model), mujoco.MjData(model)
    report = sim.step(data, 1500)
    rows = sim.list_anchors()
    box = rows[rows["bodies"][:, 1] == model.body("box").id]
    assert len(box) == 4 and (box["geoms"] == [0, model.geom("box").id]).all()
    assert (box["elements"] == -1).all() and not box["slipping"].any()
    np.testing.assert_allclose(box["stiffness"], 2e5)
    np.testing.assert_allclose(box["force"], -2e5 * box["stretch"], rtol=1e-12)
    # The springs carry the load of the slope.
    np.testing.assert_allclose(box["force"].sum(axis=0), [-9.81 * math.sin(SLOPE), 0, 0], atol=1e-5)
    soft = rows[rows["bodies"][:, 1] == model.body("soft").id]
    assert len(soft) > 1 and (soft["elements"][:, 1] >= 0).all()
    assert soft["force"][:, 0].sum() == pytest.approx(-0.5 * 9.81 * math.sin(SLOPE), rel=1e-4)
    puck = rows[rows["bodies"][:, 1] == model.body("puck").id]
    assert puck["slipping"].all()
    assert puck["force"][:, 0].sum() == pytest.approx(-0.1 * 0.5 * 9.81 * math.cos(SLOPE), rel=1e-4)
    assert report.anchor_stretch == np.linalg.norm(rows["stretch"], axis=1).max()
    energy = 0.5 * rows["stiffness"] @ (rows["stretch"] ** 2).sum(axis=1)
    assert report.elastic_energy == pytest.approx(energy, rel=1e-12)


def test_a_recording_has_the_anchors_of_its_steps(
    recording: stiction.Recording, model: mujoco.MjModel
) -> None:
    table = recording.list_anchors()
    sim, data = make(model), mujoco.MjData(model)
    first = 0
    for step in recording:
        sim.step(data)
        rows = sim.list_anchors()
        recorded = table[first : first + len(rows)]
        first += len(rows)
        assert len(step.anchors) == len(rows)
        assert (recorded["step"] == step.index).all() and (recorded["time"] == step.time).all()
        for name in ANCHOR_TABLE.dtype.names or ():
            expected = rows[name].astype("f4") if rows[name].dtype.kind == "f" else rows[name]
            np.testing.assert_array_equal(recorded[name], expected)
    assert first == len(table) > 6 * NUM_STEPS


def test_the_topic_tells_its_types_and_units(recording: stiction.Recording) -> None:
    """Reads the topic with only the mcap package and NumPy."""
    num_rows = 0
    with recording.path.open("rb") as file:
        reader = mcap.reader.make_reader(file, validate_crcs=True)
        for schema, channel, message in reader.iter_messages(topics=["/anchors"]):
            fields = [(name, kind, tuple(shape)) for name, kind, shape in json.loads(schema.data)]
            records = np.frombuffer(message.data, np.dtype(fields))
            assert channel.metadata["stretch"] == "m" and channel.metadata["force"] == "N"
            assert set(channel.metadata) <= set(records.dtype.names)
            num_rows += len(records)
    assert num_rows == len(recording.list_anchors())


def test_advance_records_the_anchors_at_the_end_of_a_call(
    model: mujoco.MjModel, tmp_path: Path
) -> None:
    path = tmp_path / "run.mcap"
    sim, data = make(model), mujoco.MjData(model)
    expected = []
    with stiction.Recorder(path, sim) as recorder:
        for _ in range(5):
            recorder.advance(data, data.time + 0.02, 1e-3)
            expected.append(sim.list_anchors())
    for step, rows in zip(stiction.Recording(path), expected, strict=True):
        np.testing.assert_array_equal(step.anchors["stretch"], rows["stretch"].astype("f4"))


def test_a_failed_step_has_no_anchors(model: mujoco.MjModel, tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    sim, data = make(model, on_failure="stop"), mujoco.MjData(model)
    with stiction.Recorder(path, sim) as recorder:
        recorder.step(data, 5)
        data.qvel[0] = math.nan
        recorder.step(data)
    recording = stiction.Recording(path)
    (failed,) = recording.failures
    assert len(failed.anchors) == 0
    assert recording.list_anchors()["step"].max() == 5


def test_other_laws_have_no_anchors(model: mujoco.MjModel, tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    sim = make(model, friction_law="soft")
    with pytest.raises(stiction.Error, match="list_anchors: needs the friction law 'elastic'"):
        sim.list_anchors()
    with stiction.Recorder(path, sim) as recorder:
        recorder.step(mujoco.MjData(model), 3)
    recording = stiction.Recording(path)
    assert all(len(step.anchors) == 0 for step in recording)
    assert b"/anchors" not in path.read_bytes()
    with pytest.raises(stiction.Error, match=r"no topic /anchors, because its friction law is"):
        recording.list_anchors()


def test_a_recording_without_the_topic_says_so(
    recording: stiction.Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording._head, "topics", {"/step"})
    with pytest.raises(stiction.Error, match="an older version of stiction recorded it"):
        recording.list_anchors()


def test_damaged_anchors_are_named(
    recording: stiction.Recording, model: mujoco.MjModel, tmp_path: Path
) -> None:
    path = tmp_path / "run.mcap"
    size = fmt.ANCHOR_DTYPE.itemsize
    with stiction.Recorder(path, make(model)) as recorder:
        recorder._writer.write_anchors(0, 1, np.zeros(2, ANCHOR_TABLE.dtype))
        recorder._writer._write(
            lambda writer: recorder._writer._add(writer, "/anchors", 0, 1, bytes(size + 1))
        )
    with pytest.raises(stiction.Error, match=r"step 1, /anchors: the message is damaged"):
        len(stiction.Recording(path))


def test_arrow_has_units(recording: stiction.Recording) -> None:
    pytest.importorskip("pyarrow")
    table = recording.list_anchors("arrow")
    assert table.column_names[:6] == ["step", "time", "body1", "body2", "geom1", "geom2"]
    assert table.schema.field("force_x").metadata[b"unit"] == b"N"
    with pytest.raises(stiction.Error, match=r"there is no 'arow' .did you mean 'arrow'"):
        recording.list_anchors("arow")


@pytest.mark.parametrize("suffix", [".csv", ".npz"])
def test_the_command_writes_them(
    recording: stiction.Recording, tmp_path: Path, suffix: str
) -> None:
    out = tmp_path / f"anchors{suffix}"
    arguments = ["contacts", str(recording.path), "--anchors", "--out", str(out), "--json"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    figures = json.loads(result.output)
    table = recording.list_anchors()
    assert figures["rows"] == len(table) == figures["sticking"] + figures["slipping"]
    assert figures["slipping"] == table["slipping"].sum() > 0
    if suffix == ".npz":
        np.testing.assert_array_equal(np.load(out)["anchors"], table)
        return
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["force_x"]) for row in rows] == table["force"][:, 0].tolist()
    assert {row["geom2_name"] for row in rows} == {"box", "soft", "puck"}
