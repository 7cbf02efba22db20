"""The cases of a comparison: the contact models, and MuJoCo's own with three values of impratio."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Sequence

from stiction import contact_models
from stiction._core import contact_model_traits
from stiction.errors import Error
from stiction.names import label_model
from stiction.options import DEFAULTS
from stiction.scene import Scene
from stiction.suggestions import suggest_name

# MuJoCo's documentation recommends a larger impratio, up to 100, to reduce creep.
_IMPRATIO_FACTORS = (1, 10, 100)


@dataclasses.dataclass(frozen=True)
class Case:
    """One case of a comparison.

    contact_model: name of the contact model.
    label: the name, followed by 'own friction' if the model refuses the friction law of the
        comparison, and by 'impratio 10' or the like if impratio is not the scene's own.
    impratio: MuJoCo's ratio of frictional to normal impedance, which only 'mujoco' reads [-]; None
        keeps the scene's own.
    accuracy: the accuracy of Simulator.advance [m]; None for steps of one length.
    """

    contact_model: str
    label: str
    impratio: float | None = None
    accuracy: float | None = None

    @property
    def is_mj_step(self) -> bool:
        """True if MuJoCo's mj_step makes the steps, which reads impratio and is not certified."""
        return contact_model_traits(self.contact_model).is_mj_step

    def apply_to(self, scene: Scene) -> Scene:
        """Returns the scene with this case's impratio; the given scene is not changed."""
        if self.impratio is None:
            return scene
        model = copy.copy(scene.model)
        model.opt.impratio = self.impratio
        return dataclasses.replace(scene, model=model)


def make_cases(
    scene: Scene,
    names: Sequence[str] | None = None,
    accuracy: float | None = None,
    friction_law: str = DEFAULTS["friction_law"],
) -> list[Case]:
    """Makes the cases of the named contact models, or of all.

    With an accuracy, each model with which a simulator can advance has a second case, under error
    control. Models that refuse the friction law have their own friction, which their labels say.

    Raises:
        Error: a name is not that of a contact model.
    """
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
        cases += _vary_impratio(case, scene) if case.is_mj_step else [case]
        if accuracy is not None and contact_model_traits(name).can_advance:
            cases.append(Case(name, f"{label} {accuracy:g} m", accuracy=accuracy))
    return cases


def _vary_impratio(case: Case, scene: Scene) -> list[Case]:
    """Returns the case with the scene's own impratio, and with each factor of it."""
    own = float(scene.model.opt.impratio)
    cases = [case]
    for factor in _IMPRATIO_FACTORS[1:]:
        impratio = factor * own
        label = f"{case.label} impratio {impratio:g}"
        cases.append(Case(case.contact_model, label, impratio))
    return cases
