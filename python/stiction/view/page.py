"""One HTML file that replays runs side by side, without a server and without a network."""

from __future__ import annotations

import html
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from stiction.errors import Error
from stiction.tables.output_files import check_output, has_mark, remove_output
from stiction.view.arrows import ArrowCount, add_counts
from stiction.view.certificate_strip import make_strip
from stiction.view.cut import find_largest_pressure
from stiction.view.film import Film
from stiction.view.layers import FilmMeshLayer
from stiction.view.layout import find_reach, make_layout, set_stage
from stiction.view.legend import PressureScale, make_arrow_legend, make_legend
from stiction.view.palette import Style
from stiction.view.readers import require_viewer
from stiction.view.server import start_writer, stop_server
from stiction.view.session import check_count
from stiction.view.world import World

# ---- Lets the red marks of a written page jump to their steps ------------------------------------
# A written page is a recording that viser's client plays. The client has no function that a script could
# call, but a field for the time, next to its slider. The script fills this field as a user would.

_REACH = 8  # distance from a mark within which a click counts [pixels]

JUMP_SCRIPT = """<script>
document.querySelector('#stiction .stiction-strip').addEventListener('click', (event) => {
  let nearest = null, least = REACH;
  for (const mark of document.querySelectorAll('#stiction .stiction-bad')) {
    const box = mark.getBoundingClientRect();
    const away = Math.max(box.left - event.clientX, event.clientX - box.right);
    if (away < least) [nearest, least] = [mark, away];
  }
  const bar = document.querySelector('.mantine-Slider-root')?.parentElement;
  const field = bar?.querySelector('.mantine-NumberInput-input');
  if (!nearest || !field) return;
  // React hides the property that tells it of a change.
  const property = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
  property.set.call(field, nearest.dataset.jump);
  field.dispatchEvent(new Event('input', { bubbles: true }));
});
</script>""".replace("REACH", str(_REACH))


_MARK = '<meta name="generator" content="stiction view">'  # of a file that may be overwritten
# Dark or light: as the page wants that has the replay in a frame, else as the reader's system has it.
_CHOOSE_COLORS = (
    "(()=>{const dark=location.hash==='#dark'||"
    "(location.hash!=='#light'&&matchMedia('(prefers-color-scheme: dark)').matches);"
    "document.documentElement.classList.toggle('dark',dark);"
    "document.documentElement.style.background=dark?'#242424':'white';"
    "(window.__VISER_EMBED_CONFIG__??={}).darkMode=dark;"
    "addEventListener('hashchange',()=>location.reload())})();"
)
_AHEAD = 25  # frames that a browser reads before they are shown
_LATER = 1e-7  # simulated time after the start of a frame at which a click on its mark arrives [s]


def make_page(
    films: Sequence[Film], *, title: str, style: Style | None = None, slowdown: float = 1.0
) -> str:
    """Returns a page that replays films side by side on one clock.

    Args:
        films: one to six films of runs of the same model, each with at least one frame.
        title: title of the page.
        style: what is shown.
        slowdown: time of the replay over simulated time.

    Raises:
        Error: a package is missing, or there are too many films.
    """
    require_viewer()
    check_count(len(films))
    server = start_writer()
    try:
        return _Projector(server, films, style or Style()).make(title, slowdown)
    finally:
        stop_server(server)


def check_page_path(path: Path) -> None:
    """Raises Error if a page cannot be written, or would replace something else than an older page."""
    check_output(path, "a page of the viewer", has_mark(_MARK))


def remove_page(path: Path) -> None:
    """Removes a page that an earlier call has written, if there is one, or raises Error."""
    remove_output(path, has_mark(_MARK))


