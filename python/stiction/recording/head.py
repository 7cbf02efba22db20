"""The head of a recording: what the file has before its steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mujoco
import zstandard
from mcap.records import Attachment, Channel, Header, Message, Metadata, Schema

from stiction.errors import Error
from stiction.recording import format as fmt
from stiction.recording.reader import RecordReader, decompress

_MAX_MODEL = 1 << 31  # largest accepted size of a compiled scene [bytes]
_MAX_DIGITS = 10  # of the number of a format


class Head:
    """Metadata, the layout of a state, attachments and topics, read up to the first message."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.metadata: dict[str, str] = {}
        self.layout: fmt.Layout = {}
        self.attachments: dict[str, bytes] = {}
        self.topics: set[str] = set()
        reader = RecordReader(path)
        for record in reader.records():
            match record:
                case Header(profile=profile) if profile != fmt.PROFILE:
                    raise self.make_error(
                        f"is an MCAP file of profile '{profile}', not a recording of stiction",
                        "unsupported",
                    )
                case Metadata(name=fmt.METADATA, metadata=metadata):
                    self.metadata = metadata
                    self._check_format()
                case Attachment(name=name, data=data):
                    self.attachments[name] = data
                case Channel(topic=topic):
                    self.topics.add(topic)
                case Schema(name="stiction.State", data=data):
                    self._parse_layout(data)
                case Message():
                    break
        if not self.metadata or not self.layout:
            where = f"; {reader.damage}" if reader.damage else ""
            raise self.make_error(f"has no steps{where}")

    def make_error(self, message: str, code: str = "syntax") -> Error:
        return Error(code, str(self.path), message)

    def parse_object(self, key: str) -> dict[str, Any]:
        try:
            return fmt.parse_object(self.metadata.get(key, ""))
        except ValueError as e:
            raise self.make_error(
                f"its metadata '{key}' cannot be read: {e}; take another copy, or record the run again"
            ) from e

    def load_model(self) -> mujoco.MjModel:
        """Loads the compiled scene. Error: it is missing, damaged, or of another version of MuJoCo."""
        packed = self.attachments.get(fmt.MODEL_ATTACHMENT)
        if packed is None:
            raise self.make_error("the file ends before the scene, so it cannot be replayed")
        try:
            model_bytes = decompress("zstd", packed, _MAX_MODEL)
        except (ValueError, zstandard.ZstdError, MemoryError) as e:
            raise self.make_error(f"the recorded scene is damaged: {e}") from e
        if fmt.hash_bytes(model_bytes).hex() != self.metadata.get("model_digest"):
            raise self.make_error("the recorded scene is damaged: its hash is wrong")
        try:
            model = fmt.load_model(model_bytes)
        except ValueError as e:
            recorded = self.metadata.get("mujoco_version", "unknown")
            if recorded == mujoco.__version__:
                raise self.make_error(
                    f"MuJoCo cannot load the recorded scene ({e}); take another copy, or record the run "
                    "again",
                    "mujoco",
                ) from e
            raise self.make_error(
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
        raise self.make_error(
            f"the recorded scene does not belong to the recorded states: '{name}' has "
            f"{wanted.get(name, 'no')} numbers in the scene, and {sizes.get(name, 'no')} in the states; "
            "take another copy, or record the run again"
        )

    def _check_format(self) -> None:
        text = self.metadata.get("format", "")
        if not (text.isascii() and text.isdecimal() and len(text) < _MAX_DIGITS):
            raise self.make_error(f"its format is '{text}', not a number")
        if int(text) > fmt.FORMAT:
            raise self.make_error(
                f"has format {text}, but this version reads formats up to {fmt.FORMAT}; use stiction "
                f"{self.metadata.get('stiction_version', '')}, which wrote it, or a newer version",
                "version",
            )
        if fmt.hash_texts(self.metadata) != self.metadata.get("digest"):
            raise self.make_error("its metadata was altered or damaged")

    def _parse_layout(self, data: bytes) -> None:
        try:
            self.layout = fmt.parse_state_schema(data)
        except ValueError as e:
            raise self.make_error(f"its schema of a state is damaged: {e}") from e
