"""The steps of a recording, assembled from its messages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from mcap.records import Channel, Message, Schema
from numpy.typing import NDArray

from stiction.errors import Error
from stiction.recording import format as fmt
from stiction.recording.reader import RecordReader
from stiction.recording.records import (
    RecordedPatch,
    Records,
    mark_patches,
    unpack_advance,
    unpack_patches,
    unpack_records,
)
from stiction.tables.contact_table import FACE_FIELDS, calc_couple, tabulate_faces, tabulate_points
from stiction.tables.record_table import Rows


@dataclass
class Step:
    """A step of a recording.

    Attributes:
        index: index of the step, from 1; a failed step has the index of the next completed step.
        state: components of mjSTATE_INTEGRATION after the step, or before it if the step failed,
            with the inputs of the step.
        start: the state before the step if it or the simulator's memory was set by hand; None if both
            are those after the previous step.
        memory: Simulator.get_state() before the step; empty if the simulator remembers nothing.
        completed: False if the step failed; report['status'] has the reason.
        digest: recorded BLAKE2b hash of the state; empty for a failed step.
        report: the numbers of the StepReport, by name.
        contacts: records of format.CONTACT_DTYPE, whose fields have the names of ContactReport.
        patches: patches of pressure-field contact.
        anchors: records of format.ANCHOR_DTYPE at the end of the step, whose fields have the names of
            Simulator.list_anchors; empty unless the friction law is 'elastic'.
        advance: the record of a call of Simulator.advance by the names of its fields, see
            recording.records; None for an ordinary step.
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
    records: dict[str, Records] = field(default_factory=dict)  # by topic
    is_marked: bool = True  # False if the contacts of patches are not marked, as in format 1

    def make_step(self, index: int, state: fmt.Vector, digest: bytes) -> Step:
        records = self.records
        contacts = records.pop(fmt.CONTACTS, np.zeros(0, fmt.CONTACT_DTYPE))
        anchors = records.pop(fmt.ANCHORS, np.zeros(0, fmt.ANCHOR_DTYPE))
        patches = unpack_patches(records)
        return Step(
            index=index,
            state=state,
            start=self.start,
            memory=self.memory,
            completed=bool(digest),
            digest=digest,
            report=self.report,
            contacts=contacts if self.is_marked else mark_patches(contacts, patches),
            patches=patches,
            anchors=anchors,
            advance=self.advance,
        )


class _StepReader:
    """Assembles the steps of a recording from its records."""

    def __init__(self, reader: RecordReader, layout: fmt.Layout) -> None:
        self._reader = reader
        self._layout = layout
        self._topics: dict[int, str] = {}
        self._schemas: dict[int, Schema] = {}
        self._dtypes = dict(fmt.RECORD_DTYPES)  # those of the file
        self._parts = _Parts()
        self._num_steps = 0

    def read(self) -> Iterator[Step]:
        for record in self._reader.records():
            if isinstance(record, Schema):
                self._schemas[record.id] = record
            elif isinstance(record, Channel):
                self._add_channel(record)
            elif isinstance(record, Message):
                topic = self._topics.get(record.channel_id, "")
                try:
                    step = self._take_message(topic, record.data)
                except ValueError as e:
                    where = f"{self._reader.path}: step {self._num_steps + 1}, {topic}"
                    raise Error("syntax", where, f"the message is damaged: {e}") from e
                if step is not None:
                    self._parts = _Parts()
                    self._num_steps += step.completed
                    yield step

    def _add_channel(self, channel: Channel) -> None:
        self._topics[channel.id] = channel.topic
        if channel.topic in self._dtypes and channel.schema_id in self._schemas:
            schema = self._schemas[channel.schema_id]
            try:
                self._dtypes[channel.topic] = fmt.parse_record_schema(schema.data)
            except ValueError as e:
                where = f"{self._reader.path}: the schema of {channel.topic}"
                raise Error("syntax", where, f"it is damaged: {e}") from e

    def _take_message(self, topic: str, data: bytes) -> Step | None:
        """Stores a message. The state is a step's last message, and completes the step."""
        parts = self._parts
        if topic == fmt.START:
            parts.start = _parse_state(data, self._layout)
        elif topic == fmt.MEMORY:
            parts.memory = data
        elif topic == fmt.ADVANCE:
            parts.advance = unpack_advance(data)
        elif topic == fmt.REPORT:
            parts.report = fmt.parse_object(data)
        elif topic in self._dtypes:
            recorded = self._dtypes[topic]
            parts.records[topic] = unpack_records(data, recorded, fmt.RECORD_DTYPES[topic])
            parts.is_marked &= topic != fmt.CONTACTS or "patch" in (recorded.names or ())
        elif topic in (fmt.STEP, fmt.FAILED_STEP):
            digest = data[: fmt.DIGEST_SIZE] if topic == fmt.STEP else b""
            state = _parse_state(data[len(digest) :], self._layout)
            return parts.make_step(self._num_steps + 1, state, digest)
        return None


def read_steps(reader: RecordReader, layout: fmt.Layout) -> Iterator[Step]:
    """Yields all steps in order, as far as the file can be read; then reader.damage says where it ends.

    Error, for a message that does not match the schema of its channel, names the step.
    """
    return _StepReader(reader, layout).read()


def _parse_state(data: bytes, layout: fmt.Layout) -> fmt.Vector:
    size = fmt.state_size(layout)
    if len(data) != 8 * size:
        raise ValueError(f"the state has {len(data)} bytes, expected {8 * size}")
    return np.frombuffer(data, np.float64)


def tabulate_step(step: Step, geom_bodies: NDArray[np.int32], time_step: float) -> Rows:
    """Returns a step's contacts as rows of contact_table.DTYPE; a call of advance has its own length."""
    contacts, patches = step.contacts, step.patches
    if step.advance is not None:
        time_step = step.advance["duration"] or time_step
    # The patches of a divided step are those of its last part. Its points are those of all parts.
    has_faces = step.report.get("num_parts", 1) == 1
    points = contacts[contacts["patch"] < 0] if has_faces else contacts
    columns: dict[str, Any] = {name: points[name] for name in points.dtype.names or ()}
    tables = [tabulate_points({**columns, "bodies": geom_bodies[points["geoms"]]}, time_step)]
    for i, patch in enumerate(patches if has_faces else ()):
        geoms = patch.patch["geoms"]
        faces: dict[str, Any] = {name: patch.faces[name] for name in FACE_FIELDS}
        pair: dict[str, Any] = {"geoms": geoms, "bodies": geom_bodies[geoms], "patch": i}
        pair["couple"] = calc_couple(patch.patch["center"], patch.patch["torque"], faces)
        tables.append(tabulate_faces({**faces, **pair}, time_step))
    return np.concatenate(tables)
