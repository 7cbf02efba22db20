"""Sphinx extension: the directive {options} lists the options of a step from the compiled table."""

from __future__ import annotations

from collections.abc import Iterable

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

from stiction import rigid_contact_models
from stiction.inputs.names import find_compliant_models
from stiction.setup.options import OPTIONS, Option


class Options(Directive):
    """A section for each group of contact models, with a term for each option that they read."""

    def run(self) -> list[nodes.Node]:
        return [self._make_section(title, options) for title, options in group_options().items()]

    def _make_section(self, title: str, options: list[Option]) -> nodes.section:
        section = nodes.section(
            ids=[nodes.make_id(title)], names=[nodes.fully_normalize_name(title)]
        )
        section += [nodes.title(text=title), make_list(options)]
        self.state.document.note_implicit_target(section)
        for term in section.findall(nodes.term):  # so that pages can link to an option
            self.state.document.note_explicit_target(term)
        return section


def group_options() -> dict[str, list[Option]]:
    """Returns the options by the kind of the contact models that read them."""
    compliant, rigid = set(find_compliant_models()), set(rigid_contact_models())
    groups: dict[str, list[Option]] = {
        "All models": [],
        "Compliant models": [],
        "Rigid models": [],
        "Models of both kinds": [],
    }
    for option in OPTIONS.values():
        models = set(option.contact_models)
        if models >= (compliant | rigid) - {"mujoco"}:
            groups["All models"].append(option)
        elif models <= compliant:
            groups["Compliant models"].append(option)
        elif models <= rigid:
            groups["Rigid models"].append(option)
        else:
            groups["Models of both kinds"].append(option)
    return groups


def make_list(options: Iterable[Option]) -> nodes.definition_list:
    """Makes a definition list of options."""
    return nodes.definition_list("", *map(_describe, options))


def _describe(option: Option) -> nodes.definition_list_item:
    name = nodes.literal(text=option.name)
    label = f"option-{option.name.replace('_', '-')}"
    term = nodes.term("", "", name, ids=[label], names=[label])
    text = nodes.paragraph(text=f"{option.help} {option.describe_values()}")
    return nodes.definition_list_item("", term, nodes.definition("", text))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("options", Options)
    return {"parallel_read_safe": True}
