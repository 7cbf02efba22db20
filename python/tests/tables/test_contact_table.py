"""All contacts of a step, or of a recording, as one table."""

import csv
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

import stiction
from stiction.recording import format as fmt
from stiction.recording.records import mark_patches, unpack_records
from stiction.setup import options
from stiction.tables import contact_table
from stiction.tables.record_table import Rows

pa = pytest.importorskip("pyarrow")

# A soft ball that slides on the floor in a patch, and a box that touches the floor in points.
SCENE = """
<mujoco><option timestep="0.002"/><worldbody>
  <geom name="floor" type="plane" size="2 2 0.1"/>
  <body name="ball" pos="0 0 0.049"><freejoint/><geom name="ball" size="0.05" mass="0.5"/></body>
  <body name="box" pos="0.5 0 0.0499"><freejoint/>
    <geom type="box" size="0.05 0.05 0.05" mass="1" condim="4"/></body>
  <body name="post" pos="0.5 0 0.5"><freejoint/><geom size="0.01" mass="0.1"/></body>
</worldbody></mujoco>"""
PROPERTIES = {
    "materials": {
        "soft": {"hydroelastic_modulus": 1e5, "dissipation": 10},
        "hard": {"rigid": True},
    },
    "geoms": {"ball": "soft", "floor": "hard"},
}
GRAVITY = np.array([0, 0, -9.81])


