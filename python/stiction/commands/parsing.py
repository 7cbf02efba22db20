"""Values of options from text, and their checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import typer

from stiction import Error, contact_models
from stiction._core import check_option
from stiction.inputs.arguments import parse_seconds
from stiction.inputs.names import suggest_name
from stiction.setup.options import OPTIONS


def parse_time(text: str) -> float:
    """Returns the seconds of a time such as '0.002', '2ms', '5 s' or '1min'."""
    try:
        return parse_seconds(str(text))
    except ValueError as e:
        raise typer.BadParameter(str(e)) from e


def check_name(kind: str, names: Sequence[str]) -> Callable[[str], str]:
    """Returns a callback that accepts only these names."""

    def check(name: str) -> str:
        if name not in names:
            raise typer.BadParameter(f"no {kind} '{name}' {suggest_name(name, names)}")
        return name

    return check


def check_names(kind: str, names: Sequence[str]) -> Callable[[list[str] | None], list[str] | None]:
    """Returns a callback for an option that may be given several times; None if it is not given."""
    check = check_name(kind, names)
    return lambda given: [check(name) for name in given or ()] or None


def check_range(name: str) -> Callable[[float], float]:
    """Returns a callback that accepts only values in the range of an option."""

    def check(value: float) -> float:
        try:
            check_option(name, value)
        except Error as e:
            raise typer.BadParameter(f"is {value}, must be {OPTIONS[name].range}") from e
        return value

    return check


def check_positive(value: float | None) -> float | None:
    """Accepts numbers above 0, and None."""
    if value is not None and not value > 0:
        raise typer.BadParameter(f"is {value:g}, must be above 0")
    return value


# Options that have an argument of their own, or that commands choose themselves.
_NOT_SETTINGS = {
    "contact_model",
    "integrator",
    "time_step",
    "tolerance",
    "num_threads",
    "normal_law",
    "friction_law",
    "tessellation",
    "quadrature",
    "trace",
    "on_failure",
}
SETTINGS = [name for name in OPTIONS if name not in _NOT_SETTINGS]


class Setting(NamedTuple):
    """An argument of Simulator."""

    name: str
    value: bool | int | float | str


_PARSERS: dict[str, tuple[Callable[[str], bool | int | float | str], str]] = {
    "number": (float, "a number"),
    "integer": (int, "an integer"),
    "flag": (lambda text: {"true": True, "false": False}[text], "true or false"),
    "choice": (str, "a name"),
}


def parse_setting(text: str) -> Setting:
    """Returns Setting('gap_correction', 0.2) for 'gap_correction=0.2', by the kind of the option."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals:
        raise typer.BadParameter(f"'{text}' is not NAME=VALUE")
    if name not in OPTIONS:
        raise typer.BadParameter(f"no setting '{name}' {suggest_name(name, list(OPTIONS))}")
    parse, wanted = _PARSERS[OPTIONS[name].kind]
    try:
        return Setting(name, parse(value))
    except (KeyError, ValueError) as e:
        raise typer.BadParameter(f"{name} is '{value}', must be {wanted}") from e


def check_settings(context: typer.Context, settings: list[Setting] | None) -> list[Setting] | None:
    """Refuses options that have an argument of their own, or that the command chooses itself."""
    arguments = {parameter.name for parameter in context.command.params}
    for name, value in settings or ():
        if name in arguments:
            argument = f"--{name.replace('_', '-')} {str(value).removesuffix('.0')}"
            raise typer.BadParameter(f"'{name}' has its own argument; write {argument}")
        if name not in SETTINGS:
            raise typer.BadParameter(
                f"'{name}' cannot be set, because the command chooses it; "
                "set it in Python, as an argument of stiction.Simulator"
            )
    return settings


def complete(names: Sequence[str]) -> Callable[[str], list[str]]:
    """Returns the completion of one of some names."""
    return lambda incomplete: [name for name in names if name.startswith(incomplete)]


check_contact_models = check_names("contact model", contact_models())
