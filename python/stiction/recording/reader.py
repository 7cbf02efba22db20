"""Reads the records of an MCAP file one by one, as far as they are whole."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import zstandard
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import Chunk, Footer, McapRecord
from mcap.stream_reader import StreamReader, breakup_chunk

from stiction.errors import Error

_MAGIC = b"\x89MCAP0\r\n"
_RECORD_HEAD = struct.Struct("<BQ")  # opcode, length of what follows
_FOOTER_CHECKED = 16  # bytes of a footer that its CRC covers besides the index

# All that the mcap package, struct and zstandard raise for bytes that are not what they should be,
# and the file for those that it cannot give.
_BAD_BYTES = (
    OSError,
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

    Attributes:
        offset: position of the first record that cannot be read [bytes].
        is_truncated: True if the file ends there, as after a crash; False if the content is wrong.
        reason: what is wrong with the record.
    """

    offset: int
    is_truncated: bool
    reason: str

    def __str__(self) -> str:
        what = "the file was cut off" if self.is_truncated else f"damaged: {self.reason}"
        return f"byte {self.offset}: {what}"


def is_mcap_file(path: Path) -> bool:
    """By its first bytes."""
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


class RecordReader:
    """Passes over a file; `damage` is set when one stops before the file's end.

    Raises:
        Error: there is no such file, it is not an MCAP file, or it is empty.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.damage: Damage | None = None
        if not path.is_file():
            what = "is not a file" if path.exists() else "there is no such file"
            raise Error("file_not_found", str(path), what)
        try:
            self._size = path.stat().st_size
            is_mcap = is_mcap_file(path)
        except OSError as e:
            raise Error("file_not_found", str(path), f"cannot be read: {e.strerror}") from e
        if not is_mcap:
            what = "is no MCAP file" if self._size else "is empty"
            raise Error("syntax", str(path), f"{what}; recordings come from stiction run --record")

    def records(self) -> Iterator[McapRecord]:
        """All records in the file's order, those of chunks taken out of them."""
        with self.path.open("rb") as file:
            reader = StreamReader(file, emit_chunks=True, record_size_limit=self._size).records
            while True:
                offset = file.tell()
                try:
                    record = next(reader)
                    if isinstance(record, Footer):
                        _check_summary(file, record, offset)
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


def _check_summary(file: BinaryIO, footer: Footer, offset: int) -> None:
    """Raises ValueError if the index at the file's end does not have the CRC of the footer, which is at
    the offset. No index and no CRC are zeros.
    """
    if not footer.summary_crc:
        return
    start, end = footer.summary_start or offset, offset + _RECORD_HEAD.size + _FOOTER_CHECKED
    here = file.tell()
    file.seek(min(start, end))
    crc = zlib.crc32(file.read(max(end - start, 0)))
    file.seek(here)
    if crc != footer.summary_crc:
        raise ValueError("the index before it does not have its CRC")
