"""The steps of a recording, assembled from its messages."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from mcap.records import Channel, Message, Schema
from numpy.typing import NDArray

from stiction._core import StepReport
from stiction.errors import Error
from stiction.recording import format as fmt
from stiction.recording.patches import (
    PATCH_DTYPES,
    RecordedPatch,
    mark_patches,
    unpack_anchors,
    unpack_contacts,
    unpack_patches,
)
from stiction.recording.reader import RecordReader


@dataclass
class Step:
    """A step of a recording.

    Attributes:
        index: index of the step, from 1; a failed step has the index of the next completed step.
        state: components of mjSTATE_INTEGRATION after the step, or before it if the step failed,
            with the inputs of the step.
        start: the state before the step if it was set by hand; None if it is the state after the
            previous step.
        memory: Simulator.get_state() before the step; empty if the simulator remembers nothing.
        completed: False if the step failed; report['status'] has the reason.
        digest: recorded BLAKE2b hash of the state; empty for a failed step.
        report: the numbers of the StepReport, by name.
        contacts: records of format.CONTACT_DTYPE, whose fields have the names of ContactReport.
        patches: patches of pressure-field contact.
        anchors: records of format.ANCHOR_DTYPE at the end of the step, whose fields have the names of
            Simulator.list_anchors; empty unless the friction law is 'elastic'.
        advance: the record of a call of Simulator.advance by the names of its fields, see
            recording.advance; None for an ordinary step.
    """

    index: int
    state: fmt.Vector
    start: fmt.Vector | None
    memory: bytes
    completed: bool
    digest: bytes
    report: dict[str, Any]
    contacts: NDArray[np.void]
    patches: list[RecordedPatch]
    anchors: NDArray[np.void]
    advance: dict[str, Any] | None = None

    @property
    def time(self) -> float:
        """The time of the state [s]."""
        return float(self.state[0])

    @property
    def is_intact(self) -> bool:
        """True if the state has the recorded hash, or if the step failed."""
        return not self.completed or fmt.hash_bytes(self.state.tobytes()) == self.digest


@dataclass
class _Parts:
    """The messages of a step that precede its state."""

    start: fmt.Vector | None = None
    memory: bytes = b""
    advance: dict[str, Any] | None = None
    report: dict[str, Any] = field(default_factory=dict)
    contacts: NDArray[np.void] = field(default_factory=lambda: np.zeros(0, fmt.CONTACT_DTYPE))
    anchors: NDArray[np.void] = field(default_factory=lambda: np.zeros(0, fmt.ANCHOR_DTYPE))
    is_marked: bool = True  # False if the contacts of patches are not marked, as in format 1
    patches: dict[str, NDArray[np.void]] = field(default_factory=dict)


def read_steps(reader: RecordReader, layout: fmt.Layout) -> Iterator[Step]:
    """Yields all steps in order, as far as the file can be read.

    reader.damage is set if reading stopped before the end of the file.

    Raises:
        Error: a message does not match the schema of its channel; the error names the step.
    """
    topics: dict[int, str] = {}
    schemas: dict[int, Schema] = {}
    dtypes = {fmt.CONTACTS: fmt.CONTACT_DTYPE, fmt.ANCHORS: fmt.ANCHOR_DTYPE}
    parts = _Parts()
    num_steps = 0
    for record in reader.records():
        if isinstance(record, Schema):
            schemas[record.id] = record
        if isinstance(record, Channel):
            topics[record.id] = record.topic
            if record.topic in dtypes and record.schema_id in schemas:
                schema = schemas[record.schema_id]
                dtypes[record.topic] = _parse_dtype(reader, record.topic, schema)
        if not isinstance(record, Message):
            continue
        topic = topics.get(record.channel_id, "")
        try:
            if topic == fmt.CONTACTS:
                parts.contacts = unpack_contacts(record.data, dtypes[topic])
                parts.is_marked = dtypes[topic] == fmt.CONTACT_DTYPE
                continue
            if topic == fmt.ANCHORS:
                parts.anchors = unpack_anchors(record.data, dtypes[topic])
                continue
            step = _take_message(topic, record.data, layout, num_steps + 1, parts)
        except ValueError as e:
            where = f"{reader.path}: step {num_steps + 1}, {topic}"
            raise Error("syntax", where, f"the message is damaged: {e}") from e
        if step is not None:
            parts = _Parts()
            num_steps += step.completed
            yield step


def _take_message(
    topic: str, data: bytes, layout: fmt.Layout, index: int, parts: _Parts
) -> Step | None:
    """Stores a message in `parts`. The state is a step's last message, and completes the step."""
    if topic == fmt.START:
        parts.start = _parse_state(data, layout)
    elif topic == fmt.MEMORY:
        parts.memory = data
    elif topic == fmt.ADVANCE:
        parts.advance = unpack_advance(data)
    elif topic == fmt.REPORT:
        parts.report = fmt.parse_object(data)
    elif topic in PATCH_DTYPES:
        parts.patches[topic] = np.frombuffer(data, PATCH_DTYPES[topic])
    elif topic in (fmt.STEP, fmt.FAILED_STEP):
        completed = topic == fmt.STEP
        digest = data[: fmt.DIGEST_SIZE] if completed else b""
        state = _parse_state(data[len(digest) :], layout)
        patches = unpack_patches(parts.patches)
        return Step(
            index=index,
            state=state,
            start=parts.start,
            memory=parts.memory,
            completed=completed,
            digest=digest,
            report=parts.report,
            contacts=parts.contacts if parts.is_marked else mark_patches(parts.contacts, patches),
            patches=patches,
            anchors=parts.anchors,
            advance=parts.advance,
        )
    return None


