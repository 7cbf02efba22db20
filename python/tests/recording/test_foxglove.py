"""Recordings for Foxglove and ROS 2, decoded by the libraries of these projects."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from mcap.reader import make_reader

import stiction

pytest.importorskip("foxglove")
from mcap_protobuf.decoder import DecoderFactory as ProtobufDecoder
from mcap_ros2.decoder import DecoderFactory as Ros2Decoder

from stiction.recording import foxglove
from stiction.recording.foxglove import FRAMES_PER_SECOND, PREFIX, encode_wrench, find_frames
from stiction.recording.foxglove_scene import PatchMesh

# Every kind of geom, a soft ball on a floor, and a box in an oblique pose that touches in points.
SCENE = """
<mujoco><option timestep="0.002"/>
<asset><material name="red" rgba="1 0 0 0.5"/>
<mesh name="tet" vertex="0 0 0  .1 0 0  0 .1 0  0 0 .1"/></asset>
<worldbody>
  <geom name="floor" type="plane" size="0 0 0.1"/>
  <body name="ball" pos="0 0 0.048"><freejoint/>
    <geom name="ball" size="0.05" mass="0.5" material="red"/></body>
  <body name="box" pos="0.5 0 0.07" euler="10 20 30"><freejoint/>
    <geom type="box" size="0.05 0.04 0.03" mass="1"/></body>
  <body pos="0 1 1"><joint/>
    <geom type="capsule" size="0.02 0.1"/><geom type="cylinder" size="0.02 0.1"/>
    <geom type="ellipsoid" size="0.02 0.1 0.03"/><geom type="mesh" mesh="tet"/>
    <geom size="1" rgba="0 0 0 0" contype="0" conaffinity="0"/></body>
