"""The treatment of arguments by Simulator and Batch before they step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import mujoco

from stiction._core import ContactProperties, contact_model_traits
from stiction.binding._load import warn_of_faults
from stiction.errors import IgnoredSettingWarning, StictionWarning, warn
from stiction.inputs.arguments import check_model_type
from stiction.inputs.custom_text import PROPERTIES, read_text
from stiction.setup.defaults import NOT_GIVEN, get_chosen_defaults
from stiction.setup.options import DEFAULTS, check_options
from stiction.setup.properties import PropertiesLike, make_properties


@dataclass(frozen=True)
class StepSetup:
    """The checked arguments of a Simulator or Batch; `chosen` are given, or chosen by set_default."""

    chosen: dict[str, Any]
    properties: ContactProperties | None

    @classmethod
    def make(
        cls,
        model: mujoco.MjModel,
        contact_model: str,
        properties: PropertiesLike,
        options: Mapping[str, Any],
    ) -> Self:
        """Checks the arguments, and warns of a model that will not give what it seems to promise."""
        check_model_type(model)
        made = make_properties(properties)
        given = {} if contact_model is NOT_GIVEN else {"contact_model": contact_model}
        chosen = check_options({**get_chosen_defaults(), **given, **options})
        name: Any = chosen.get("contact_model", DEFAULTS["contact_model"])
        if contact_model_traits(name).is_mj_step:
            warn_of_faults(model)
        elif properties is None:
            _warn_of_custom_text(model)
        return cls(chosen, made)

    def warn_of_ignored(self, settings: Iterable[str], options: Mapping[str, Any]) -> None:
        """Warns of settings that the contact model ignores, and of other options without effect."""
        for text in [*settings, *self._find_replaced_laws(options)]:
            warn(IgnoredSettingWarning(text))

    def _find_replaced_laws(self, options: Mapping[str, Any]) -> list[str]:
        """Describes each law of the contact properties that an option replaces."""
        content = {} if self.properties is None else self.properties.content
        return [
            f"the {name} of the contact properties has no effect, because the argument {name} is "
            f"{options[name]!r}; remove one of them"
            for name in ("normal_law", "friction_law")
            if name in content and isinstance(options[name], str)
        ]


def _warn_of_custom_text(model: mujoco.MjModel) -> None:
    """Warns if the scene names properties, as a compiled model does not have its file's folder."""
    if (text := read_text(model, PROPERTIES)) is not None:
        warn(
            StictionWarning(
                f"the scene names the contact properties '{text}', but a Simulator of a compiled model "
                "does not read them; use stiction.load_scene(path).make_simulator(), or give properties="
            )
        )