def _parse_state(data: bytes, layout: fmt.Layout) -> fmt.Vector:
    size = fmt.state_size(layout)
    if len(data) != 8 * size:
        raise ValueError(f"the state has {len(data)} bytes, expected {8 * size}")
    return np.frombuffer(data, np.float64)


def _parse_dtype(reader: RecordReader, topic: str, schema: Schema) -> np.dtype[np.void]:
    try:
        return fmt.parse_record_schema(schema.data)
    except ValueError as e:
        where = f"{reader.path}: the schema of {topic}"
        raise Error("syntax", where, f"it is damaged: {e}") from e


# ---- The record of a call of Simulator.advance, by which a replay repeats it ---------------------

# The arguments of the call, and what the report says of it. A `max_time_step` of infinity is None.
ADVANCE_DTYPE = np.dtype(
    [
        ("until", "<f8"),
        ("accuracy", "<f8"),
        ("max_time_step", "<f8"),
        ("first_step", "<f8"),
        ("first_error", "<f8"),
        ("duration", "<f8"),
        ("smallest_step", "<f8"),
        ("largest_step", "<f8"),
        ("next_step", "<f8"),
        ("last_error", "<f8"),
        ("sum_of_errors", "<f8"),
        ("largest_error", "<f8"),
        ("num_steps", "<i4"),
        ("num_rejected", "<i4"),
        ("num_failed", "<i4"),
        ("num_not_extrapolated", "<i4"),
        ("num_inaccurate", "<i4"),
        ("extrapolate", "u1"),
    ]
)


def pack_advance(report: StepReport, max_time_step: float | None, extrapolate: bool) -> bytes:
    """Returns the record of a call that gave a report."""
    record = np.zeros(1, ADVANCE_DTYPE)
    for name in ADVANCE_DTYPE.names or ():
        if hasattr(report.advance, name):
            record[name] = getattr(report.advance, name)
    record["max_time_step"] = math.inf if max_time_step is None else max_time_step
    record["extrapolate"] = extrapolate
    record["duration"] = report.time_step if report.num_steps else 0.0
    return record.tobytes()


def unpack_advance(data: bytes) -> dict[str, Any]:
    """Returns the fields of a record by name.

    Raises:
        ValueError: the data is not one record.
    """
    if len(data) != ADVANCE_DTYPE.itemsize:
        raise ValueError(f"the record has {len(data)} bytes, expected {ADVANCE_DTYPE.itemsize}")
    record = np.frombuffer(data, ADVANCE_DTYPE)[0]
    return {name: record[name].item() for name in ADVANCE_DTYPE.names or ()}


def make_arguments(record: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments of Simulator.advance, besides data, that repeat a recorded call."""
    longest = record["max_time_step"]
    return {
        "until": record["until"],
        "accuracy": record["accuracy"],
        "max_time_step": longest if math.isfinite(longest) else None,
        "first_step": record["first_step"],
        "last_error": record["first_error"],
        "extrapolate": bool(record["extrapolate"]),
    }
