"""What is compared: contact models, MuJoCo's at three ratios of impedance."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Sequence

from stiction import contact_models
from stiction.errors import Error
from stiction.names import suggest_name
from stiction.scene import Scene

# MuJoCo's own remedy against creep is a larger impratio; its documentation advises up to 100.
_IMPRATIO_FACTORS = (1, 10, 100)


@dataclasses.dataclass(frozen=True)
class Case:
    """One row of a comparison.

    contact_model: its name.
    label: the name, with 'impratio 10' where that is not the scene's own.
    impratio: of 'mujoco', which alone reads it [-]; None: the scene's own.
    """

    contact_model: str
    label: str
    impratio: float | None = None

    def apply_to(self, scene: Scene) -> Scene:
        """The scene as this case wants it; the scene given stays as it is."""
        if self.impratio is None:
            return scene
        model = copy.copy(scene.model)
        model.opt.impratio = self.impratio
        return dataclasses.replace(scene, model=model)


def make_cases(scene: Scene, names: Sequence[str] | None = None) -> list[Case]:
    """The cases of some contact models, or of all.

    Raises:
        Error: a name that is none.
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
