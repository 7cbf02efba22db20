"""Fuzzes the readers that are written in Python: recordings and surface meshes.

    .venv/bin/python tools/fuzz_readers.py recordings --seconds 60

Mutated files must give a result or a stiction.Error within five seconds. Any other exception, or a
longer time, ends the program with code 1, and the file is kept in the folder of --crashes.
"""

from __future__ import annotations

import argparse
import io
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

import mujoco
from mcap.records import Attachment, Channel, Header, Message, Metadata, Schema
from mcap.stream_reader import StreamReader
from mcap.writer import CompressionType, Writer

import stiction
from stiction.meshing.surface_file import read_surface

_MAX_SECONDS = 5
_WORDS = (b"nan", b"-1", b"0", b"inf", b"1e999", b"4294967296", b"{", b"]", b'"', b"null", b"\n")
_SCENE = """<mujoco><worldbody><geom type="plane" size="1 1 1"/>
<body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1"/></body></worldbody></mujoco>"""
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
    """Returns a recording of a few steps."""
    model = mujoco.MjModel.from_xml_string(_SCENE)
    data = mujoco.MjData(model)
    with stiction.Recorder(folder / "seed.mcap", stiction.Simulator(model)) as recorder:
        for _ in range(4):
            recorder.step(data)
    return (folder / "seed.mcap").read_bytes()


def rewrite_records(content: bytes, rng: random.Random) -> bytes:
    """Returns the recording with some mutated records and valid checksums.

    Mutations of the file itself seldom pass its checksums.
    """
    rate = rng.choice((0.02, 0.1, 0.5))

    def change(data: bytes) -> bytes:
        return mutate_bytes(data, rng) if rng.random() < rate else data

    def change_text(text: str) -> str:
        return change(text.encode()).decode(errors="replace")

    out = io.BytesIO()
    writer = Writer(out, compression=CompressionType.NONE)
    for record in StreamReader(io.BytesIO(content), record_size_limit=len(content)).records:
        match record:
            case Header(profile=profile, library=library):
                writer.start(change_text(profile), library)
            case Metadata(name=name, metadata=metadata):
                writer.add_metadata(
                    name, {key: change_text(text) for key, text in metadata.items()}
                )
            case Attachment(name=name, media_type=media, data=data):
                writer.add_attachment(0, 0, change_text(name), media, change(data))
            case Schema(name=name, encoding=encoding, data=data):
                writer.register_schema(change_text(name), encoding, change(data))
            case Channel(topic=topic, message_encoding=encoding, schema_id=schema):
                writer.register_channel(change_text(topic), encoding, schema)
            case Message(channel_id=channel, log_time=log, publish_time=publish, data=data):
                if rng.random() > 0.1 * rate:
                    writer.add_message(channel, log, change(data), publish)
    writer.finish()
    return out.getvalue()


def read_recording(path: Path) -> None:
    """Reads everything in a recording, and makes its simulator."""
    recording = stiction.Recording(path)
    for step in recording.all_steps():
        _ = (step.time, step.is_intact, step.contacts, step.patches, step.report)
    _ = (len(recording), recording.damage, recording.failures, recording.states)
    _ = (recording.times, recording.controls, recording.digests)
    recording.make_data(0)
    recording.make_simulator()


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
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        seeds = make_seeds(target, Path(folder))
        number = start_seed
        while time.monotonic() < end:
            rng = random.Random(number)
            seed = rng.choice(seeds)
            content = seed.mutate(rng)
            path = Path(folder) / f"input{seed.suffix}"
            path.write_bytes(content)
            try:
                with limit_time(_MAX_SECONDS):
                    seed.read(path)
                num_read += 1
            except stiction.Error:
                num_refused += 1
            except Exception:  # noqa: BLE001 — a fuzzer reports every kind
                traceback.print_exc()
                crashes.mkdir(parents=True, exist_ok=True)
                kept = crashes / f"{target}-{number}{seed.suffix}"
                kept.write_bytes(content)
                print(f"{target}: input {number} failed; it is kept in {kept}")
                return 1
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
