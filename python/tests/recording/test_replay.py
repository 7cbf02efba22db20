"""Tests that a replay repeats every step bit for bit, and that it finds differences."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import lz4.frame
import mujoco
import numpy as np
import pytest
import zstandard
from mcap.records import Attachment, Channel, Chunk, DataEnd, McapRecord, Message, Metadata, Schema
from mcap.stream_reader import StreamReader
from mcap.writer import Writer

import stiction
from stiction.inputs.names import find_compliant_models
from stiction.recording import format as fmt

MODELS = find_compliant_models()


def find_first(replay: stiction.Replay):
    """Returns the first difference, or None."""
    return next((d for step in replay if (d := step.find_difference())), None)


def rewrite(path: Path, change: Callable[[McapRecord], McapRecord]) -> None:
    """Rewrites a recording with changed records as a valid MCAP file."""
    with path.open("rb") as file:
        records = list(StreamReader(file).records)
    data_end = next(i for i, record in enumerate(records) if isinstance(record, DataEnd))
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start(fmt.PROFILE, "test")
        for record in map(change, records[:data_end]):
            match record:
                case Metadata():
                    writer.add_metadata(record.name, record.metadata)
                case Attachment():
                    writer.add_attachment(0, 0, record.name, record.media_type, record.data)
                case Schema():
                    writer.register_schema(record.name, record.encoding, record.data)
                case Channel():
                    writer.register_channel(record.topic, record.message_encoding, record.schema_id)
                case Message():
                    writer.add_message(
                        record.channel_id, record.log_time, record.data, 0, record.sequence
                    )
        writer.finish()


def change_step(index: int, edit: Callable[[bytes], bytes]) -> Callable[[McapRecord], McapRecord]:
    """Edits the message of one step. The channel /step is the second one in a recording."""

    def change(record: McapRecord) -> McapRecord:
        if isinstance(record, Message) and record.channel_id == 2 and record.sequence == index:
            record.data = edit(record.data)
        return record

    return change


def change_metadata(**texts: str) -> Callable[[McapRecord], McapRecord]:
    """Sets metadata and updates its hash."""

    def change(record: McapRecord) -> McapRecord:
        if isinstance(record, Metadata) and record.name == fmt.METADATA:
            record.metadata |= texts
            record.metadata["digest"] = fmt.hash_texts(record.metadata)
        return record

    return change


def set_entry(data: bytes, index: int, value: float, hash_again: bool) -> bytes:
    state = np.frombuffer(data[fmt.DIGEST_SIZE :], np.float64).copy()
    state[index] = value
    digest = fmt.hash_bytes(state.tobytes()) if hash_again else data[: fmt.DIGEST_SIZE]
    return digest + state.tobytes()


def find_chunks(path: Path) -> list[int]:
    """Returns the offsets of the chunks [bytes]."""
    offsets, begin = [], 0
    with path.open("rb") as file:
        for record in StreamReader(file, emit_chunks=True).records:
            if isinstance(record, Chunk):
                offsets.append(begin)
            begin = file.tell()
    return offsets


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("scene", ["pile", "activation", "mocap", "delays"])
def test_replay_is_bit_exact(record_run, scene, model):
    recording = record_run(scene, model)
    assert find_first(stiction.Replay(recording)) is None
    assert find_first(stiction.Replay(recording, from_step=93)) is None
    assert len(recording) == 150


@pytest.mark.parametrize("integrator", ["implicit", "implicitfast", "RK4", "discrete"])
def test_replay_of_mujoco_s_integrators_is_bit_exact(scenes, record_run, integrator):
    option = f'<mujoco><option integrator="{integrator}"/>'
    scenes["arm"] = scenes["activation"].replace("<mujoco>", option)
    recording = record_run("arm", "mujoco")
    assert find_first(stiction.Replay(recording)) is None
    assert find_first(stiction.Replay(recording, from_step=93)) is None


def test_threads_do_not_change_a_bit(record_run):
    digests = record_run("pile", num_threads=1).digests
    recording = record_run("pile", num_threads=2)
    assert digests == recording.digests
    assert len(set(digests)) == 150
    assert find_first(stiction.Replay(recording, num_threads=3)) is None


def test_replay_follows_a_state_set_by_hand(scenes, tmp_path):
    model = mujoco.MjModel.from_xml_string(scenes["pile"])
    data = mujoco.MjData(model)
    with stiction.Recorder(tmp_path / "a.mcap", stiction.Simulator(model, "lagged")) as recorder:
        recorder.step(data, 30)
        mujoco.mj_resetData(model, data)
        recorder.step(data, 30)
        data.qvel[:] = 0.1
        recorder.step(data, 30)
    recording = stiction.Recording(tmp_path / "a.mcap")
    for from_step in (0, 29, 30, 31, 60, 90):
        assert find_first(stiction.Replay(recording, from_step=from_step)) is None


def test_difference_is_found_at_its_step_and_field(record_run):
    recording = record_run("activation")
    index = recording.layout["qvel"].start + 1  # velocity of the elbow
    value = recording.state_at(58)[index] + 1e-9
    rewrite(recording.path, change_step(58, lambda d: set_entry(d, index, value, True)))
    difference = find_first(stiction.Replay(stiction.Recording(recording.path)))
    assert (difference.step, difference.field) == (58, "qvel[1]")
    assert difference.element == "joint 'elbow'"
    assert difference.num_entries == 1
    assert difference.max_difference == pytest.approx(1e-9, rel=1e-3)
    # Later steps start from the replayed state, unless the replay starts from the altered one.
    altered = stiction.Recording(recording.path)
    assert find_first(stiction.Replay(altered, from_step=60)) is None
    assert find_first(stiction.Replay(altered, from_step=58)).step == 59


def test_a_difference_in_the_last_bit_is_found(record_run):
    recording = record_run("activation")
    index = recording.layout["qpos"].start
    value = np.nextafter(recording.state_at(100)[index], 9)
    rewrite(recording.path, change_step(100, lambda d: set_entry(d, index, value, True)))
    difference = find_first(stiction.Replay(stiction.Recording(recording.path)))
    assert (difference.step, difference.field) == (100, "qpos[0]")


def test_an_altered_state_is_found_by_its_hash(record_run):
    recording = record_run("pile")
    rewrite(recording.path, change_step(41, lambda d: set_entry(d, 5, 1.0, False)))
    difference = find_first(stiction.Replay(stiction.Recording(recording.path)))
    assert (difference.step, difference.field) == (41, "digest")
    assert "step 41 (t = 0.082 s): the recorded state was altered or damaged" in str(difference)


def test_other_options_give_a_difference(record_run):
    recording = record_run("pile")
    assert find_first(stiction.Replay(recording, tolerance=1e-2)).step > 1


def test_state_of_wrong_size_is_an_error(record_run):
    recording = record_run("pile")
    rewrite(recording.path, change_step(12, lambda d: d[:-8]))
    with pytest.raises(stiction.Error, match=r"step 12, /step: the message is damaged: the state"):
        list(stiction.Recording(recording.path))


def test_sleeping_bodies_replay_only_from_the_start(scenes, record_run):
    flag = '<mujoco><option sleep_tolerance=".01"><flag sleep="enable"/></option>'
    scenes["pile"] = scenes["pile"].replace("<mujoco>", flag)
    recording = record_run("pile", "mujoco")
    assert find_first(stiction.Replay(recording)) is None
    with pytest.raises(stiction.Error, match="does not tell which bodies sleep"):
        stiction.Replay(recording, from_step=3)


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "is empty; make recordings"), (b"hello world", "is not an MCAP file")],
)
def test_a_file_other_than_mcap_is_an_error(tmp_path, content, message):
    path = tmp_path / "a.mcap"
    path.write_bytes(content)
    with pytest.raises(stiction.Error, match=message):
        stiction.Recording(path)
    with pytest.raises(stiction.Error, match="there is no such file"):
        stiction.Recording(tmp_path / "b.mcap")
    with pytest.raises(stiction.Error, match="is not a file"):
        stiction.Recording(tmp_path)


def test_foreign_mcap_file_is_an_error(tmp_path):
    path = tmp_path / "a.mcap"
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start("ros2", "test")
        writer.finish()
    with pytest.raises(stiction.Error, match="is an MCAP file of profile 'ros2', not a recording"):
        stiction.Recording(path)


def test_newer_format_is_an_error(record_run):
    path = record_run("pile", num_steps=3).path
    rewrite(path, change_metadata(format="3", stiction_version="9.1.0"))
    with pytest.raises(
        stiction.Error, match=r"has format 3, .* reads formats up to 2; use stiction 9\.1\.0"
    ):
        stiction.Recording(path)


def test_altered_metadata_is_an_error(record_run):
    path = record_run("pile", num_steps=3).path
    data = path.read_bytes()
    path.write_bytes(data.replace(b'"max_iterations": 100', b'"max_iterations": 101'))
    with pytest.raises(stiction.Error, match="metadata was altered or damaged"):
        stiction.Recording(path)


def test_damaged_scene_is_an_error(record_run):
    path = record_run("pile", num_steps=3).path

    def change(record: McapRecord) -> McapRecord:
        if isinstance(record, Attachment):
            record.data = record.data[:-9] + bytes(9)
        return record

    rewrite(path, change)
    recording = stiction.Recording(path)
    assert len(recording.states) == 3
    with pytest.raises(stiction.Error, match="the recorded scene is damaged"):
        stiction.Replay(recording)


def test_a_scene_of_another_mujoco_is_an_error_with_both_versions(record_run, capfd):
    path = record_run("pile", num_steps=3).path
    foreign = b"not an MJB file, though it has a hash" * 9

    def change(record: McapRecord) -> McapRecord:
        if isinstance(record, Attachment) and record.name == fmt.MODEL_ATTACHMENT:
            record.data = zstandard.compress(foreign)
        texts = {"mujoco_version": "3.2.1", "model_digest": fmt.hash_bytes(foreign).hex()}
        return change_metadata(**texts)(record)

    rewrite(path, change)
    expected = rf"made with MuJoCo 3.2.1, and MuJoCo {mujoco.__version__} cannot load its scene"
    with pytest.raises(stiction.Error, match=expected):
        stiction.Replay(stiction.Recording(path))
    assert capfd.readouterr() == ("", "")  # MuJoCo's warning is part of the error


def change_options(path: Path, **values: object) -> None:
    """Sets recorded options, with valid digests."""
    options = stiction.Recording(path).options | values
    rewrite(path, change_metadata(options=json.dumps(options)))


def put_model(path: Path, model_bytes: bytes) -> None:
    """Replaces the compiled scene of a recording, with valid digests."""

    def change(record: McapRecord) -> McapRecord:
        if isinstance(record, Attachment) and record.name == fmt.MODEL_ATTACHMENT:
            record.data = zstandard.compress(model_bytes)
        return change_metadata(model_digest=fmt.hash_bytes(model_bytes).hex())(record)

    rewrite(path, change)


def replay_or_explain(path: Path) -> str:
    """Replays a recording. Returns the text of the Error, or an empty text."""
    try:
        list(stiction.Replay(stiction.Recording(path), max_seconds=1))
    except stiction.Error as e:
        return str(e)
    return ""


WRONG_VALUES = (None, True, -1, 1e300, 10**30, "/dev/zero", [1], {"a": 1}, {"materials": [1]}, [[]])


@pytest.mark.parametrize(
    "name", stiction.Simulator(mujoco.MjModel.from_xml_string("<mujoco/>")).options
)
def test_any_recorded_value_of_an_option_replays_or_is_an_error(record_run, name):
    path = record_run("pile", num_steps=2).path
    content = path.read_bytes()
    for value in WRONG_VALUES:
        path.write_bytes(content)
        change_options(path, **{name: value})
        if text := replay_or_explain(path):
            assert str(path) in text
            assert name in text


@pytest.mark.parametrize(
    "properties", ["/etc/passwd", [1], 3, {"materials": [1]}, {"materials": {"a": 3}}, {"geoms": 3}]
)
def test_recorded_properties_of_a_wrong_form_are_an_error(record_run, properties):
    path = record_run("pile", num_steps=2).path
    change_options(path, properties=properties)
    with pytest.raises(stiction.Error, match="properties") as caught:
        stiction.Replay(stiction.Recording(path))
    assert str(path) in str(caught.value)
    assert len(list(stiction.Replay(stiction.Recording(path), properties=None))) == 2


@pytest.mark.parametrize("key", ["options", "notes"])
@pytest.mark.parametrize(
    ("text", "reason"),
    [("[" * 100_000, "nested too deeply"), ('{"a":' * 100_000, "nested too deeply"), ("3", "object"),
     ("[1]", "object"), ("{", "Expecting")],
)  # fmt: skip
def test_metadata_that_is_no_object_is_an_error(record_run, key, text, reason):
    path = record_run("pile", num_steps=2).path
    rewrite(path, change_metadata(**{key: text}))
    with pytest.raises(
        stiction.Error, match=f"'{key}' cannot be read: .*{reason}.*record the run"
    ) as e:
        stiction.Recording(path)
    assert str(path) in str(e.value)


@pytest.mark.parametrize("text", ["", "-1", "1e3", "²", "9" * 5000])
def test_a_format_that_is_no_number_is_an_error(record_run, text):
    path = record_run("pile", num_steps=2).path
    rewrite(path, change_metadata(format=text))
    with pytest.raises(stiction.Error, match="not a number"):
        stiction.Recording(path)


@pytest.mark.parametrize("report", [b"3", b"[]", b"[" * 100_000])
def test_a_report_that_is_no_object_is_an_error(record_run, report):
    path = record_run("pile", num_steps=2).path

    def change(record: McapRecord) -> McapRecord:
        if isinstance(record, Message) and record.data.startswith(b"{"):
            record.data = report
        return record

    rewrite(path, change)
    with pytest.raises(stiction.Error, match="step 1, /report: the message is damaged"):
        list(stiction.Recording(path))


@pytest.mark.parametrize(
    ("schema", "reason"),
    [([["qpos", "<f8", [30]]], "does not begin with the time"),
     ([["time", "<f8", [1]]], "no controls"),
     ([["time", "<f8", [1]], ["ctrl", "<f8", [10**30]]], "larger than the accepted"),
     ([["time", "<f8", [True]], ["ctrl", "<f8", [0]]], r"shape \[True\]"),
     ([1], "damaged"), ({}, "damaged"), (None, "damaged")],
)  # fmt: skip
def test_a_wrong_schema_of_a_state_is_an_error(record_run, schema, reason):
    path = record_run("pile", num_steps=2).path

    def change(record: McapRecord) -> McapRecord:
        if isinstance(record, Schema) and record.name == "stiction.State":
            record.data = json.dumps(schema).encode()
        return record

    rewrite(path, change)
    with pytest.raises(stiction.Error, match=reason):
        stiction.Recording(path)


@pytest.mark.parametrize(
    "data", [b"[" * 100_000, b'[["a", "O", []]]', b'[["a", "<f4,(", [1]]]', b"[]"]
)
def test_a_wrong_schema_of_contacts_is_an_error(record_run, data):
    path = record_run("pile", num_steps=2).path

    def change(record: McapRecord) -> McapRecord:
        if isinstance(record, Schema) and record.name == "stiction.Contacts":
            record.data = data
        return record

    rewrite(path, change)
    with pytest.raises(stiction.Error, match="the schema of /contacts: it is damaged: ") as e:
        list(stiction.Recording(path).all_steps())
    assert str(path) in str(e.value)


def test_the_scene_of_other_states_is_an_error(record_run, scenes):
    path = record_run("pile", num_steps=2).path
    for xml in ("<mujoco/>", scenes["delays"]):
        put_model(path, fmt.save_model(mujoco.MjModel.from_xml_string(xml)))
        recording = stiction.Recording(path)
        for use in (lambda r: r.make_data(), stiction.Replay):
            with pytest.raises(
                stiction.Error, match="'qpos' has .*does not belong|does not belong.*'qpos'"
            ):
                use(recording)


def test_a_scene_with_changed_sizes_is_an_error(record_run):
    """The numbers at the beginning of a compiled scene are the sizes of its arrays."""
    path = record_run("pile", num_steps=2).path
    original = fmt.save_model(stiction.Recording(path).model)
    refused = 0
    for at in range(20, 420, 8):
        changed = bytearray(original)
        changed[at : at + 8] = (1 << 58).to_bytes(8, "little")
        put_model(path, bytes(changed))
        if text := replay_or_explain(path):
            refused += 1
            assert str(path) in text
    assert refused > 40


def test_wrong_options_of_the_caller_are_not_blamed_on_the_recording(record_run):
    recording = record_run("pile", num_steps=2)
    with pytest.raises(
        TypeError, match=r"there is no option 'toleranc' \(did you mean 'tolerance'"
    ):
        stiction.Replay(recording, toleranc=1)
    with pytest.raises(stiction.Error, match="^tolerance: "):
        stiction.Replay(recording, tolerance=-1)


def test_a_truncated_recording_replays_up_to_its_end(record_run):
    path = record_run("pile", num_steps=600).path
    whole = path.read_bytes()
    lengths = []
    for share in (0.9, 0.6, 0.3):
        path.write_bytes(whole[: int(share * len(whole))])
        recording = stiction.Recording(path)
        assert find_first(stiction.Replay(recording)) is None
        assert recording.damage.is_truncated
        assert 0 < recording.damage.offset < share * len(whole)
        lengths.append(len(recording))
    assert 600 > lengths[0] > lengths[1] > lengths[2] > 0


def test_a_damaged_chunk_is_distinguished_from_a_truncated_file(record_run):
    path = record_run("pile", num_steps=600).path
    chunk = find_chunks(path)[2]
    data = bytearray(path.read_bytes())
    data[chunk + 2000] ^= 1
    path.write_bytes(data)
    recording = stiction.Recording(path)
    assert find_first(stiction.Replay(recording)) is None
    assert 0 < len(recording) < 600
    assert not recording.damage.is_truncated
    assert recording.damage.offset == chunk
    assert str(recording.damage).startswith(f"byte {chunk}: damaged: ")


def open_and_replay(path: Path) -> stiction.Recording | str:
    """Replays a recording and returns it, or returns the text of the Error."""
    try:
        recording = stiction.Recording(path)
        difference = find_first(stiction.Replay(recording))
    except stiction.Error as e:
        return str(e)
    assert difference is None
    return recording


@pytest.mark.slow
def test_damage_in_the_index_at_the_end_is_reported(record_run):
    recording = record_run("pile", num_steps=20)
    whole = recording.path.read_bytes()
    assert recording.damage is None
    # The file ends with the footer's fields of 20 bytes and 8 magic bytes.
    (start,) = struct.unpack("<Q", whole[-28:-20])
    for offset in range(start, len(whole) - 8, 7):
        damaged = bytearray(whole)
        damaged[offset] ^= 1
        recording.path.write_bytes(damaged)
        found = open_and_replay(recording.path)
        if isinstance(found, stiction.Recording):
            assert found.damage is not None, f"byte {offset} of {start}..{len(whole)}"
            assert found.damage.offset >= start
            assert len(found) == 20


@pytest.mark.slow
def test_any_damage_gives_an_error_or_is_reported(record_run):
    """Truncates files, flips single bits and overwrites ranges at random places."""
    path = record_run("delays", num_steps=60).path
    whole = path.read_bytes()
    random = np.random.default_rng(3)
    num_harmless = 0
    for i in range(300):
        data = bytearray(whole)
        at = int(random.integers(len(data)))
        if i % 3 == 0:
            del data[at:]
        elif i % 3 == 1:
            data[at] ^= 1 << int(random.integers(8))
        else:
            data[at : at + 20] = random.bytes(int(random.integers(40)))
        path.write_bytes(data)
        recording = open_and_replay(path)
        if isinstance(recording, str):
            assert str(path) in recording
            continue
        # Harmless damage is in bytes that no step needs. Other damage is reported.
        num_harmless += recording.damage is None
        assert recording.damage is not None or len(recording) == 60
    assert num_harmless < 100


@pytest.mark.slow
@pytest.mark.parametrize("compression", ["zstd", "lz4"])
@pytest.mark.parametrize("declared", ["true", "too small", "too large"])
def test_a_chunk_that_expands_without_bound_is_damage(record_run, compression, declared):
    """The memory for reading is bounded, whatever size a chunk has or declares."""
    path = record_run("pile", num_steps=3).path
    bomb = bytes(1 << 29)
    packed = (zstandard.compress if compression == "zstd" else lz4.frame.compress)(bomb)
    size = {"true": len(bomb), "too small": 1 << 20, "too large": 1 << 62}[declared]
    del bomb
    name = compression.encode()
    body = struct.pack("<QQQI", 0, 0, size, 0) + struct.pack("<I", len(name)) + name
    body += struct.pack("<Q", len(packed)) + packed
    whole = path.read_bytes()
    end = whole.rindex(b"\x0f\x04\0\0\0\0\0\0\0")  # DataEnd
    path.write_bytes(whole[:end] + struct.pack("<BQ", 6, len(body)) + body + whole[end:])
    code = f"""
