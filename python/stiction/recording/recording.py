"""Recording: reads what a Recorder wrote."""

from __future__ import annotations

import functools
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import zstandard
from mcap.records import Attachment, Channel, Header, Message, Metadata, Schema

from stiction.errors import Error
from stiction.inputs.arguments import check_name, check_path
from stiction.recording import format as fmt
from stiction.recording.pressure_fields import PREFIX, unpack_pressure_fields
from stiction.recording.reader import Damage, RecordReader, decompress
from stiction.recording.state_names import tabulate_step
from stiction.recording.step import Step, read_steps
from stiction.setup.defaults import builtin_defaults
from stiction.setup.options import check_options
from stiction.setup.properties import make_properties
from stiction.simulator import Simulator
from stiction.tables import anchor_table, contact_table
from stiction.tables.record_table import FORMATS

_MAX_MODEL = 1 << 31  # largest accepted size of a compiled scene [bytes]
_MAX_DIGITS = 10  # of the number of a format


@dataclass
class _Overview:
    """The results of reading the file once."""

    num_steps: int
    failures: list[Step]
    damage: Damage | None


class Recording:
    """A recording on disk.

    Iteration reads the completed steps one by one from the file. `states`, `times` and `controls`
    are read at their first use and then kept in memory.

        recording = stiction.Recording("out.mcap")
        recording.times, recording.states, recording.controls
        data = recording.make_data(1000)                # the state after step 1000

    Attributes:
        path: path of the file.
        metadata: versions, platform and format, as texts.
        options: options of the recorded Simulator.
        notes: the texts given to the Recorder.
        layout: slice of each component of mjSTATE_INTEGRATION in a state, by name.
        scene_files: texts of the scene's files by name, for people to read. A replay uses `model`.

    Raises:
        Error: the file does not exist, is not a recording, has a newer format, or is damaged before
            the first step.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = check_path("path", path)
        self.metadata: dict[str, str] = {}
        self.layout: fmt.Layout = {}
        self._attachments: dict[str, bytes] = {}
        self._topics: set[str] = set()
        self._read_head()
        self.options: dict[str, Any] = self._parse_object("options")
        self.notes: dict[str, str] = self._parse_object("notes")
        self.scene_files = {
            name: data.decode(errors="replace")
            for name, data in self._attachments.items()
            if name != fmt.MODEL_ATTACHMENT and not name.startswith(PREFIX)
        }

    def __iter__(self) -> Iterator[Step]:
        """Reads the completed steps in order."""
        return (step for step in self.all_steps() if step.completed)

    def __len__(self) -> int:
        """Number of completed steps."""
        return self._overview.num_steps

    def all_steps(self) -> Iterator[Step]:
        """Yields completed and failed steps in order, as far as the file can be read."""
        return read_steps(RecordReader(self.path), self.layout)

    @property
    def damage(self) -> Damage | None:
        """The place where the file stops being readable, or None if the whole file can be read."""
        return self._overview.damage

    @property
    def failures(self) -> list[Step]:
        """The failed steps."""
        return self._overview.failures

    @functools.cached_property
    def states(self) -> fmt.Vector:
        """The components of mjSTATE_INTEGRATION after each step, (n, size)."""
        states = np.empty((len(self), fmt.state_size(self.layout)))
        for row, step in zip(states, self, strict=True):
            row[:] = step.state
        return states

    @property
    def times(self) -> fmt.Vector:
        """The time after each step [s], (n,)."""
        return self.states[:, 0]

    @property
    def controls(self) -> fmt.Vector:
        """The controls data.ctrl of each step, (n, nu)."""
        return self.states[:, self.layout["ctrl"]]

    @property
    def digests(self) -> list[bytes]:
        """The recorded BLAKE2b hash of each state."""
        return [step.digest for step in self]

    def state_at(self, step: int) -> fmt.Vector:
        """Returns the components of mjSTATE_INTEGRATION after `step` steps, (size,).

        Args:
            step: number of steps; 0 gives the state before the first step.

        Raises:
            Error: the recording has fewer steps.
        """
        for found in self.all_steps():
            if step == 0 and found.start is not None:
                return found.start
            if step == found.index and found.completed:
                return found.state
        raise Error(
            "invalid_value", str(self.path), f"has no step {step}; it has {len(self)} steps"
        )

    @property
    def time_step(self) -> float:
        """Length of a step [s]."""
        return float(self.options.get("time_step") or self.model.opt.timestep)

    def table(self, format: str = "numpy") -> Any:
        """Returns the contacts of all completed steps as one table.

        It has a row for each contact point and for each face of a patch, with the fields of
        StepReport.table and, in front, `step` and `time`. Numbers have the precision of float32, in
        which they are recorded.

        Args:
            format: 'numpy' for a structured array, 'arrow' for a pyarrow.Table.

        Raises:
            Error: there is no such format, pyarrow is missing, or the recording has no contacts
                although its steps had some.
        """
        check_name("format", format, FORMATS)
        bodies = self.model.geom_bodyid
        tables = [np.zeros(0, contact_table.TABLE.step_dtype)]
        num_lost = 0
        for step in self:
            num_lost += not len(step.contacts) and bool(step.report.get("num_contacts"))
            rows = tabulate_step(step, bodies, self.time_step)
            tables.append(contact_table.TABLE.add_step(rows, step.index, step.time))
        if num_lost:
            raise self._error(
                f"has no contacts for {num_lost} steps whose reports count some, so another program has "
                "removed the topic /contacts; record the run again with `stiction run --record` or "
                "stiction.Recorder",
                "unsupported",
            )
        return contact_table.TABLE.convert(np.concatenate(tables), format)

    def list_anchors(self, format: str = "numpy") -> Any:
        """Returns the springs of friction_law 'elastic' of all completed steps as one table.

        It has a row for each spring and step, with the fields of Simulator.list_anchors and, in front,
        `step` and `time`. Numbers have the precision of float32, in which they are recorded.

        Args:
            format: 'numpy' for a structured array, 'arrow' for a pyarrow.Table.

        Raises:
            Error: there is no such format, pyarrow is missing, or the recording has no anchors.
        """
        check_name("format", format, FORMATS)
        if fmt.ANCHORS not in self._topics:
            law = self.options.get("friction_law")
            raise self._error(
                f"has no topic {fmt.ANCHORS}, because its friction law is '{law}' and not 'elastic'"
                if law != "elastic"
                else f"has no topic {fmt.ANCHORS}, because an older version of stiction recorded it or "
                "another program removed the topic; record the run again",
                "unsupported",
            )
        tables = [np.zeros(0, anchor_table.TABLE.step_dtype)]
        for step in self:
            rows = step.anchors.astype(anchor_table.DTYPE)
            tables.append(anchor_table.TABLE.add_step(rows, step.index, step.time))
        return anchor_table.TABLE.convert(np.concatenate(tables), format)

    def make_data(self, step: int = 0) -> mujoco.MjData:
        """Returns a new MjData with the state after `step` steps.

        Raises:
            Error: as state_at.
        """
        data = mujoco.MjData(self.model)
        mujoco.mj_setState(self.model, data, self.state_at(step), fmt.INTEGRATION)
        return data

    def make_simulator(self, **options: Any) -> Simulator:
        """Makes a Simulator with the recorded options.

        Args:
            **options: arguments of Simulator that replace the recorded ones.

        Raises:
            TypeError: `options` has a name that no argument has.
            Error: the options are those of another version, or out of range; or the recorded
                properties name a file that the recording does not contain, and `properties` is not
                given.
        """
        names = [name for name in options if name != "properties"]
        given: dict[str, Any] = check_options({name: options[name] for name in names})
        given["properties"] = (
            make_properties(options["properties"]) if "properties" in options else self._properties
        )
        model = self.model
        try:
            with builtin_defaults():  # for options that are younger than the recording
                return Simulator(model, **{**self.options, **given})
        except TypeError as e:
            raise self._error(
                f"has options of another version of stiction: {e}; replay it with that version",
                "version",
            ) from e
        except Error as e:
            if e.where in options:
                raise
            raise self._error(self._explain_refusal(e), e.code) from e

    def _explain_refusal(self, error: Error) -> str:
        """Explains why no Simulator can have what is recorded."""
        if error.where in self.options:
            return (
                f"its option '{error.where}' {error.message}; give another value, "
                f"make_simulator({error.where}=...)"
            )
        return f"its recorded simulator cannot be made: {error}"

    @functools.cached_property
    def _properties(self) -> dict[str, Any] | None:
        """The recorded contact properties, which name copies of the recorded pressure fields."""
        properties = self.options.get("properties")
        if not isinstance(properties, dict | None):  # a text would be the name of a file
            raise self._error(
                f"its contact properties are a {type(properties).__name__}, must be a table; give the "
                "properties of the run (--properties, or properties=)"
            )
        try:
            return unpack_pressure_fields(properties, self._attachments, self._folder)
        except Error as e:
            raise self._error(e.message, e.code) from e

    @functools.cached_property
    def _folder(self) -> Path:
        """The folder of those copies. It is deleted with this object."""
        folder = tempfile.mkdtemp(prefix="stiction-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return Path(folder)

    @functools.cached_property
    def model(self) -> mujoco.MjModel:
        """The compiled scene.

        Raises:
            Error: the scene is missing, damaged, or of another version of MuJoCo.
        """
        packed = self._attachments.get(fmt.MODEL_ATTACHMENT)
        if packed is None:
            raise self._error("the file ends before the scene, so it cannot be replayed")
        try:
            model_bytes = decompress("zstd", packed, _MAX_MODEL)
        except (ValueError, zstandard.ZstdError, MemoryError) as e:
            raise self._error(f"the recorded scene is damaged: {e}") from e
        if fmt.hash_bytes(model_bytes).hex() != self.metadata.get("model_digest"):
            raise self._error("the recorded scene is damaged: its hash is wrong")
        try:
            model = fmt.load_model(model_bytes)
        except ValueError as e:
            recorded = self.metadata.get("mujoco_version", "unknown")
            if recorded == mujoco.__version__:
                raise self._error(
                    f"MuJoCo cannot load the recorded scene ({e}); take another copy, or record the run "
                    "again",
                    "mujoco",
                ) from e
            raise self._error(
                f"was made with MuJoCo {recorded}, and MuJoCo {mujoco.__version__} cannot load its "
                f"scene ({e}); replay it in an environment with MuJoCo {recorded}: "
                f'pip install "mujoco-core=={recorded}"',
                "version",
            ) from e
        self._check_layout(model)
        return model

    def _check_layout(self, model: mujoco.MjModel) -> None:
        """Raises Error if the recorded states are not those of the recorded scene."""
        expected = fmt.make_layout(model)
        if self.layout == expected:
            return
        sizes, wanted = (
            {n: p.stop - p.start for n, p in at.items()} for at in (self.layout, expected)
        )
        name = next((n for n in {**sizes, **wanted} if sizes.get(n) != wanted.get(n)), "time")
        raise self._error(
            f"the recorded scene does not belong to the recorded states: '{name}' has "
            f"{wanted.get(name, 'no')} numbers in the scene, and {sizes.get(name, 'no')} in the states; "
            "take another copy, or record the run again"
        )

    @functools.cached_property
    def _overview(self) -> _Overview:
        reader = RecordReader(self.path)
        num_steps, failures = 0, []
        for step in read_steps(reader, self.layout):
            num_steps += step.completed
            if not step.completed:
                failures.append(step)
        return _Overview(num_steps, failures, reader.damage)

    def _read_head(self) -> None:
        """Reads up to the first message, and raises Error if the file is not a recording."""
        reader = RecordReader(self.path)
        for record in reader.records():
            match record:
                case Header(profile=profile) if profile != fmt.PROFILE:
                    raise self._error(
                        f"is an MCAP file of profile '{profile}', not a recording of stiction",
                        "unsupported",
                    )
                case Metadata(name=fmt.METADATA, metadata=metadata):
                    self.metadata = metadata
                    self._check_format()
                case Attachment(name=name, data=data):
                    self._attachments[name] = data
                case Channel(topic=topic):
                    self._topics.add(topic)
                case Schema(name="stiction.State", data=data):
                    self._parse_layout(data)
                case Message():
                    break
        if not self.metadata or not self.layout:
            where = f"; {reader.damage}" if reader.damage else ""
            raise self._error(f"has no steps{where}")

    def _check_format(self) -> None:
        text = self.metadata.get("format", "")
        if not (text.isascii() and text.isdecimal() and len(text) < _MAX_DIGITS):
            raise self._error(f"its format is '{text}', not a number")
        if int(text) > fmt.FORMAT:
            raise self._error(
                f"has format {text}, but this version reads formats up to {fmt.FORMAT}; use stiction "
                f"{self.metadata.get('stiction_version', '')}, which wrote it, or a newer version",
                "version",
            )
        if fmt.hash_texts(self.metadata) != self.metadata.get("digest"):
            raise self._error("its metadata was altered or damaged")

    def _parse_layout(self, data: bytes) -> None:
        try:
            self.layout = fmt.parse_state_schema(data)
        except ValueError as e:
            raise self._error(f"its schema of a state is damaged: {e}") from e

    def _parse_object(self, key: str) -> dict[str, Any]:
        try:
            return fmt.parse_object(self.metadata.get(key, ""))
        except ValueError as e:
            raise self._error(
                f"its metadata '{key}' cannot be read: {e}; take another copy, or record the run again"
            ) from e

    def _error(self, message: str, code: str = "syntax") -> Error:
        return Error(code, str(self.path), message)
