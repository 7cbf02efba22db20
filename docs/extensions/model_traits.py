"""Sphinx extension: the traits of a contact model, from the compiled table of models.

    ```{model-traits} coulomb
    ```

shows a table with the kind of the model, what it accepts, the options that only some models read, and
what it gets wrong by design.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from stiction.inputs.names import contact_model_traits, contact_models
from stiction.setup.options import OPTIONS

# Read now: the stub of the compiled module, from which the reference is made, cannot answer later.
_TRAITS = {name: contact_model_traits(name) for name in contact_models()}
# Its step is a sequence of convex problems, which no trait says.
_COUPLED = "coulomb"
_FEW = 6  # models that read an option of their own; all compliant models read the others


class ModelTraits(SphinxDirective):
    required_arguments = 1  # name of a contact model

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        if name not in _TRAITS:
            raise self.error(f"there is no contact model '{name}'; there are {', '.join(_TRAITS)}")
        rows = "\n".join(f"| {key} | {value} |" for key, value in list_traits(name))
        return self.parse_text_to_nodes(f"| trait | `{name}` |\n|---|---|\n{rows}")


def list_traits(name: str) -> list[tuple[str, str]]:
    """Returns the rows of the table of a model: what a row is about, and its text in Markdown."""
    traits = _TRAITS[name]
    special = [
        f"[`{option.name}`](#option-{option.name.replace('_', '-')})"
        for option in OPTIONS.values()
        if name in option.contact_models and len(option.contact_models) < _FEW
    ]
    rows = [
        ("kind", _describe_kind(name)),
        ("contact with pressure fields", "in patches" if traits.takes_patches else "in points"),
        ("bound on the solver's error", _describe_bound(name)),
        ("options of its own", ", ".join(special) or "none"),
        ("what sticks", _describe_stiction(name)),
        ("wrong by design besides", traits.limitation or "nothing"),
    ]
    return [(key, value.replace("|", r"\|")) for key, value in rows]


def _describe_kind(name: str) -> str:
    traits = _TRAITS[name]
    if traits.is_mj_step:
        return "MuJoCo's own step"
    if traits.is_rigid:
        return "rigid: a complementarity problem"
    if name == _COUPLED:
        return "compliant; a sequence of convex problems"
    return "compliant and convex" if traits.has_error_bound else "compliant and implicit"


def _describe_stiction(name: str) -> str:
    traits = _TRAITS[name]
    if traits.takes_anchors:
        return '[creeps](../creep.md), but not with `friction_law="elastic"`'
    if traits.has_viscous_friction:
        return "nothing: friction is viscous"
    return "has no slip tolerance" if traits.is_rigid else "[creeps](../creep.md)"


def _describe_bound(name: str) -> str:
    if name == _COUPLED:
        return "yes, of its last convex problem: for the friction bounds that the step found"
    return "yes" if _TRAITS[name].has_error_bound else "none"


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("model-traits", ModelTraits)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
