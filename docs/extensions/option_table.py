"""Sphinx extension: the directive {options} lists the options of a step from the compiled table."""

from __future__ import annotations

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

from stiction.options import OPTIONS, Option


class Options(Directive):
    """A definition list: a term for each option, and its documentation."""

    def run(self) -> list[nodes.Node]:
        options = make_list()
        for term in options.findall(nodes.term):  # so that pages can link to an option
            self.state.document.note_explicit_target(term)
        return [options]


def make_list() -> nodes.definition_list:
    """Makes the definition list of all options."""
    return nodes.definition_list("", *(_describe(option) for option in OPTIONS.values()))


def _describe(option: Option) -> nodes.definition_list_item:
    name = nodes.literal(text=option.name)
    label = f"option-{option.name.replace('_', '-')}"
    term = nodes.term("", "", name, ids=[label], names=[label])
    text = nodes.paragraph(text=f"{option.help} {option.describe_values()}")
    return nodes.definition_list_item("", term, nodes.definition("", text))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("options", Options)
    return {"parallel_read_safe": True}
