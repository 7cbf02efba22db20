"""The cases of a comparison: the contact models, and MuJoCo's own with three values of impratio."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Sequence

from stiction import contact_models
from stiction.errors import Error
from stiction.names import suggest_name
from stiction.scene import Scene

# MuJoCo's documentation recommends a larger impratio, up to 100, to reduce creep.
_IMPRATIO_FACTORS = (1, 10, 100)


@dataclasses.dataclass(frozen=True)
class Case:
    """One case of a comparison.

    contact_model: name of the contact model.
    label: the name, followed by 'impratio 10' or the like if impratio is not the scene's own.
    impratio: MuJoCo's ratio of frictional to normal impedance, which only 'mujoco' reads [-]; None
        keeps the scene's own.
    """

    contact_model: str
    label: str
    impratio: float | None = None

    def apply_to(self, scene: Scene) -> Scene:
        """Returns the scene with this case's impratio; the given scene is not changed."""
        if self.impratio is None:
            return scene
        model = copy.copy(scene.model)
        model.opt.impratio = self.impratio
        return dataclasses.replace(scene, model=model)


def make_cases(scene: Scene, names: Sequence[str] | None = None) -> list[Case]:
    """Makes the cases of the named contact models, or of all.

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
        cases += _make_mujoco_cases(scene) if name == "mujoco" else [Case(name, name)]
    return cases


def _make_mujoco_cases(scene: Scene) -> list[Case]:
    own = float(scene.model.opt.impratio)
    cases = [Case("mujoco", "mujoco")]
    for factor in _IMPRATIO_FACTORS[1:]:
        impratio = factor * own
        cases.append(Case("mujoco", f"mujoco impratio {impratio:g}", impratio))
    return cases
