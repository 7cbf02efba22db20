"""Writes the records of a recording into an MCAP file."""

from __future__ import annotations

import contextlib
import json
import math
import os
import platform
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO
from weakref import WeakValueDictionary

import mujoco
import numpy as np
import zstandard
from mcap.writer import Writer

from stiction._core import StepReport
from stiction.binding.interrupts import DeferredInterrupt
from stiction.errors import Error
from stiction.recording import format as fmt
from stiction.recording.reader import is_mcap_file
from stiction.recording.records import ADVANCE_DTYPE, pack_contacts, pack_patches
from stiction.tables.contact_table import ANCHOR_TABLE
from stiction.tables.record_table import Rows
from stiction.version import __version__

if TYPE_CHECKING:
    from stiction.recording.foxglove import FoxgloveChannels

# Size of a chunk [bytes]. A process that is killed loses the steps of its last chunk.
_CHUNK_SIZE = 64 * 1024


class RecordingWriter:
    """A recording that is being written. Every method may raise Error.

    Ctrl-C does not interrupt the writing of a record. An older MCAP file at the path is overwritten, but
    no other file, and none that another RecordingWriter of this process writes. `files` are packed
    files of pressure fields by the names of their attachments.
    """

    def __init__(
        self,
        path: Path,
        model_bytes: bytes,
        layout: fmt.Layout,
        metadata: dict[str, str],
        scene: Path | None,
        files: dict[str, bytes],
        has_anchors: bool,
    ) -> None:
        self._path = path
        self._channels: dict[str, int] = {}
        other = _writers.get(path.resolve())
        if other and other.is_open:
            raise Error(
                "invalid_value",
                str(path),
                "is written by another Recorder; close that one first, or give another name",
            )
        self._file = open_file(path)
        self._writer: Writer | None = Writer(self._file, chunk_size=_CHUNK_SIZE)
        _writers[path.resolve()] = self

        def write_head(writer: Writer) -> None:
            writer.start(fmt.PROFILE, f"stiction {__version__}")
            texts = {
                "format": str(fmt.FORMAT),
                **describe_environment(),
                "model_digest": fmt.hash_bytes(model_bytes).hex(),
                **metadata,
            }
            texts["digest"] = fmt.hash_texts(texts)
            writer.add_metadata(fmt.METADATA, texts)
            packed = zstandard.compress(model_bytes)
            writer.add_attachment(0, 0, fmt.MODEL_ATTACHMENT, "application/zstd", packed)
            for name, packed in files.items():
                writer.add_attachment(0, 0, name, "application/zstd", packed)
            for name, text in _read_scene_files(scene) if scene else []:
                writer.add_attachment(0, 0, name, "text/xml", text)
            self._add_channels(writer, layout, has_anchors)

        self._write(write_head)

    @property
    def is_open(self) -> bool:
        """True until the file is closed or writing fails."""
        return self._writer is not None

    def write_start(self, time_ns: int, index: int, state: fmt.Vector) -> None:
        """Writes the state that the next step starts from, if it is not that of the last step."""
        self._write(lambda writer: self._add(writer, fmt.START, time_ns, index, state.tobytes()))

    def write_memory(self, time_ns: int, index: int, memory: bytes) -> None:
        """Writes what the simulator remembers before the next step."""
        self._write(lambda writer: self._add(writer, fmt.MEMORY, time_ns, index, memory))

    def write_advance(self, time_ns: int, index: int, record: bytes) -> None:
        """Writes that the next step is a call of Simulator.advance; see pack_advance."""
        self._write(lambda writer: self._add(writer, fmt.ADVANCE, time_ns, index, record))

    def write_anchors(self, time_ns: int, index: int, rows: Rows) -> None:
        """Writes the anchors at the end of the next step, as rows of ANCHOR_TABLE."""
        if len(rows):
            data = rows.astype(fmt.ANCHOR_DTYPE).tobytes()
            self._write(lambda writer: self._add(writer, fmt.ANCHORS, time_ns, index, data))

    def write_step(self, time_ns: int, index: int, state: fmt.Vector, report: StepReport) -> None:
        """Writes a completed step and the state after it."""
        data = state.tobytes()
        self._write_report(fmt.STEP, time_ns, index, fmt.hash_bytes(data) + data, report)

    def write_failed_step(
        self, time_ns: int, index: int, state: fmt.Vector, report: StepReport
    ) -> None:
        """Writes a failed step, with the state and inputs that it started from."""
        self._write_report(fmt.FAILED_STEP, time_ns, index, state.tobytes(), report)

    def write_foxglove(
        self, channels: FoxgloveChannels, time_ns: int, data: mujoco.MjData, report: StepReport
    ) -> None:
        """Writes the poses and contacts of a step for other programs."""
        from stiction.recording.foxglove_scene import join_report

        rows, mesh = report.table(), join_report(report.patches)
        self._write(lambda writer: channels.write(writer, time_ns, data, rows, mesh))

    def close(self, end: dict[str, str]) -> None:
        """Completes the file with texts that are known only at the end, by name."""

        def write_tail(writer: Writer) -> None:
            writer.add_metadata(fmt.END_METADATA, end)
            writer.finish()  # type: ignore[no-untyped-call]
            self._file.close()

        self._write(write_tail)
        self._writer = None

    def _write(self, action: Callable[[Writer], None]) -> None:
        if self._writer is None:
            raise Error("invalid_value", str(self._path), "the recording is closed")
        try:
            with DeferredInterrupt():
                action(self._writer)
        except OSError as e:
            self._writer = None
            with contextlib.suppress(OSError):
                self._file.close()
            raise _write_error(self._path, e) from e

    def _add_channels(self, writer: Writer, layout: fmt.Layout, has_anchors: bool) -> None:
        states = fmt.state_schema(layout, with_digest=False)
        steps = fmt.state_schema(layout, with_digest=True)
        anchor_units = {name: unit for name, _, _, unit, _ in ANCHOR_TABLE.fields if unit}
        channels = [
            (fmt.START, "stiction.State", states),
            (fmt.STEP, "stiction.Step", steps),
            (fmt.FAILED_STEP, "stiction.State", states),
            (fmt.CONTACTS, "stiction.Contacts", fmt.record_schema(fmt.CONTACT_DTYPE)),
            (fmt.PATCHES, "stiction.Patches", fmt.record_schema(fmt.PATCH_DTYPE)),
            (fmt.FACES, "stiction.PatchFaces", fmt.record_schema(fmt.FACE_DTYPE)),
            (fmt.VERTICES, "stiction.PatchVertices", fmt.record_schema(fmt.VERTEX_DTYPE)),
            (fmt.ADVANCE, "stiction.Advance", fmt.record_schema(ADVANCE_DTYPE)),
            (fmt.MEMORY, "stiction.Memory", fmt.record_schema(np.dtype([("word", "<u8")]))),
            (fmt.REPORT, "stiction.Report", fmt.report_schema()),
        ]
        if has_anchors:
            channels.append((fmt.ANCHORS, "stiction.Anchors", fmt.record_schema(fmt.ANCHOR_DTYPE)))
        for topic, name, schema in channels:
            is_json = topic == fmt.REPORT
            schema_id = writer.register_schema(
                name, "jsonschema" if is_json else fmt.SCHEMA_ENCODING, schema
            )
            self._channels[topic] = writer.register_channel(
                topic,
                "json" if is_json else fmt.MESSAGE_ENCODING,
                schema_id,
                anchor_units if topic == fmt.ANCHORS else {},
            )

    def _add(self, writer: Writer, topic: str, time_ns: int, sequence: int, data: bytes) -> None:
        sequence &= 0xFFFFFFFF
        writer.add_message(self._channels[topic], time_ns, data, time_ns, sequence)

    def _write_report(
        self, topic: str, time_ns: int, index: int, data: bytes, report: StepReport
    ) -> None:
        """Writes contacts, patches and report of a step. A reader that finds the state has them all."""

        def write(writer: Writer) -> None:
            if len(report.contacts) > 0:
                contacts = pack_contacts(report.contacts)
                self._add(writer, fmt.CONTACTS, time_ns, index, contacts)
            if len(report.patches) > 0:
                for topic_of_patches, records in pack_patches(report.patches).items():
                    self._add(writer, topic_of_patches, time_ns, index, records)
            text = json.dumps(_summarize(index, report), allow_nan=False)
            self._add(writer, fmt.REPORT, time_ns, index, text.encode())
            self._add(writer, topic, time_ns, index, data)

        self._write(write)


