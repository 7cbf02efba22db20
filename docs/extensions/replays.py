"""Sphinx extension: a replay of a run, which the reader can turn while it plays.

    :::{replay} spatula
    ![A spatula between two bubbles](images/replay_spatula.png)
    A caption.
    :::

shows the picture with a button that puts the replay in its place. With the option `:live:` the replay
starts by itself. tools/make_replays.py writes the replays before the pages are built; where it did not
write one, the picture stays, with the command that makes the replay.
"""

from __future__ import annotations

import html
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "site_files" / "replays"


class Replay(SphinxDirective):
    required_arguments = 1  # name of a row of tools/make_replays.py
    option_spec = {"live": directives.flag}  # noqa: RUF012, as docutils declares it
    has_content = True

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        path = FOLDER / f"{name}.html"
        self.env.note_dependency(path)
        is_made = path.exists()
        frame = nodes.container(
            classes=["replay", *(["replay-live"] if "live" in self.options else [])]
        )
        frame += self.parse_content_to_nodes()
        frame += self._make_bar(name) if is_made else self._make_note()
        return [frame]

    def _make_bar(self, name: str) -> nodes.Node:
        depth = self.env.docname.count("/")
        address = html.escape("../" * depth + f"replays/{name}.html", quote=True)
        return nodes.raw(
            "",
            f'<p class="replay-bar"><button type="button" data-replay="{address}">Play</button> '
            f'<a href="{address}">on a page of its own</a></p>',
            format="html",
        )

    def _make_note(self) -> nodes.Node:
        text = nodes.paragraph("", "The replay of this run is made by ", classes=["replay-bar"])
        text += nodes.literal(text="./dev site --gallery")
        text += nodes.Text(".")
        return text


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("replay", Replay)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
