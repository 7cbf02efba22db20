"""Sphinx extension: tables of contents list classes and functions, but no members of classes."""

from __future__ import annotations

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx


def _leave_out_members(app: Sphinx, document: nodes.document) -> None:
    for description in document.findall(addnodes.desc):
        for member in description.findall(addnodes.desc):
            if member is not description:
                member["no-contents-entry"] = True


def setup(app: Sphinx) -> dict[str, bool]:
    # This must run before the collector of contents reads the document.
    app.connect("doctree-read", _leave_out_members, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
