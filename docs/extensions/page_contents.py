"""Sphinx extension: a list of contents below the title, where the theme hides its own at the side.

The theme shows the contents beside the text on screens from 82em on. Long pages get the same list in the
text, which docs/static/layout.css shows on narrower screens.
"""

from __future__ import annotations

from typing import Any

from bs4 import BeautifulSoup, Tag
from docutils import nodes
from sphinx.application import Sphinx

_MIN_ENTRIES = 2
_LONG = 1500  # characters of text; a phone shows some 700 at once
_MAX_LEVELS = 2


def _insert_contents(
    app: Sphinx, name: str, template: str, context: dict[str, Any], document: nodes.document | None
) -> None:
    if document is None or not context.get("toc") or len(document.astext()) < _LONG:
        return
    title, found, rest = context["body"].partition("</h1>")
    entries = make_contents(context["toc"])
    if found and entries:
        context["body"] = f"{title}{found}\n{entries}{rest}"


def make_contents(toc: str) -> str:
    """Returns a list of the sections of a page, or an empty text if there are too few.

    Args:
        toc: the contents as Sphinx makes them: one entry for the page, with its sections below.
    """
    soup = BeautifulSoup(toc, "html.parser")
    sections = soup.select_one("ul > li > ul")
    if sections is None or len(sections.find_all("a")) < _MIN_ENTRIES:
        return ""
    for deep in sections.select(":scope" + " ul" * _MAX_LEVELS):
        if isinstance(deep, Tag):
            deep.decompose()
    return (
        '<nav class="page-contents" aria-label="On this page"><p>On this page</p>'
        f"{sections}</nav>\n"
    )


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", _insert_contents)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
