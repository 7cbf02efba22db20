"""Pages on which one replays the runs of a study."""

from __future__ import annotations

from collections.abc import Sequence

from stiction.evidence.studies.study import StudyResult
from stiction.view.film import Film
from stiction.view.readers import can_view
from stiction.view.session import MAX_SESSIONS


def add_page(
    name: str, title: str, films: Sequence[Film], result: StudyResult, *, slowdown: float = 1.0
) -> None:
    """Adds a page that replays films side by side, or a note if there are no films or no viewer."""
    films = [film for film in films if film.frames][:MAX_SESSIONS]
    if not films:
        result.notes.append(f"{name}.html is not written, because no step was made")
    elif not can_view():
        result.notes.append(
            f"{name}.html is not written, because viser and mjviser are not installed; "
            "run pip install 'stiction[view]'"
        )
    else:
        from stiction.view.page import make_page

        result.pages[name] = make_page(films, title=title, slowdown=slowdown)
