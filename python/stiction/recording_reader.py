"""Reads the records of an MCAP file one by one, as far as they are whole."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import zstandard
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import Chunk, McapRecord
from mcap.stream_reader import StreamReader, breakup_chunk

from stiction.errors import Error

_MAGIC = b"\x89MCAP0\r\n"
_RECORD_HEAD = struct.Struct("<BQ")  # opcode, length of what follows

# All that the mcap package, struct and zstandard raise for bytes that are not what they should be.
_BAD_BYTES = (
    McapError,
    ValueError,
    struct.error,
    zstandard.ZstdError,
    MemoryError,
    OverflowError,
)


@dataclass(frozen=True)
class Damage:
    """Where a recording stops being readable.

    offset: of the first record that cannot be read [bytes].
    is_truncated: the file ends there, as after a crash; else its content is wrong.
    reason: what is wrong with the record.
    """

    offset: int
    is_truncated: bool
    reason: str

    def __str__(self) -> str:
        what = "the file was cut off" if self.is_truncated else f"damaged: {self.reason}"
        return f"byte {self.offset}: {what}"


class RecordReader:
    """Passes over a file; `damage` is set when one stops before the file's end.

    Raises:
        Error: there is no such file, it is not an MCAP file, or it is empty.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.damage: Damage | None = None
        if not path.is_file():
            raise Error("file_not_found", str(path), "there is no such file")
        self._size = path.stat().st_size
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
        if magic != _MAGIC:
            what = f"it begins with {magic!r}" if magic else "it is empty"
            raise Error("syntax", str(path), f"{what}, and is no MCAP file")

    def records(self) -> Iterator[McapRecord]:
        """All records in the file's order, those of chunks taken out of them."""
        with self.path.open("rb") as file:
            reader = StreamReader(file, emit_chunks=True, record_size_limit=self._size).records
            while True:
                offset = file.tell()
                try:
                    record = next(reader)
                    parts = (
                        breakup_chunk(record, validate_crc=True)
                        if isinstance(record, Chunk)
                        else [record]
                    )
                except StopIteration:
                    return
                except _BAD_BYTES as e:
                    reason = str(e) or type(e).__name__
                    self.damage = Damage(offset, self._is_cut_off(file, offset), reason)
                    return
                yield from parts

    def _is_cut_off(self, file: BinaryIO, offset: int) -> bool:
        """True if the record at the offset is one of MCAP's that would end beyond the file."""
        file.seek(offset)
        head = file.read(_RECORD_HEAD.size)
        if len(head) < _RECORD_HEAD.size:
            return True
        opcode, length = map(int, _RECORD_HEAD.unpack(head))
        is_known = Opcode.HEADER <= opcode <= Opcode.DATA_END
        return is_known and offset + _RECORD_HEAD.size + length > self._size
