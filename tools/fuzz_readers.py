"""Fuzzes the readers that are written in Python: recordings and surface meshes.

    .venv/bin/python tools/fuzz_readers.py recordings --seconds 60

Mutated files must give a result or a stiction.Error within five seconds. Any other exception, or a
longer time, ends the program with code 1, and the file is kept in the folder of --crashes. It is
also kept if the process crashes.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import mujoco
import zstandard
from mcap.records import Attachment, Channel, Header, McapRecord, Message, Metadata, Schema
from mcap.stream_reader import StreamReader
from mcap.writer import CompressionType, Writer

import stiction
from stiction._core import find_model_arrays
from stiction.meshing.surface_file import read_surface
from stiction.recording import format as fmt
from stiction.recording.pressure_fields import PREFIX
from stiction.recording.replay import find_differences

_MAX_SECONDS = 5
_WORDS = (b"nan", b"-1", b"0", b"inf", b"1e999", b"4294967296", b"{", b"]", b'"', b"null", b"\n")
_SCENE = """<mujoco><asset><mesh name="tet" vertex="0 0 0 .1 0 0 0 .1 0 0 0 .1"/></asset>
<worldbody><geom name="floor" type="plane" size="1 1 1"/>
<body pos="0 0 .1"><freejoint/><geom name="soft" type="box" size=".1 .1 .1"/></body>
<body pos="1 0 .3"><joint name="hinge" limited="true" range="-1 1"/><geom size=".1"/></body>
<body pos="2 0 .1"><joint name="slide" type="slide" axis="0 0 1"/><geom type="mesh" mesh="tet"/></body>
</worldbody>
<tendon><fixed name="both"><joint joint="hinge" coef="1"/><joint joint="slide" coef="1"/></fixed></tendon>
<equality><joint joint1="hinge" joint2="slide" active="false"/></equality>
<actuator><position joint="hinge" ctrllimited="true" ctrlrange="-1 1"/></actuator>
<sensor><jointpos joint="hinge" nsample="3" delay=".004"/><tendonpos tendon="both"/></sensor></mujoco>"""
# A tetrahedron that is divided at its center.
_FIELD = """# vtk DataFile Version 3.0
soft
ASCII
DATASET UNSTRUCTURED_GRID
POINTS 5 double
0 0 0 .1 0 0 0 .1 0 0 0 .1 .02 .02 .02
CELLS 4 20
4 0 1 2 4
4 0 3 1 4
4 0 2 3 4
4 1 3 2 4
CELL_TYPES 4
10 10 10 10
"""
# Values that replace others in a JSON text.
_VALUES = (None, True, 0, -1, 1e308, 10**30, 0.5, "", "a", "/dev/zero", [], [1], {}, {"a": 1}, [[]])
_OBJ = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1/1 2/2 4/3\nf -1 -3 -4\nf 1 4 3\n"
_STL = b"""solid s
facet normal 0 0 1
outer loop
vertex 0 0 0
vertex 1 0 0
vertex 0 1 0
endloop
endfacet
endsolid s
"""
_BINARY_STL = bytes(80) + (2).to_bytes(4, "little") + bytes(range(100))


@dataclass(frozen=True)
class Seed:
    """A valid file, and how its content is mutated and read."""

    suffix: str
    mutate: Callable[[random.Random], bytes]
    read: Callable[[Path], object]


def mutate_bytes(content: bytes, rng: random.Random) -> bytes:
    """Returns the content with one to four changes, as by a bad disk or an editor."""
    out = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(out) + 1)
        end = min(len(out), at + rng.randint(1, 12))
        match rng.randrange(6):
            case 0 if at < len(out):
                out[at] = rng.randrange(256)
            case 1:
                del out[at:end]
            case 2:
                out[at:at] = out[rng.randrange(len(out) + 1) :][:20]
            case 3:
                del out[at:]
            case 4:
                out[at:end] = rng.choice(_WORDS)
            case _:
                out[at:at] = rng.choice(_WORDS)
    return bytes(out)


# ---- recordings ----------------------------------------------------------------------------------


def make_recording(folder: Path) -> bytes:
    """Returns a recording of a few steps, with contact properties, a pressure field and anchors."""
    field = folder / "field.vtk"
    field.write_text(_FIELD)
    properties = {
        "materials": {
            "soft": {"hydroelastic_modulus": 1e5, "pressure_field": str(field)},
            "hard": {"rigid": True},
        },
        "geoms": {"soft": "soft", "floor": "hard"},
    }
    model = mujoco.MjModel.from_xml_string(_SCENE)
    data = mujoco.MjData(model)
    simulator = stiction.Simulator(model, properties=properties, friction_law="elastic")
    with stiction.Recorder(folder / "seed.mcap", simulator) as recorder:
        for _ in range(4):
            recorder.step(data)
    return (folder / "seed.mcap").read_bytes()


def mutate_json(text: str, rng: random.Random) -> str:
    """Returns a JSON text with another value at a random place, or with very many brackets."""
    if rng.random() < 0.05:
        return rng.choice(("[", '{"a":')) * 100_000
    value = json.loads(text)
    parent, key = None, None
    at: Any = value
    while isinstance(at, dict | list) and at and (parent is None or rng.random() < 0.7):
        parent, key = at, rng.choice(list(at) if isinstance(at, dict) else range(len(at)))
        at = parent[key]
    new = rng.choice(_VALUES)
    if parent is None or rng.random() < 0.05:
        return json.dumps(new)
    if isinstance(parent, dict) and rng.random() < 0.2:
        key = rng.choice(("model", "self", "properties", "materials", "normal_law", "x"))
    parent[key] = new
    return json.dumps(value)


def mutate_model(packed: bytes, rng: random.Random) -> bytes:
    """Returns the compiled model of another scene, or with other numbers, compressed again.

    The numbers at the beginning are the sizes of its arrays.
    """
    if rng.random() < 0.1:
        other = mujoco.MjModel.from_xml_string(
            rng.choice(("<mujoco/>", _SCENE.replace("1 0 .3", "0 0 0")))
        )
        return zstandard.compress(fmt.save_model(other))
    content = zstandard.decompress(packed)
    if rng.random() < 0.5:
        return zstandard.compress(change_index(content, rng))
    out = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(min(len(out), rng.choice((100, 900, 2000, len(out)))))
        out[at] = rng.choice((0, 1, 127, 255, rng.randrange(256)))
    return zstandard.compress(bytes(out))


def change_index(content: bytes, rng: random.Random) -> bytes:
    """Returns a model in MuJoCo's binary format with another value in an array of integers.

    Random bytes are seldom an index that leads far away, or to another element.
    """
    arrays = [place for place in find_model_arrays(content).values() if isinstance(place, tuple)]
    begin, number = rng.choice([place for place in arrays if place[1]])
    begin += 4 * rng.randrange(number)
    old = int.from_bytes(content[begin : begin + 4], "little", signed=True)
    near = [x for x in (old - 1, old + 1, 0, -1, -2, 7, 1000) if x != old]
    new = rng.choice([*near, 2**20, 2**31 - 1, -(2**31)])
    return content[:begin] + new.to_bytes(4, "little", signed=True) + content[begin + 4 :]


def rewrite_records(content: bytes, rng: random.Random) -> bytes:
    """Returns the recording with some mutated records, valid checksums and valid digests.

    Mutations of the file itself seldom pass its checksums. Digests that are renewed let mutations reach
    the code behind them; sometimes they are not, because that is damage, too.
    """
    rate = rng.choice((0.02, 0.1, 0.5))
    renews = rng.random() < 0.8

    def is_chosen() -> bool:
        return rng.random() < rate

    def change(data: bytes) -> bytes:
        return mutate_bytes(data, rng) if is_chosen() else data

    def change_text(text: str) -> str:
        return change(text.encode()).decode(errors="replace")

    def change_entry(key: str, text: str) -> str:
        if key in ("options", "notes") and is_chosen():
            return mutate_json(text, rng)
        return change_text(text)

    def change_attachment(name: str, data: bytes) -> bytes:
        if name == fmt.MODEL_ATTACHMENT and is_chosen():
            return mutate_model(data, rng)
        if name.startswith(PREFIX) and is_chosen():
            return zstandard.compress(mutate_bytes(zstandard.decompress(data), rng))
        return change(data)

    def change_message(topic: str, data: bytes) -> bytes:
        if topic == fmt.REPORT and is_chosen():
            return mutate_json(data.decode(), rng).encode()
        if topic == fmt.STEP and is_chosen() and renews:
            state = change(data[fmt.DIGEST_SIZE :])
            return fmt.hash_bytes(state) + state
        return change(data)

    records = list(StreamReader(io.BytesIO(content), record_size_limit=len(content)).records)
    attachments = {
        id(record): change_attachment(record.name, record.data)
        for record in records
        if isinstance(record, Attachment)
    }
    out = io.BytesIO()
    writer = Writer(out, compression=CompressionType.NONE)
    topics: dict[int, str] = {}
    for record in records:
        match record:
            case Header(profile=profile, library=library):
                writer.start(change_text(profile), library)
            case Metadata(name=name, metadata=metadata):
                texts = {key: change_entry(key, text) for key, text in metadata.items()}
                if renews and name == fmt.METADATA:
                    texts |= _renew_digests(texts, records, attachments)
                writer.add_metadata(name, texts)
            case Attachment(name=name, media_type=media):
                writer.add_attachment(0, 0, change_text(name), media, attachments[id(record)])
            case Schema(name=name, encoding=encoding, data=data):
                changed = mutate_json(data.decode(), rng).encode() if is_chosen() else change(data)
                writer.register_schema(change_text(name), encoding, changed)
            case Channel(id=number, topic=topic, message_encoding=encoding, schema_id=schema):
                topics[number] = topic
                writer.register_channel(change_text(topic), encoding, schema)
            case Message(channel_id=channel, log_time=log, publish_time=publish, data=data):
                if rng.random() > 0.1 * rate:
                    writer.add_message(channel, log, change_message(topics[channel], data), publish)
    writer.finish()
    return out.getvalue()


def _renew_digests(
    texts: dict[str, str], records: list[McapRecord], attachments: dict[int, bytes]
) -> dict[str, str]:
    """Returns the entries of the metadata that are digests, for the changed content."""
    renewed = dict(texts)
    for record in records:
        if isinstance(record, Attachment) and record.name == fmt.MODEL_ATTACHMENT:
            try:
                model = zstandard.decompress(attachments[id(record)], max_output_size=1 << 24)
            except (zstandard.ZstdError, MemoryError):
                continue  # the reader refuses it before it computes a digest
            renewed["model_digest"] = fmt.hash_bytes(model).hex()
    return {**renewed, "digest": fmt.hash_texts(renewed)}


def read_recording(path: Path) -> None:
    """Reads everything in a recording, and replays it."""
    recording = stiction.Recording(path)
    for step in recording.all_steps():
        _ = (step.time, step.is_intact, step.contacts, step.patches, step.anchors, step.report)
    _ = (len(recording), recording.damage, recording.failures, recording.states)
    _ = (recording.times, recording.controls, recording.digests)
    _ = find_differences(recording.metadata)
    if recording.options.get("friction_law") == "elastic":
        recording.list_anchors()
    recording.make_data(0)
    for replayed in stiction.Replay(recording):
        _ = str(replayed.find_difference())


# ---- the loop ------------------------------------------------------------------------------------


def make_seeds(target: str, folder: Path) -> list[Seed]:
    """Returns the seeds of a target."""

    def seed(suffix: str, content: bytes, read: Callable[[Path], object]) -> Seed:
        return Seed(suffix, lambda rng: mutate_bytes(content, rng), read)

    if target == "surface_files":
        return [
            seed(suffix, content, read_surface)
            for suffix, content in ((".obj", _OBJ), (".stl", _STL), (".stl", _BINARY_STL))
        ]
    content = make_recording(folder)
    return [
        seed(".mcap", content, read_recording),
        Seed(".mcap", lambda rng: rewrite_records(content, rng), read_recording),
    ]


@contextmanager
def limit_time(seconds: float) -> Iterator[None]:
    """Raises TimeoutError in the block after the time [s]."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"took more than {seconds} s")

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def fuzz(target: str, seconds: float, crashes: Path, start_seed: int) -> int:
    """Reads mutated files. Returns the exit code."""
    num_read = num_refused = 0
    crashes.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        seeds = make_seeds(target, Path(folder))
        number = start_seed
        while time.monotonic() < end:
            rng = random.Random(number)
            seed = rng.choice(seeds)
            content = seed.mutate(rng)
            path = crashes / f"{target}-{number}{seed.suffix}"
            path.write_bytes(content)
            try:
                with limit_time(_MAX_SECONDS):
                    seed.read(path)
                num_read += 1
            except stiction.Error:
                num_refused += 1
            except Exception:  # noqa: BLE001 — a fuzzer reports every kind
                traceback.print_exc()
                print(f"{target}: input {number} failed; it is kept in {path}")
                return 1
            path.unlink()
            number += 1
    print(f"{target}: {num_read} files were read, {num_refused} refused, none failed")
    return 0


def main() -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("target", choices=["recordings", "surface_files"])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--crashes", type=Path, default=Path("build/fuzz/crashes"))
    parser.add_argument("--seed", type=int, default=0, help="number of the first input")
    arguments = parser.parse_args()
    return fuzz(arguments.target, arguments.seconds, arguments.crashes, arguments.seed)


if __name__ == "__main__":
    sys.exit(main())