def write_page(path: Path, page: str) -> None:
    """Writes a page to a file, and makes its folder, or raises Error."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page, encoding="utf-8")
    except OSError as e:
        raise Error("invalid_value", str(path), f"cannot be written: {e.strerror or e}") from e


class _Projector:
    """Draws films frame by frame into a recording of viser."""

    def __init__(self, server: Any, films: Sequence[Film], style: Style) -> None:
        self._server = server
        self._films = films
        self._style = style
        layout = make_layout(films[0].model, len(films), find_reach(films))
        set_stage(server, layout)
        self._worlds = [
            World(server, film, i, layout, FilmMeshLayer) for i, film in enumerate(films)
        ]
        self._scale = PressureScale()
        for film in films:
            for frame in film.frames:
                self._scale.include(find_largest_pressure(frame.read()[0]))
        self._arrow_counts: dict[str, ArrowCount] = {}

    def make(self, title: str, slowdown: float) -> str:
        """Returns the page."""
        moments = np.unique([f.start_time for film in self._films for f in film.frames])
        moments = moments[np.diff(moments, prepend=-np.inf) > 1e-9]
        for moment in moments[:_AHEAD]:
            self._prepare(moment)
        recording = self._server.get_scene_serializer()
        for i, sleep in enumerate(np.diff(moments, append=moments[-1] + self._films[0].frame_time)):
            for world, film in zip(self._worlds, self._films, strict=True):
                world.reveal(film.name, self._style)
            self._count_arrows()
            recording.insert_sleep(slowdown * float(sleep))
            if i + _AHEAD < len(moments):
                self._prepare(moments[i + _AHEAD])
        overlay = self._make_overlay(title, float(moments[0]), slowdown)
        return _add_overlay(recording.as_html(), overlay, title)

    def _prepare(self, time: float) -> None:
        """Sends the last frame of each film that starts at or before a time ahead."""
        for world, film in zip(self._worlds, self._films, strict=True):
            place = bisect_right(film.frames, time + 1e-9, key=lambda frame: frame.start_time)
            world.prepare(film.frames[max(place - 1, 0)], self._style, self._scale)

    def _count_arrows(self) -> None:
        """Keeps the count of the frame that has the most arrows, by kind."""
        for name in self._worlds[0].arrow_counts:
            count = add_counts(world.arrow_counts[name] for world in self._worlds)
            best = self._arrow_counts.get(name, count)
            self._arrow_counts[name] = ArrowCount(
                *max((best.drawn, best.total), (count.drawn, count.total)),
                max(best.largest, count.largest),
            )

    def _make_overlay(self, title: str, first: float, slowdown: float) -> str:
        frames = [frame for film in self._films for frame in film.frames]
        legend = make_legend(
            pressure=self._scale.top if self._has_patches else None,
            cut=self._worlds[0].cut_top,
            with_points=any(len(frame.read()[1].point) for frame in frames),
        )
        counts = {name: count for name, count in self._arrow_counts.items() if count.total}
        legend += make_arrow_legend(counts, at_most=True)
        times = [frame.time for frame in frames]
        bad = sorted((frame for frame in frames if not frame.is_good), key=lambda frame: frame.time)
        # The replay shows a frame from the start of its step. A little later it is there for sure.
        jumps = [slowdown * (frame.start_time - first + _LATER) for frame in bad]
        num_steps = (
            sum(film.num_steps for film in self._films),
            sum(film.num_certified for film in self._films),
        )
        bad_times = [frame.time for frame in bad]
        strip = make_strip(bad_times, min(times), max(times), num_steps, jumps)
        return (
            f"<div style='font:bold 14px sans-serif;padding:4px 14px'>{html.escape(title)}</div>"
            f"{legend}{strip}{JUMP_SCRIPT if bad else ''}"
        )

    @property
    def _has_patches(self) -> bool:
        return self._scale.is_known and any(world.soft_geoms for world in self._worlds)


def _add_overlay(page: str, overlay: str, title: str) -> str:
    """Adds a box with title, legend and certificates in a corner of the page."""
    style = (
        "#stiction{position:fixed;left:10px;bottom:60px;width:280px;z-index:10;padding:4px 0 8px;"
        "background:rgba(255,255,255,0.85);border-radius:6px;box-shadow:0 1px 4px rgba(0,0,0,0.2);"
        "transform-origin:left bottom}"
        ".dark #stiction{background:rgba(30,30,34,0.85);color:#ddd}"
        # In a small frame of another page, the box must leave the scene in sight.
        "@media(max-width:700px),(max-height:500px){#stiction{transform:scale(0.6)}}"
        # On a phone that is held upright, the scene keeps its shape, and the box stands below it.
        "@media(max-aspect-ratio:1/1){#root{height:calc(80vw + 36px)!important}"
        "#stiction{transform:none;bottom:auto;top:calc(80vw + 40px);left:0;width:100vw;"
        "max-height:calc(100vh - 80vw - 40px);overflow-y:auto;box-shadow:none;box-sizing:border-box}}"
    )
    box = f"<style>{style}</style><div id='stiction'>{overlay}</div>"
    page = page.replace("</head>", f"<script>{_CHOOSE_COLORS}</script></head>", 1)
    end = page.rindex("</body>")
    page = page[:end] + box + page[end:]
    page = page.replace("<title>Viser</title>", f"<title>{html.escape(title)}</title>", 1)
    return page.replace("<head>", f"<head>{_MARK}", 1)