</worldbody></mujoco>"""
PROPERTIES = {
    "materials": {
        "soft": {"hydroelastic_modulus": 1e5, "dissipation": 10},
        "hard": {"rigid": True},
    },
    "geoms": {"ball": "soft", "floor": "hard"},
}
NUM_STEPS = 150


def make_run() -> tuple[stiction.Simulator, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_string(SCENE)
    data = mujoco.MjData(model)
    return stiction.Simulator(model, properties=PROPERTIES), data


def read_messages(path: Path) -> dict[str, list[tuple[int, str, Any]]]:
    """Returns the time, the name of the schema and the decoded message of all messages by topic."""
    found: dict[str, list[tuple[int, str, Any]]] = {}
    with path.open("rb") as file:
        reader = make_reader(file, decoder_factories=[ProtobufDecoder(), Ros2Decoder()])
        topics = [c.topic for c in reader.get_summary().channels.values() if PREFIX in c.topic]
        for schema, channel, message, decoded in reader.iter_decoded_messages(topics=topics):
            found.setdefault(channel.topic, []).append((message.log_time, schema.name, decoded))
    return found


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("foxglove") / "live.mcap"
    simulator, data = make_run()
    with stiction.Recorder(path, simulator, foxglove=True) as recorder:
        recorder.step(data, NUM_STEPS)
    return path


@pytest.fixture(scope="module")
def converted(live: Path) -> Path:
    out = live.with_name("converted.mcap")
    done = subprocess.run(
        [Path(sys.executable).parent / "stiction", "convert", live, "--out", out],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "18 frames of 150 steps" in done.stdout
    return out


@pytest.mark.slow
def test_frames_come_sixty_times_per_second(live: Path, converted: Path) -> None:
    for path in (live, converted):
        messages = read_messages(path)
        times = [time for time, *_ in messages["/foxglove/transforms"]]
        # The first step that starts at or after each frame.
        due = np.arange(18) / FRAMES_PER_SECOND
        expected = np.ceil(due / 0.002 - 1e-9) * 0.002
        np.testing.assert_allclose(times, 1e9 * expected, atol=1)
        assert len(messages["/foxglove/geoms"]) == 1


def test_transforms_are_the_poses_of_the_bodies(live: Path, converted: Path) -> None:
    simulator, data = make_run()
    poses = {}
    for step in range(NUM_STEPS):
        simulator.step(data)  # data then has the poses of its start
        poses[step * 2_000_000] = data.xpos.copy(), data.xquat.copy()
    for path in (live, converted):
        for time, schema, message in read_messages(path)["/foxglove/transforms"]:
            assert schema == "foxglove.FrameTransforms"
            assert [t.child_frame_id for t in message.transforms] == ["ball", "box", "body 3"]
            positions, quats = poses[time]
            for body, transform in enumerate(message.transforms, 1):
                assert transform.parent_frame_id == "world"
                assert transform.timestamp.ToNanoseconds() == time
                p, q = transform.translation, transform.rotation
                np.testing.assert_allclose([p.x, p.y, p.z], positions[body], atol=1e-15)
                np.testing.assert_allclose([q.w, q.x, q.y, q.z], quats[body], atol=1e-15)


def test_patches_are_triangles_with_the_color_of_their_pressure(
    live: Path, converted: Path
) -> None:
    simulator, data = make_run()
    reports = {}
    for step in range(NUM_STEPS):
        reports[step * 2_000_000] = simulator.step(data).patches
    largest = max(p.vertex_pressure.max() for p in reports.values() if len(p))
    for path, is_live in ((live, True), (converted, False)):
        for time, schema, message in read_messages(path)["/foxglove/patches"]:
            assert schema == "foxglove.SceneUpdate"
            (entity,) = message.entities
            (triangles,) = entity.triangles
            points = np.array([(p.x, p.y, p.z) for p in triangles.points]).reshape(-1, 3)
            patches = reports[time]
            np.testing.assert_allclose(points, patches.vertices, atol=0 if is_live else 1e-7)
            corners = points[np.array(triangles.indices, int).reshape(-1, 3)]
            sides = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
            area = np.linalg.norm(sides, axis=1).sum() / 2
            np.testing.assert_allclose(area, patches.area.sum(), rtol=1e-9 if is_live else 1e-4)
            assert len(triangles.colors) == len(points)
            scale = float(entity.metadata[0].value)
            if not is_live:
                assert scale == pytest.approx(largest, rel=1e-5)
            if len(points) and not is_live:
                brightest = triangles.colors[int(np.argmax(patches.vertex_pressure))]
                if patches.vertex_pressure.max() > 0.999 * largest:
                    # The last color of viridis.
                    np.testing.assert_allclose(
                        [brightest.r, brightest.g, brightest.b], [0.993, 0.906, 0.144], atol=0.01
                    )


def test_wrenches_are_those_of_the_contacts(live: Path, converted: Path) -> None:
    simulator, data = make_run()
    expected = {}
    for step in range(NUM_STEPS):
        report = simulator.step(data)
        rotation, origin = data.xmat[2].reshape(3, 3), data.xpos[2]
        contacts = report.contacts
        sign = (contacts.bodies[:, 1] == 2).astype(float) - (contacts.bodies[:, 0] == 2)
        force = sign[:, None] * contacts.force
        torque = np.cross(contacts.point - origin, force)
        expected[step * 2_000_000] = force.sum(axis=0) @ rotation, torque.sum(axis=0) @ rotation
    for path in (live, converted):
        messages = read_messages(path)["/foxglove/wrench/box"]
        assert len(messages) > 10 and max(abs(m.wrench.force.z) for *_, m in messages) > 1
        for time, schema, message in messages:
            assert schema == "geometry_msgs/msg/WrenchStamped"
            assert message.header.frame_id == "box"
            assert message.header.stamp.sec * 10**9 + message.header.stamp.nanosec == time
            for vector, value in zip(("force", "torque"), expected[time], strict=True):
                part = getattr(message.wrench, vector)
                # The converted file has the precision of the recording, float32.
                np.testing.assert_allclose([part.x, part.y, part.z], value, rtol=1e-5, atol=1e-5)


def test_geoms_are_fixed_to_their_bodies(live: Path) -> None:
    ((_, schema, message),) = read_messages(live)["/foxglove/geoms"]
    assert schema == "foxglove.SceneUpdate"
    entities = {entity.frame_id: entity for entity in message.entities}
    assert set(entities) == {"world", "ball", "box", "body 3"}
    assert all(entity.frame_locked for entity in entities.values())
    box = entities["box"].cubes[0].size
    np.testing.assert_allclose([box.x, box.y, box.z], [0.1, 0.08, 0.06])
    ball = entities["ball"].spheres[0]
    assert ball.size.x == pytest.approx(0.1) and ball.color.r == 1 and ball.color.a == 0.5
    shapes = entities["body 3"]
    assert len(shapes.cylinders) == 2 and len(shapes.triangles) == 1
    ends = [s.pose.position.z for s in shapes.spheres if s.size.y == pytest.approx(0.04)]
    assert ends == pytest.approx([-0.1, 0.1])  # of the capsule
    assert len(shapes.spheres) == 3  # an invisible geom is left out


def test_our_own_channels_and_the_replay_stay(live: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain.mcap"
    simulator, data = make_run()
    with stiction.Recorder(plain, simulator) as recorder:
        recorder.step(data, NUM_STEPS)
    recording, alone = stiction.Recording(live), stiction.Recording(plain)
    assert recording.digests == alone.digests
    assert recording.table().tobytes() == alone.table().tobytes()
    replayed = list(stiction.Replay(recording))
    assert len(replayed) == NUM_STEPS
    assert all(step.find_difference() is None for step in replayed)


def test_wrench_is_aligned_for_names_of_every_length() -> None:
    from mcap.records import Schema
    from mcap_ros2.decoder import DecoderFactory

    schema = Schema(
        id=1,
        name=foxglove.WRENCH_NAME,
        encoding=foxglove.WRENCH_SCHEMA_ENCODING,
        data=foxglove.WRENCH_SCHEMA.encode(),
    )
    decode = DecoderFactory().decoder_for("cdr", schema)
    assert decode
    for length in range(12):
        frame = "é" * (length % 2) + "x" * length
        force, torque = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])
        message = decode(encode_wrench(3_000_000_007, frame, force, torque))
        assert message.header.frame_id == frame
        assert (message.header.stamp.sec, message.header.stamp.nanosec) == (3, 7)
        w = message.wrench
        assert [w.force.x, w.force.y, w.force.z] == [1, 2, 3]
        assert [w.torque.x, w.torque.y, w.torque.z] == [4, 5, 6]


def test_faces_become_fans_of_triangles() -> None:
    mesh = PatchMesh(np.zeros((9, 3)), np.zeros(9), np.array([0, 4, 4 + 5], np.int32))
    assert mesh.triangles().tolist() == [[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7], [4, 7, 8]]
    empty = PatchMesh(np.zeros((0, 3)), np.zeros(0), np.array([0], np.int32))
    assert empty.triangles().shape == (0, 3)


def test_run_records_for_foxglove(tmp_path: Path) -> None:
    scene = tmp_path / "scene.xml"
    scene.write_text(SCENE)
    program = Path(sys.executable).parent / "stiction"

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [program, "run", scene, "--duration", "0.1", *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )

    done = run("--record", "run.mcap", "--foxglove")
    assert done.returncode == 0, done.stderr
    assert len(read_messages(tmp_path / "run.mcap")["/foxglove/transforms"]) == 6
    done = run("--foxglove")
    assert done.returncode == 2 and "--foxglove needs --record FILE" in done.stderr


@pytest.mark.slow
def test_conversion_does_not_overwrite_the_recording(live: Path) -> None:
    program = Path(sys.executable).parent / "stiction"
    before = live.read_bytes()
    done = subprocess.run(
        [program, "convert", live, "--out", live], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1 and "is the recording itself" in done.stderr
    assert live.read_bytes() == before


def test_missing_foxglove_sdk_is_explained(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "foxglove", None)
    simulator, _ = make_run()
    with pytest.raises(stiction.Error, match=r"foxglove-sdk.*pip install 'stiction\[foxglove\]'"):
        stiction.Recorder(tmp_path / "run.mcap", simulator, foxglove=True)
    assert not (tmp_path / "run.mcap").exists()
    with pytest.raises(stiction.Error, match="foxglove: is 1, must be True or False"):
        stiction.Recorder(tmp_path / "run.mcap", simulator, foxglove=1)  # type: ignore[arg-type]


def test_frames_of_bodies_have_names_of_their_own() -> None:
    bodies = "".join(f"<body{name}/>" for name in (" name='body 2'", "", " name='body 2_'", ""))
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
    frames = find_frames(model)
    assert frames == ["world", "body 2", "body 2__", "body 2_", "body 4"]
    assert len(set(frames)) == model.nbody
