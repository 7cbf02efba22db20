"""Pictures that commands write. Each carries the program's name, so that others are not replaced."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stiction.errors import Error
from stiction.tables.output_files import check_output, has_mark, remove_output

SOFTWARE = "stiction"  # the text 'Software' of a PNG
_DPI = 120
_is_own = has_mark(f"tEXtSoftware\0{SOFTWARE}")  # the type, the key and the value of a chunk


def check_picture_path(path: Path) -> None:
    """Raises Error if a picture cannot be written, or would replace something else than an older one."""
    if path.suffix.lower() != ".png":
        raise Error(
            "invalid_value",
            str(path),
            f"must end in .png, because the picture is a PNG; name it '{path.stem or 'picture'}.png'",
        )
    check_output(path, "a picture of Stiction", _is_own)


def write_picture(figure: Any, path: Path) -> None:
    """Writes a figure of matplotlib as a PNG. OSError: the file cannot be written."""
    figure.savefig(path, dpi=_DPI, format="png", metadata={"Software": SOFTWARE})


def remove_picture(path: Path) -> None:
    """Removes a picture that an earlier call has written, if there is one, or raises Error."""
    remove_output(path, _is_own)