_writers: WeakValueDictionary[Path, RecordingWriter] = (
    WeakValueDictionary()
)  # the last of each path


def open_file(path: Path) -> BinaryIO:
    """Opens a file for writing. Error: it cannot be written, or exists and is no recording."""
    try:
        if not (path.is_file() and path.stat().st_size and not is_mcap_file(path)):
            return path.open("wb")
    except OSError as e:
        raise _write_error(path, e) from e
    raise Error("invalid_value", str(path), "exists and is not a recording; give another name")


def _write_error(path: Path, error: OSError) -> Error:
    return Error("invalid_value", str(path), f"cannot be written: {error.strerror or error}")


def describe_environment() -> dict[str, str]:
    """Returns the versions and the platform by name."""
    return {
        "stiction_version": __version__,
        "mujoco_version": mujoco.__version__,
        "architecture": platform.machine(),
        "system": platform.system(),
        "libc": " ".join(platform.libc_ver()).strip(),
    }


def _read_scene_files(scene: Path) -> list[tuple[str, bytes]]:
    """Returns the scene's file and the XML files that it includes, with paths relative to its folder."""
    try:
        paths = [scene, *map(Path, mujoco.mju_getXMLDependencies(str(scene)))]
    except (ValueError, mujoco.FatalError):  # not an MJCF
        paths = [scene]
    files: dict[str, bytes] = {}
    for path in paths:
        if path.suffix.lower() in (".xml", ".urdf", ".mjcf") and path.is_file():
            files[os.path.relpath(path, scene.parent)] = path.read_bytes()
    return list(files.items())


def _summarize(index: int, report: StepReport) -> dict[str, Any]:
    """Returns the numbers of a report, fit for JSON, without wall times, which differ by run."""
    numbers = {
        "time": report.time,
        "error_bound": report.certificate.error_bound,
        "velocity_bound": report.certificate.velocity_bound,
        "relative_residual": report.certificate.relative_residual,
        "coupling_error": report.certificate.coupling_error,
        "momentum_error": report.momentum_error,
    }
    return {
        "step": index,
        "status": report.status,
        "message": report.message,
        "num_contacts": report.statistics.num_contacts,
        "iterations": report.statistics.iterations,
        "num_parts": report.statistics.num_parts,
        **{name: x if math.isfinite(x) else None for name, x in numbers.items()},
    }
