"""Reads the records of an MCAP file one by one, up to the first damaged record."""

from __future__ import annotations

import dataclasses
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import lz4.frame  # type: ignore[import-untyped]
import zstandard
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import Chunk, Footer, McapRecord
from mcap.stream_reader import StreamReader, breakup_chunk

from stiction.errors import Error

_MAGIC = b"\x89MCAP0\r\n"
_RECORD_HEAD = struct.Struct("<BQ")  # opcode, and length of the rest of the record
_MAX_CHUNK = 1 << 28  # largest accepted size of a decompressed chunk; Recorder's have about 1 MB
_FOOTER_CHECKED = 16  # number of footer bytes that its CRC covers, besides the index

# The exceptions that mcap, struct and zstandard raise for damaged bytes, and OSError for bytes that
# cannot be read.
_BAD_BYTES = (
    OSError,
    McapError,
    ValueError,
    struct.error,
    zstandard.ZstdError,
    MemoryError,
    OverflowError,
    RuntimeError,  # of lz4
)


@dataclass(frozen=True)
class Damage:
    """The place where a recording stops being readable.

    Attributes:
        offset: position of the first unreadable record in the file [bytes].
        is_truncated: True if the file ends within that record, as after a crash; False if its
            content is wrong.
        reason: the fault of the record.
    """

    offset: int
    is_truncated: bool
    reason: str

    def __str__(self) -> str:
        fault = "the file is truncated" if self.is_truncated else f"damaged: {self.reason}"
        return f"byte {self.offset}: {fault}"


def decompress(compression: str, data: bytes, max_size: int) -> bytes:
    """Decompresses LZ4 or Zstandard. ValueError: the result would have more than max_size bytes."""
    if compression == "zstd":
        out = zstandard.ZstdDecompressor().stream_reader(data).read(max_size + 1)
    elif compression == "lz4":
        out = lz4.frame.LZ4FrameDecompressor().decompress(data, max_length=max_size + 1)
    else:
        raise ValueError(f"unknown compression '{compression}'")
    if len(out) > max_size:
        raise ValueError(f"it expands to more than {max_size} bytes")
    return out


def _expand(chunk: Chunk) -> Chunk:
    """Decompresses a chunk. ValueError: it declares another size than it has, or more than _MAX_CHUNK."""
    if not chunk.compression:
        return chunk
    size = chunk.uncompressed_size
    if size > _MAX_CHUNK:
        raise ValueError(f"a chunk of {size} bytes is larger than the accepted {_MAX_CHUNK}")
    data = decompress(chunk.compression, chunk.data, size)
    if len(data) != size:
        raise ValueError(f"a chunk of {size} bytes has only {len(data)}")
    return dataclasses.replace(chunk, compression="", data=data)


def is_mcap_file(path: Path) -> bool:
    """True if the first bytes of the file are those of MCAP."""
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


class RecordReader:
    """Reads a file, possibly several times, or raises Error. `damage` says why reading stopped."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.damage: Damage | None = None
        if not path.is_file():
            fault = "is not a file" if path.exists() else "there is no such file"
            raise Error("file_not_found", str(path), fault)
        try:
            self._size = path.stat().st_size
            is_mcap = is_mcap_file(path)
        except OSError as e:
            raise Error("file_not_found", str(path), f"cannot be read: {e.strerror}") from e
        if not is_mcap:
            fault = "is not an MCAP file" if self._size else "is empty"
            raise Error(
                "syntax", str(path), f"{fault}; make recordings with `stiction run --record`"
            )

    def records(self) -> Iterator[McapRecord]:
        """Yields all records in the order of the file. A chunk is replaced by the records in it."""
        with self.path.open("rb") as file:
            reader = StreamReader(file, emit_chunks=True, record_size_limit=self._size).records
            while True:
                offset = file.tell()
                try:
                    record = next(reader)
                    if isinstance(record, Footer):
                        _check_summary(file, record, offset)
                    parts = (
                        breakup_chunk(_expand(record), validate_crc=True)
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
        """True if the record at the offset has a known type and would end beyond the file."""
        file.seek(offset)
        head = file.read(_RECORD_HEAD.size)
        if len(head) < _RECORD_HEAD.size:
            return True
        opcode, length = map(int, _RECORD_HEAD.unpack(head))
        is_known = Opcode.HEADER <= opcode <= Opcode.DATA_END
        return is_known and offset + _RECORD_HEAD.size + length > self._size


def _check_summary(file: BinaryIO, footer: Footer, offset: int) -> None:
    """Raises ValueError if the index at the end of the file does not have the footer's checksum."""
    if not footer.summary_crc:
        return
    start, end = footer.summary_start or offset, offset + _RECORD_HEAD.size + _FOOTER_CHECKED
    here = file.tell()
    file.seek(min(start, end))
    crc = zlib.crc32(file.read(max(end - start, 0)))
    file.seek(here)
    if crc != footer.summary_crc:
        raise ValueError("the CRC of the index is wrong")
