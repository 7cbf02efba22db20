"""Options that commands share, and their values from text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from stiction import Error, contact_models
from stiction._core import check_option
from stiction.inputs.seconds import parse_seconds
from stiction.inputs.suggestions import suggest_name
from stiction.runs.controls import ControlsName
from stiction.setup.options import OPTIONS


def parse_time(text: str) -> float:
    """Returns the seconds of a time such as '0.002', '2ms', '5 s' or '1min'.

    Raises:
        typer.BadParameter: the text is not a time, or the time is not finite and above 0.
    """
    try:
        return parse_seconds(str(text))
    except ValueError as e:
        raise typer.BadParameter(str(e)) from e


def make_scenes_check(known: Sequence[str]) -> Callable[[list[str] | None], list[str]]:
    """Returns a callback that accepts only these names of scenes, and takes all for none."""

    def check(names: list[str] | None) -> list[str]:
        for name in names or ():
            if name not in known:
                raise typer.BadParameter(f"no scene '{name}' {suggest_name(name, known)}")
        return list(names or known)

    return check


def _check_name(kind: str, names: list[str]) -> Callable[[str], str]:
    """Returns a callback that accepts only these names."""

    def check(name: str) -> str:
        if name not in names:
            raise typer.BadParameter(f"no {kind} '{name}' {suggest_name(name, names)}")
        return name

    return check


_check_contact_model = _check_name("contact model", contact_models())


def _check_contact_models(names: list[str] | None) -> list[str] | None:
    for name in names or ():
        _check_contact_model(name)
    return names or None


def _check_range(name: str) -> Callable[[float], float]:
    """Returns a callback that accepts only values in the range of an option."""

    def check(value: float) -> float:
        try:
            check_option(name, value)
        except Error as e:
            raise typer.BadParameter(f"is {value}, must be {OPTIONS[name].range}") from e
        return value

    return check


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
_SETTINGS = [name for name in OPTIONS if name not in _NOT_SETTINGS]


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
    """Returns Setting('gap_correction', 0.2) for 'gap_correction=0.2', by the kind of the option.

    Raises:
        typer.BadParameter: the text is not NAME=VALUE, no option has the name, or the value is not
            of the option's kind.
    """
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals:
        raise typer.BadParameter(f"'{text}' is not NAME=VALUE")
    if name not in OPTIONS:
        raise typer.BadParameter(f"no setting '{name}' {suggest_name(name, _SETTINGS)}")
    parse, wanted = _PARSERS[OPTIONS[name].kind]
    try:
        return Setting(name, parse(value))
    except (KeyError, ValueError) as e:
        raise typer.BadParameter(f"{name} is '{value}', must be {wanted}") from e


def _check_settings(context: typer.Context, settings: list[Setting] | None) -> list[Setting] | None:
    """Refuses options that have an argument of their own, or that the command chooses itself."""
    arguments = {parameter.name for parameter in context.command.params}
    for name, value in settings or ():
        if name in arguments:
            argument = f"--{name.replace('_', '-')} {str(value).removesuffix('.0')}"
            raise typer.BadParameter(f"'{name}' has its own argument; write {argument}")
        if name not in _SETTINGS:
            raise typer.BadParameter(
                f"'{name}' cannot be set, because the command chooses it; "
                "set it in Python, as an argument of stiction.Simulator"
            )
    return settings


def _choice(name: str) -> Any:
    """Returns the argument of a command for an option whose values are names."""
    option = OPTIONS[name]
    few = len(option.contact_models) < len(contact_models())
    readers = f" These contact models read it: {', '.join(option.contact_models)}." if few else ""
    return typer.Option(
        callback=_check_name(name.replace("_", " "), option.choices),
        autocompletion=lambda incomplete: [c for c in option.choices if c.startswith(incomplete)],
        metavar="NAME",
        help=f"{option.help} One of {', '.join(option.choices)}.{readers}",
    )


def make_models_option(default: str) -> Any:
    """Returns the option --contact-model of a command that runs several models.

    Args:
        default: the models that the command runs if none is given, as text for its help.
    """
    return typer.Option(
        "--contact-model",
        callback=_check_contact_models,
        autocompletion=lambda incomplete: [c for c in contact_models() if c.startswith(incomplete)],
        metavar="NAME",
        help=f"May be given several times. The default is {default}. "
        f"One of {', '.join(contact_models())}.",
    )


ContactModel = Annotated[str, _choice("contact_model")]
Integrator = Annotated[str, _choice("integrator")]
NormalLaw = Annotated[str, _choice("normal_law")]
FrictionLaw = Annotated[str, _choice("friction_law")]
Tessellation = Annotated[str, _choice("tessellation")]
Quadrature = Annotated[str, _choice("quadrature")]
Duration = Annotated[
    float | None,
    typer.Option(
        parser=parse_time,
        metavar="TIME",
        help="Simulated time: 5s, 1min, ... The default is the end of the scene's schedule, or 2s.",
    ),
]
TimeStep = Annotated[
    float | None,
    typer.Option(
        parser=parse_time, metavar="TIME", help="2ms, 1e-3, ... The default is the scene's own."
    ),
]
Accuracy = Annotated[
    float | None,
    typer.Option(
        min=1e-9,
        metavar="METRES",
        help="Largest local error of a step, in metres: steps have lengths that follow from their "
        "errors, see Simulator.advance. The default is steps of one length.",
    ),
]
Period = Annotated[
    float | None,
    typer.Option(
        parser=parse_time,
        metavar="TIME",
        help="Time between two controls with --accuracy. The default is 10 time steps.",
    ),
]
Tolerance = Annotated[
    float, typer.Option(callback=_check_range("tolerance"), help=OPTIONS["tolerance"].help)
]
Controls = Annotated[
    ControlsName | None,
    typer.Option(
        help="Zero, random, the first keyframe's, or the scene's schedule. The default is the last "
        "of these that the scene has, or zero."
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of random controls.")]
NumThreads = Annotated[
    int, typer.Option(callback=_check_range("num_threads"), help=OPTIONS["num_threads"].help)
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object in place of text.")]
Properties = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Contact properties, in place of those that the scene names."
    ),
]
Settings = Annotated[
    list[Setting] | None,
    typer.Option(
        "--set",
        parser=parse_setting,
        callback=_check_settings,
        metavar="NAME=VALUE",
        help=f"Options of stiction.Simulator; may be given several times. {', '.join(_SETTINGS)}.",
    ),
]
SceneFile = Annotated[
    Path,
    typer.Argument(
        help="MJCF or URDF file, or the name of a scene of the package, such as 'spatula'.",
        metavar="SCENE",
    ),
]
