"""Sphinx extension: a page for the README of each folder of src/stiction.

    ```{folder-readmes}
    ```

is their table of contents, in the order of the layers. The pages are written to architecture/generated,
and include the READMEs.
"""

from __future__ import annotations

import sys
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from check_layers import LAYERS  # noqa: E402

_FOLDER = "architecture/generated"


def list_folders() -> list[str]:
    """Returns the folders that have a README, in the order of the layers."""
    return [name for name in LAYERS if _find_readme(name).exists()]


def _find_readme(folder: str) -> Path:
    return ROOT / "src" / "stiction" / folder / "README.md"


class FolderReadmes(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        entries = "\n".join(f"{name} </{_FOLDER}/{name}>" for name in list_folders())
        return self.parse_text_to_nodes(f"```{{toctree}}\n{entries}\n```")


def _write_pages(app: Sphinx) -> None:
    folder = app.srcdir / _FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    pages = {folder / f"{name}.md": _make_page(name) for name in list_folders()}
    for path in set(folder.glob("*.md")) - set(pages):
        path.unlink()
    for path, page in pages.items():
        if not path.exists() or path.read_text() != page:
            path.write_text(page)


def _make_page(folder: str) -> str:
    options = ":relative-docs: ..\n:relative-images:"
    return f"```{{include}} ../../../src/stiction/{folder}/README.md\n{options}\n```\n"


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", _write_pages)
    app.add_directive("folder-readmes", FolderReadmes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
