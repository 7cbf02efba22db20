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

from stiction.errors import Error
from stiction.inputs.arguments import check_name, check_path, describe_type
from stiction.recording import format as fmt
from stiction.recording.head import Head
from stiction.recording.pressure_fields import PREFIX, unpack_pressure_fields
from stiction.recording.reader import Damage, RecordReader
from stiction.recording.step import Step, read_steps, tabulate_step
from stiction.setup.defaults import builtin_defaults
from stiction.setup.options import check_options
from stiction.setup.properties import make_properties
from stiction.simulator import Simulator
from stiction.tables import contact_table
from stiction.tables.record_table import FORMATS


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
        self._head = head = Head(self.path)
        self.metadata = head.metadata
        self.layout = head.layout
        self.options: dict[str, Any] = head.parse_object("options")
        self.notes: dict[str, str] = head.parse_object("notes")
        self.scene_files = {
            name: data.decode(errors="replace")
            for name, data in head.attachments.items()
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
            raise self._head.make_error(
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
        if fmt.ANCHORS not in self._head.topics:
            law = self.options.get("friction_law")
            raise self._head.make_error(
                f"has no topic {fmt.ANCHORS}, because its friction law is '{law}' and not 'elastic'"
                if law != "elastic"
                else f"has no topic {fmt.ANCHORS}, because an older version of stiction recorded it or "
                "another program removed the topic; record the run again",
                "unsupported",
            )
        tables = [np.zeros(0, contact_table.ANCHOR_TABLE.step_dtype)]
        for step in self:
            rows = step.anchors.astype(contact_table.ANCHOR_TABLE.dtype)
            tables.append(contact_table.ANCHOR_TABLE.add_step(rows, step.index, step.time))
        return contact_table.ANCHOR_TABLE.convert(np.concatenate(tables), format)

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
            raise self._head.make_error(
                f"has options of another version of stiction: {e}; replay it with that version",
                "version",
            ) from e
        except Error as e:
            if e.where in options:
                raise
            raise self._head.make_error(self._explain_refusal(e), e.code) from e

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
            raise self._head.make_error(
                f"its contact properties are {describe_type(properties)}, must be a table; give the "
                "properties of the run (--properties, or properties=)"
            )
        try:
            return unpack_pressure_fields(properties, self._head.attachments, self._folder)
        except Error as e:
            raise self._head.make_error(e.message, e.code) from e

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
        return self._head.load_model()

    @functools.cached_property
    def _overview(self) -> _Overview:
        reader = RecordReader(self.path)
        num_steps, failures = 0, []
        for step in read_steps(reader, self.layout):
            num_steps += step.completed
            if not step.completed:
                failures.append(step)
        return _Overview(num_steps, failures, reader.damage)