import resource, stiction
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
recording = stiction.Recording({str(path)!r})
assert len(recording) == 3 and "byte" in str(recording.damage), recording.damage
# The peak of this program alone; ru_maxrss includes that of the process that started it.
lines = open("/proc/self/status").read().splitlines()
print(next(line.split()[1] for line in lines if line.startswith("VmHWM")))
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) < 1_000_000  # KiB


def test_files_that_a_recording_names_are_not_opened(record_run, tmp_path):
    path = record_run("pile", num_steps=3).path
    secret = tmp_path / "secret.vtk"
    os.mkfifo(secret)  # opening it would wait for ever
    options = dict(stiction.Recording(path).options)
    options["properties"] = {
        "materials": {"a": {"hydroelastic_modulus": 1e5, "pressure_field": str(secret)}},
        "geoms": {"*": "a"},
    }
    rewrite(path, change_metadata(options=json.dumps(options)))
    recording = stiction.Recording(path)
    with pytest.raises(stiction.Error, match="not opened without your consent"):
        stiction.Replay(recording)
    stiction.Replay(recording, properties={"materials": {}})


@pytest.mark.parametrize("contact_model", stiction.contact_models())
def test_a_replay_from_any_step_is_bit_exact(record_run, contact_model):
    recording = record_run("pile", contact_model=contact_model, num_steps=60)
    for from_step in range(0, 60, 7):
        for replayed in stiction.Replay(recording, from_step=from_step):
            assert replayed.find_difference() is None, from_step
