"""Files of pressure fields in a recording, so that it can be replayed without them.

Contact properties name these files. A recording has a copy of each, and a replay reads the copies: it
opens no file that the recording names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import zstandard

from stiction.errors import Error
from stiction.recording.reader import decompress

PREFIX = "pressure_field/"  # of attachments; the name of the material follows
_MAX_SIZE = 1 << 30  # largest accepted size of a file [bytes]

Properties = dict[str, Any]


def pack_pressure_fields(properties: Properties | None) -> dict[str, bytes]:
    """Returns the files that contact properties name, compressed, by the name of their attachment."""
    packed = {}
    for name, path in _find_files(properties):
        try:
            packed[PREFIX + name] = zstandard.compress(Path(path).read_bytes())
        except OSError as e:
            raise Error(
                "file_not_found", path,
                f"the pressure field of material '{name}' cannot be recorded: {e.strerror}; "
                "a recording needs a copy of it to be replayed",
            ) from e  # fmt: skip
    return packed


def unpack_pressure_fields(
    properties: Properties | None, attachments: Mapping[str, bytes], folder: Path
) -> Properties | None:
    """Writes the recorded files into a folder, and returns contact properties that name them there."""
    materials = {}
    for index, (name, path) in enumerate(_find_files(properties)):
        packed = attachments.get(PREFIX + name)
        if packed is None:
            raise Error(
                "unsupported", name,
                f"material '{name}' has the pressure field '{path}', a file that this recording does "
                "not contain and that is not opened without your consent; give the properties of the "
                "run (--properties, or properties=)",
            )  # fmt: skip
        try:
            text = decompress("zstd", packed, _MAX_SIZE)
        except (ValueError, zstandard.ZstdError, MemoryError) as e:
            raise Error(
                "syntax", name, f"the recorded pressure field of material '{name}' is damaged: {e}"
            ) from e
        file = (
            folder / f"{index}.vtk"
        )  # a name of our own, because that of a material may be a path
        file.write_bytes(text)
        assert properties is not None
        materials[name] = {**properties["materials"][name], "pressure_field": str(file)}
    if properties is None or not materials:
        return properties
    return {**properties, "materials": {**properties["materials"], **materials}}


def _find_files(properties: Properties | None) -> Iterator[tuple[str, str]]:
    """Yields each material with a file, and the file's path; nothing for properties of a wrong form."""
    materials = (properties or {}).get("materials")
    for name, material in materials.items() if isinstance(materials, dict) else ():
        if isinstance(material, dict) and "pressure_field" in material:
            yield name, str(material["pressure_field"])