def make_run(
    model_name: str = "lagged", **options: Any
) -> tuple[stiction.Simulator, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_string(SCENE)
    data = mujoco.MjData(model)
    data.qvel[0] = 0.3
    return stiction.Simulator(model, model_name, properties=PROPERTIES, **options), data


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> stiction.Recording:
    path = tmp_path_factory.mktemp("table") / "run.mcap"
    simulator, data = make_run()
    with stiction.Recorder(path, simulator) as recorder:
        recorder.step(data, 60)
    return stiction.Recording(path)


def sum_forces(rows: Rows, body: int) -> Any:
    """Returns the sum of the forces on a body."""
    signs = (rows["bodies"][:, 1] == body).astype(float) - (rows["bodies"][:, 0] == body)
    return signs @ rows["force"]


def test_a_table_has_the_points_and_the_faces() -> None:
    simulator, data = make_run()
    report = simulator.step(data, 60)
    rows = report.table()
    points, faces = rows[rows["kind"] == "point"], rows[rows["kind"] == "face"]
    contacts, patches = report.contacts, report.patches
    is_point = contacts.patch == -1
    assert len(points) == is_point.sum() == 4 and len(faces) == patches.num_faces > 10
    for field, array in (("position", "point"), ("normal", "normal"), ("geoms", "geoms")):
        np.testing.assert_array_equal(points[field], getattr(contacts, array)[is_point])
    for field in ("bodies", "distance", "impulse", "force", "slip_velocity", "patch"):
        np.testing.assert_array_equal(points[field], getattr(contacts, field)[is_point])
    np.testing.assert_allclose(
        points["torque"], contacts.torque_impulse[is_point] / simulator.time_step
    )
    np.testing.assert_array_equal(faces["position"], patches.face_center)
    np.testing.assert_array_equal(faces["area"], patches.face_area)
    np.testing.assert_array_equal(faces["slip_velocity"], patches.slip_velocity)
    assert np.isnan(faces["distance"]).all() and np.isnan(points["area"]).all()
    assert (faces["patch"] == 0).all() and (faces["geoms"] == patches.geoms[0]).all()
    np.testing.assert_allclose(faces["force"].sum(axis=0), patches.force[0], rtol=1e-12)
    np.testing.assert_allclose(faces["impulse"], faces["force"] * simulator.time_step)


@pytest.mark.parametrize("quadrature", options.OPTIONS["quadrature"].choices)
@pytest.mark.parametrize("is_recorded", [False, True])
def test_the_rows_have_the_wrench_of_the_patch(
    quadrature: str, is_recorded: bool, tmp_path: Path
) -> None:
    """Forces at the centers of the faces do not make the torque of faces with several points."""
    simulator, data = make_run("lagged", quadrature=quadrature)
    path = tmp_path / "run.mcap"
    with stiction.Recorder(path, simulator) as recorder:
        report = recorder.step(data, 30)
    rows = stiction.Recording(path).table() if is_recorded else report.table()
    if is_recorded:
        rows = rows[rows["step"] == 30]
    faces, patches = rows[rows["kind"] == "face"], report.patches
    arm = faces["position"] - patches.center[0]
    torque = np.cross(arm, faces["force"]).sum(axis=0) + faces["torque"].sum(axis=0)
    size = np.linalg.norm(patches.torque[0])
    # Single precision in the file: the position is rounded relative to the world's origin.
    error = 1e-7 * 0.1 * np.linalg.norm(patches.force[0]) if is_recorded else 1e-12 * size
    assert size > 0 and torque == pytest.approx(patches.torque[0], abs=10 * error)
    has_couple = np.linalg.norm(faces["torque"].sum(axis=0)) > 1e-5 * size
    assert has_couple == (quadrature == "moment_exact")


@pytest.mark.parametrize("wrong", [3, None, ["numpy"]])
def test_a_format_that_is_no_text_is_an_error(wrong: Any, recording: stiction.Recording) -> None:
    simulator, data = make_run()
    report = simulator.step(data)
    for table in (report.table, recording.table):
        with pytest.raises(stiction.Error, match="format: is .*, must be a text"):
            table(wrong)


def test_sticking_rows_have_a_force_and_do_not_slip() -> None:
    simulator, data = make_run()
    rows = simulator.step(data, 3).table()
    faces = rows[rows["kind"] == "face"]
    assert len(faces) and not faces["stick"].any()  # the ball slips at first
    rows = simulator.step(data, 60).table()
    faces = rows[rows["kind"] == "face"]
    np.testing.assert_array_equal(faces["stick"], faces["force"].any(axis=1))  # then it rolls
    resting = rows[rows["kind"] == "point"]
    assert resting["stick"].all()
    data.qpos[2] += 1  # the ball flies
    assert (simulator.step(data).table()["kind"] == "point").all()


@pytest.mark.parametrize("model_name", stiction.contact_models())
def test_forces_of_a_table_move_the_bodies(model_name: str) -> None:
    simulator, data = make_run(model_name, tolerance=1e-10)
    for _ in range(5):
        velocity = data.qvel[6:9].copy()
        rows = simulator.step(data).table()
        change = (data.qvel[6:9] - velocity) / simulator.time_step
        np.testing.assert_allclose(1.0 * (change - GRAVITY), sum_forces(rows, 2), atol=1e-4)


@pytest.mark.parametrize(
    ("model_name", "integrator"), [("no_slip", "event_driven"), ("viscous", "rk4")]
)
def test_a_divided_step_has_the_points_of_all_parts(model_name: str, integrator: str) -> None:
    simulator, data = make_run(model_name, integrator=integrator)
    data.qpos[16] = 0.05 + 0.0499 + 0.01 + 0.0005  # the post is about to land on the box
    data.qvel[14] = -1
    report = simulator.step(data)
    rows = report.table()
    assert report.statistics.num_parts > 1 and (rows["kind"] == "point").all()
    np.testing.assert_array_equal(rows["impulse"], report.contacts.impulse)


def test_a_step_without_contacts_has_an_empty_table() -> None:
    simulator, data = make_run()
    data.qpos[[2, 9, 16]] = 3, 4, 5
    rows = simulator.step(data).table()
    assert rows.shape == (0,) and rows.dtype == contact_table.DTYPE
    assert simulator.step(data).table("arrow").num_rows == 0


def test_arrow_has_a_column_for_each_component() -> None:
    simulator, data = make_run()
    report = simulator.step(data, 60)
    rows, table = report.table(), report.table(format="arrow")
    assert table.num_rows == len(rows)
    np.testing.assert_array_equal(table["geom2"].to_numpy(), rows["geoms"][:, 1])
    np.testing.assert_array_equal(table["force_z"].to_numpy(), rows["force"][:, 2])
    assert table["kind"].to_pylist() == rows["kind"].tolist()
    assert table["stick"].to_pylist() == rows["stick"].tolist()
    assert table.schema.field("force_z").metadata[b"unit"] == b"N"
    with pytest.raises(stiction.Error, match=r"format: there is no 'arow' .did you mean 'arrow'"):
        report.table("arow")


def test_a_recording_has_the_tables_of_its_steps(recording: stiction.Recording) -> None:
    table = recording.table()
    simulator, data = make_run()
    first = 0
    for step in range(1, 61):
        rows = simulator.step(data).table()
        recorded = table[first : first + len(rows)]
        first += len(rows)
        assert (recorded["step"] == step).all() and recorded["time"] == pytest.approx(data.time)
        for name in contact_table.DTYPE.names or ():
            if rows[name].dtype.kind == "f":  # recorded as float32
                scale = np.nanmax(np.abs(rows[name]), initial=0)
                np.testing.assert_allclose(recorded[name], rows[name], atol=2e-7 * scale + 1e-40)
            else:
                np.testing.assert_array_equal(recorded[name], rows[name])
    assert first == len(table)


def test_a_recording_gives_arrow(recording: stiction.Recording) -> None:
    table = recording.table(format="arrow")
    assert table.column_names[:3] == ["step", "time", "kind"]
    assert table.num_rows == len(recording.table())
    with pytest.raises(stiction.Error, match="there is no 'csv'"):
        recording.table(format="csv")


def run_contacts(*arguments: object) -> "subprocess.CompletedProcess[str]":
    program = Path(sys.executable).parent / "stiction"
    return subprocess.run(
        [program, "contacts", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_contacts_writes_parquet_csv_and_npz(recording: stiction.Recording, tmp_path: Path) -> None:
    rows = recording.table()
    for suffix in (".parquet", ".csv", ".npz"):
        done = run_contacts(recording.path, "--out", tmp_path / f"contacts{suffix}")
        assert done.returncode == 0, done.stderr
        assert f"{len(rows)} rows of 60 steps" in done.stdout
    names = recording.model.body(int(rows["bodies"][0, 1])).name

    table = pa.parquet.read_table(tmp_path / "contacts.parquet")
    np.testing.assert_array_equal(table["impulse_x"].to_numpy(), rows["impulse"][:, 0])
    assert table["body2_name"][0].as_py() == names
    assert set(table["geom2_name"].to_pylist()) == {"ball", "#2"}
    assert table.schema.field("slip_velocity_y").metadata[b"unit"] == b"m/s"

    with (tmp_path / "contacts.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["kind"] for line in lines] == rows["kind"].tolist()
    assert [float(line["position_x"]) for line in lines] == rows["position"][:, 0].tolist()
    assert lines[0]["body2_name"] == names

    with np.load(tmp_path / "contacts.npz") as arrays:
        assert arrays["contacts"].tobytes() == rows.tobytes()  # NaN included
        assert arrays["body2_name"][0] == names


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".csv", ".npz", ".parquet"])
def test_contacts_replaces_tables_only(
    recording: stiction.Recording, tmp_path: Path, suffix: str
) -> None:
    out = tmp_path / "new" / f"table{suffix}"
    for _ in range(2):
        done = run_contacts(recording.path, "--out", out)
        assert done.returncode == 0, done.stderr
    for content in (b"what somebody has written", make_foreign_table(out, suffix)):
        out.write_bytes(content)
        done = run_contacts(recording.path, "--out", out)
        assert done.returncode == 1 and "exists and is not a table of contacts" in done.stderr
        assert out.read_bytes() == content


def make_foreign_table(path: Path, suffix: str) -> bytes:
    """Returns a table of another program that has the first column of ours."""
    columns: dict[str, Any] = {"step": np.arange(3), "loss": np.ones(3)}
    if suffix == ".csv":
        path.write_text("step,loss\n0,1\n1,1\n2,1\n")
    elif suffix == ".npz":
        np.savez(path, **columns)
    else:
        pa.parquet.write_table(pa.table(columns), path)
    return path.read_bytes()


@pytest.mark.slow
def test_contacts_write_into_a_pipe(recording: stiction.Recording, tmp_path: Path) -> None:
    """The reader of a pipe gets the whole table: no check opens and closes the pipe before."""
    pipe, table = tmp_path / "pipe.csv", tmp_path / "table.csv"
    os.mkfifo(pipe)
    got = tmp_path / "got.csv"
    with got.open("wb") as file, subprocess.Popen(["cat", pipe], stdout=file) as reader:
        try:
            done = run_contacts(recording.path, "--out", pipe)
            reader.wait(60)
        finally:
            reader.kill()
    assert done.returncode == 0, done.stderr
    assert run_contacts(recording.path, "--out", table).returncode == 0
    assert got.read_bytes() == table.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (("none.mcap", "--out", "a.csv"), 2, "none.mcap: there is no such file"),
        (("RUN", "--out", "a.xlsx"), 2, "ends in '.xlsx', but a table ends in .parquet, .csv or"),
        (("RUN", "--out", "/proc/no/a.csv"), 1, "cannot be written: No such file or directory"),
    ],
)
def test_contacts_explains_errors(
    recording: stiction.Recording, arguments: tuple[str, ...], code: int, expected: str
) -> None:
    done = run_contacts(*(recording.path if a == "RUN" else a for a in arguments))
    assert done.returncode == code and expected in done.stderr


