"""Pictures of the patches of a comparison, for pages that replay nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stiction.errors import Error
from stiction.tables.output_files import remove_picture, write_picture
from stiction.view.film import Film
from stiction.view.stills import draw_stills


def find_last_touch(films: Sequence[Film]) -> float | None:
    """Returns the time of the last step for which a film has a patch [s]; None if there is none."""
    for frame in sorted(
        (frame for film in films for frame in film.frames), key=lambda frame: -frame.start_time
    ):
        if frame.read()[0].num_faces:
            return frame.start_time
    return None


def write_stills(films: Sequence[Film], path: Path) -> Path | None:
    """Draws the patches of each contact model side by side, at the last time at which one has patches.

    Args:
        films: films of one scene.
        path: path of the PNG.

    Returns:
        The path, or None if no film has patches; then nothing is drawn, and a picture of an earlier
        comparison is removed, because the report beside it has no such patches.

    Raises:
        Error: the file cannot be written or removed.
    """
    time = find_last_touch(films)
    if time is None:
        remove_picture(path)
        return None
    figure = draw_stills(films[0], [(film.name, film.find_frame(time)) for film in films])
    try:
        write_picture(figure, path)
    except OSError as e:
        raise Error("invalid_value", str(path), f"cannot be written: {e.strerror or e}") from e
    return path
