"""The cases of a comparison: the contact models, and MuJoCo's own with its remedies against creep."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Sequence

from stiction import contact_models
from stiction._core import contact_model_traits
from stiction.errors import Error
from stiction.inputs.names import label_model
from stiction.inputs.suggestions import suggest_name
from stiction.scene import Scene
from stiction.setup.options import DEFAULTS

# MuJoCo's documentation has two remedies against creep: a larger impratio, up to 100, and the noslip
# solver. The noslip solver ends earlier if it converges to the model's noslip_tolerance.
_IMPRATIO_FACTORS = (10, 100)
_NOSLIP_ITERATIONS = 10


@dataclasses.dataclass(frozen=True)
class Case:
    """One case of a comparison. None for an option of MuJoCo keeps the scene's own.

    label: the name, followed by 'own friction' if the model refuses the friction law of the
        comparison, and by 'impratio 10', 'noslip' or the like if these are not the scene's own.
    accuracy: the accuracy of Simulator.advance [m]; None for steps of one length.
    """

    contact_model: str
    label: str
    impratio: float | None = None
    noslip_iterations: int | None = None
    accuracy: float | None = None

    @property
    def is_mj_step(self) -> bool:
        """True if MuJoCo's mj_step makes the steps, which reads impratio and is not certified."""
        return contact_model_traits(self.contact_model).is_mj_step

    def apply_to(self, scene: Scene) -> Scene:
        """Returns the scene with this case's options of MuJoCo; the given scene is not changed."""
        options = {"impratio": self.impratio, "noslip_iterations": self.noslip_iterations}
        changes = {name: value for name, value in options.items() if value is not None}
        if not changes:
            return scene
        model = copy.copy(scene.model)
        for name, value in changes.items():
            setattr(model.opt, name, value)
        return dataclasses.replace(scene, model=model)


def make_cases(
    scene: Scene,
    names: Sequence[str] | None = None,
    accuracy: float | None = None,
    friction_law: str = DEFAULTS["friction_law"],
) -> list[Case]:
    """Makes the cases of contact models, or of all; with an accuracy, also those that advance."""
    cases: list[Case] = []
    for name in dict.fromkeys(names or contact_models()):
        if name not in contact_models():
            raise Error(
                "unknown_name",
                "contact_model",
                f"no contact model '{name}' {suggest_name(name, contact_models())}",
            )
        label = label_model(name, friction_law)
        case = Case(name, label)
        cases += _add_remedies(case, scene) if case.is_mj_step else [case]
        if accuracy is not None and contact_model_traits(name).can_advance:
            cases.append(Case(name, f"{label} {accuracy:g} m", accuracy=accuracy))
    return cases


def _add_remedies(case: Case, scene: Scene) -> list[Case]:
    """Returns the case with the scene's own options, and with MuJoCo's remedies against creep."""
    own = scene.model.opt
    values = [factor * float(own.impratio) for factor in _IMPRATIO_FACTORS]
    cases = [case, *(_set_impratio(case, value) for value in values)]
    if own.noslip_iterations > 0:
        return cases
    return [*cases, *(_add_noslip(each) for each in (case, cases[-1]))]


def _set_impratio(case: Case, impratio: float) -> Case:
    label = f"{case.label} impratio {impratio:g}"
    return dataclasses.replace(case, label=label, impratio=impratio)


def _add_noslip(case: Case) -> Case:
    label = f"{case.label} noslip"
    return dataclasses.replace(case, label=label, noslip_iterations=_NOSLIP_ITERATIONS)
