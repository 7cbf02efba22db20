"""The options of a step: names, types, values and documentation, from the compiled table.

The table is src/stiction/sim/options/option_table.cpp. An option that has a row there is an argument of
stiction.Simulator, with its type, default and documentation, and a setting of the commands.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from stiction._core import contact_models, list_options, resolve_friction_law
from stiction.inputs.arguments import check_flag, check_integer, check_name, check_number
from stiction.inputs.names import suggest_name
from stiction.laws import check_law

Value = bool | int | float | str | dict[str, Any] | None

# The options that may be tables, and the classes of these.
_LAWS = {"normal_law": "NormalLaw", "friction_law": "FrictionLaw"}


@dataclass(frozen=True)
class Option:
    """An option of a step.

    range: the values that it may have, in words, such as 'in (0, 1)'.
    choices: the names that a choice may have; empty for other kinds.
    help: sentences that say what the option is, without range, unit, default and models.
    """

    name: str
    kind: Literal["number", "integer", "flag", "choice"]
    is_optional: bool
    default: Value
    unit: str
    range: str
    choices: list[str]
    contact_models: list[str]
    help: str

    @property
    def type(self) -> str:
        """The type of its values as an annotation, such as 'float | None'."""
        if law := _LAWS.get(self.name):
            return f"str | {law} | Mapping[str, Any]"
        name = {"number": "float", "integer": "int", "flag": "bool", "choice": "str"}[self.kind]
        return f"{name} | None" if self.is_optional else name

    def check_type(self, value: Any) -> Value:
        """Returns a value as Python's own type, or raises Error. The compiled module checks its range."""
        if value is None and self.is_optional:
            return None
        if self.name in _LAWS:
            return check_law(self.name, value)
        checks: dict[str, Callable[[], Value]] = {
            "number": lambda: check_number(self.name, value),
            "integer": lambda: check_integer(self.name, value, wanted=self.range),
            "flag": lambda: check_flag(self.name, value),
            "choice": lambda: check_name(self.name, value),
        }
        return checks[self.kind]()

    def describe_values(self) -> str:
        """Returns sentences on range, default and contact models, after the help."""
        none = "None, or " if self.is_optional else ""
        table = f", or a stiction.{law}" if (law := _LAWS.get(self.name)) else ""
        text = f"Must be {none}{self.range}{table}; the default is {self.default}."
        if len(self.contact_models) < len(contact_models()):
            text += f" These contact models read it: {', '.join(self.contact_models)}."
        return text


OPTIONS: dict[str, Option] = {row["name"]: Option(**row) for row in list_options()}

# The default of each option; Any, so that it can be the default of an argument.
DEFAULTS: dict[str, Any] = {option.name: option.default for option in OPTIONS.values()}


def check_options(given: Mapping[str, Any]) -> dict[str, Value]:
    """Returns options as Python's own types. TypeError: there is no option of a name."""
    for name in given:
        if name not in OPTIONS:
            raise TypeError(f"there is no option '{name}' {suggest_name(name, list(OPTIONS))}")
    return {name: OPTIONS[name].check_type(value) for name, value in given.items()}


def make_parameters() -> list[inspect.Parameter]:
    """Makes the parameters of a signature: the contact model, and all others by keyword."""
    return [
        inspect.Parameter(
            option.name,
            inspect.Parameter.POSITIONAL_OR_KEYWORD
            if option.name == "contact_model"
            else inspect.Parameter.KEYWORD_ONLY,
            default=option.default,
            annotation=option.type,
        )
        for option in OPTIONS.values()
    ]


def describe_options(indent: int) -> str:
    """Describes all options as entries of a docstring, without the indent of the first line."""
    prefix = " " * indent
    entries = [
        textwrap.fill(
            f"{option.name}: {option.help} {option.describe_values()}",
            width=100,
            initial_indent=prefix,
            subsequent_indent=prefix + "    ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for option in OPTIONS.values()
    ]
    return "\n".join(entries).lstrip()


def find_defaults(contact_model: str) -> dict[str, Any]:
    """Returns the defaults under a contact model, with the law that 'automatic' stands for."""
    law = resolve_friction_law(contact_model, DEFAULTS["friction_law"])
    return {**DEFAULTS, "friction_law": law}


def describe_setup(model: Any, options: Mapping[str, Any], time_step: float) -> str:
    """Returns what steps a model, for a representation: sizes, and the options that were chosen."""
    chosen = {"contact_model": options["contact_model"], "time_step": time_step}
    defaults = find_defaults(options["contact_model"])
    for name, value in options.items():
        if name in defaults and value != defaults[name]:
            chosen.setdefault(name, value)
    texts = (f"{name}={value!r}" for name, value in chosen.items())
    return f"<{model.nbody - 1} bodies, {model.nv} dofs>, {', '.join(texts)}"
