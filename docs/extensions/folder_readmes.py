"""Sphinx extension: a page for the README of each folder of src/stiction, and of folders in these.

    ```{folder-readmes}
    ```

shows their table of contents, in the order of the layers. The pages are copies in architecture/generated.
Their links lead to other pages; a link to a file that has no page becomes plain text.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from check_layers import LAYERS  # noqa: E402

_FOLDER = "architecture/generated"
_DOCS = ROOT / "docs"
_SOURCES = ROOT / "src" / "stiction"
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s#]+)(#[^)\s]*)?\)")


def list_folders() -> list[str]:
    """Returns the folders that have a README, in the order of the layers; parts follow their folder."""
    found = []
    for layer in LAYERS:
        readmes = [find_readme(layer), *sorted((_SOURCES / layer).glob("*/README.md"))]
        found += [str(readme.parent.relative_to(_SOURCES)) for readme in readmes if readme.exists()]
    return found


def find_readme(folder: str) -> Path:
    return _SOURCES / folder / "README.md"


def find_page(folder: str) -> Path:
    return _DOCS / _FOLDER / f"{folder.replace('/', '_')}.md"


def adapt_links(text: str, readme: Path) -> str:
    """Returns the text of a README with links that are relative to its page."""
    pages = {find_readme(name): find_page(name) for name in list_folders()}

    def adapt(match: re.Match[str]) -> str:
        label, target, anchor = match[1], match[2], match[3] or ""
        if "://" in target:
            return match[0]
        path = Path(os.path.normpath(readme.parent / target))
        page = pages.get(path, path)
        if not page.is_relative_to(_DOCS):
            return label
        return f"[{label}]({os.path.relpath(page, _DOCS / _FOLDER)}{anchor})"

    return _LINK.sub(adapt, text)


class FolderReadmes(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        self.env.note_reread()  # because READMEs may be added
        entries = "\n".join(
            f"{name} </{_FOLDER}/{find_page(name).stem}>" for name in list_folders()
        )
        return self.parse_text_to_nodes(f"```{{toctree}}\n{entries}\n```")


def _write_pages(app: Sphinx) -> None:
    folder = app.srcdir / _FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    readmes = {folder / find_page(name).name: find_readme(name) for name in list_folders()}
    for path in set(folder.glob("*.md")) - set(readmes):
        path.unlink()
    for path, readme in readmes.items():
        page = adapt_links(readme.read_text(), readme)
        if not path.exists() or path.read_text() != page:
            path.write_text(page)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", _write_pages)
    app.add_directive("folder-readmes", FolderReadmes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
