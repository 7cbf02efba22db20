"""Sphinx extension: citations in text become links, as comments and pages write them.

    [castro2023]      the entry of that key on the page with the bibliography
    [theory:sap]      the section whose heading has the label (theory:sap)= before it

The same form stands in C++ comments, docstrings and Markdown. tools/check_links.py checks all of them;
Sphinx warns of those that it renders.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from pybtex.plugin import register_plugin
from pybtex.style.formatting.plain import Style
from pybtex.style.labels import BaseLabelStyle
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

_CITATION = re.compile(r"\[(theory:[a-z0-9-]+|[a-z]+\d{4}[a-z]?)\]")
_VERBATIM = (nodes.literal, nodes.FixedTextElement, nodes.math, nodes.reference, pending_xref)


class KeyLabels(BaseLabelStyle):  # type: ignore[misc]
    """Labels entries by their keys, so that a page shows the key that a comment cites."""

    def format_labels(self, sorted_entries: list[Any]) -> Iterator[str]:
        return (entry.key for entry in sorted_entries)


class KeyedStyle(Style):  # type: ignore[misc]
    default_label_style = KeyLabels


def _is_verbatim(node: nodes.Node | None) -> bool:
    return node is not None and (isinstance(node, _VERBATIM) or _is_verbatim(node.parent))


class LinkCitations(SphinxTransform):
    default_priority = 500

    def apply(self, **kwargs: Any) -> None:
        for text in list(self.document.findall(nodes.Text)):
            if _CITATION.search(text) and not _is_verbatim(text.parent):
                text.parent.replace(text, list(self._split(str(text))))

    def _split(self, text: str) -> Iterator[nodes.Node]:
        """Yields the parts of the text, with a link for each citation."""
        end = 0
        for match in _CITATION.finditer(text):
            yield nodes.Text(text[end : match.start()])
            yield self._make_link(match[1])
            end = match.end()
        yield nodes.Text(text[end:])

    def _make_link(self, key: str) -> pending_xref:
        is_section = key.startswith("theory:")
        domain, kind = ("std", "ref") if is_section else ("cite", "p")
        return pending_xref(
            "",
            nodes.inline("", f"[{key}]"),
            refdoc=self.env.docname,
            refdomain=domain,
            reftype=kind,
            reftarget=key,
            refexplicit=is_section,
            refwarn=True,
        )


def setup(app: Sphinx) -> dict[str, bool]:
    register_plugin("pybtex.style.formatting", "keyed", KeyedStyle)
    app.setup_extension("sphinxcontrib.bibtex")
    app.add_transform(LinkCitations)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