def test_a_recording_that_lost_its_contacts_says_so(
    recording: stiction.Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = tmp_path / "lost.mcap"
    simulator, data = make_run()
    monkeypatch.setattr("stiction.recording.writer.len", lambda x: 0, raising=False)
    with stiction.Recorder(lost, simulator) as recorder:
        recorder.step(data, 3)
    monkeypatch.undo()
    with pytest.raises(stiction.Error, match=r"no contacts for 3 steps .* --record"):
        stiction.Recording(lost).table()


def test_contacts_of_format_1_are_read() -> None:
    dtype = np.dtype(
        [
            (n, fmt.CONTACT_DTYPE[n])
            for n in ("geoms", "point", "normal", "distance", "impulse", "slipping")
        ]
    )
    old = np.zeros(3, dtype)
    old["geoms"], old["distance"] = [(0, 1), (0, 2), (0, 1)], (1, 2, 3)
    records = unpack_records(old.tobytes(), dtype, fmt.CONTACT_DTYPE)
    assert records["distance"].tolist() == [1, 2, 3] and np.isnan(records["slip_velocity"]).all()

    class Patch:
        patch = {"geoms": np.array([0, 1])}  # noqa: RUF012

    marked = mark_patches(records, [Patch()])  # type: ignore[list-item]
    assert marked["patch"].tolist() == [0, -1, 0]
