"""Options that commands share, and their values from text."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from stiction import (
    contact_models,
    friction_laws,
    integrators,
    normal_laws,
    quadratures,
    tessellations,
)
from stiction.controls import ControlsName
from stiction.names import suggest_name
from stiction.simulator import Simulator

_SECONDS = {
    "": 1.0,
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "min": 60.0,
    "h": 3600.0,
}


def parse_time(text: str) -> float:
    """Seconds from '0.002', '2ms', '5 s', '1min'.

    Raises typer.BadParameter.
    """
    match = re.fullmatch(r"\s*([-+]?[\d.]+(?:[eE][-+]?\d+)?)\s*([a-zA-Zµ]*)\s*", str(text))
    try:
        seconds = float(match[1]) * _SECONDS[match[2]] if match else math.nan
    except (ValueError, KeyError):
        seconds = math.nan
    if math.isnan(seconds):
        units = ", ".join(unit for unit in _SECONDS if unit)
        raise typer.BadParameter(
            f"'{text}' is not a time; write a number of seconds, or one with a unit ({units})"
        )
    if not 0 < seconds < math.inf:
        raise typer.BadParameter(f"'{text}' is not a finite time above 0")
    return seconds


def _check_name(kind: str, names: list[str]) -> Callable[[str], str]:
    """A callback that takes one of these names."""

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


def _check_tolerance(value: float) -> float:
    if not 0 < value < 1:
        raise typer.BadParameter(f"{value} is not between 0 and 1")
    return value


_SETTINGS = (
    "friction_directions",
    "gap_correction",
    "max_correction_speed",
    "drop_separating",
    "lcp_solver",
    "stiction_tolerance",
    "friction_regularization",
    "near_rigid_factor",
    "max_iterations",
)
_DEFAULTS = inspect.signature(Simulator.__init__).parameters


class Setting(NamedTuple):
    """An argument of Simulator."""

    name: str
    value: bool | int | float | str


def parse_setting(text: str) -> Setting:
    """Setting('gap_correction', 0.2) from 'gap_correction=0.2', typed as Simulator's default is.

    Raises typer.BadParameter.
    """
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals:
        raise typer.BadParameter(f"'{text}' is not NAME=VALUE")
    if name not in _SETTINGS:
        raise typer.BadParameter(f"no setting '{name}' {suggest_name(name, _SETTINGS)}")
    kind = type(_DEFAULTS[name].default)
    try:
        return Setting(name, {"true": True, "false": False}[value] if kind is bool else kind(value))
    except (KeyError, ValueError) as e:
        wanted = {bool: "true or false", int: "an integer", float: "a number"}[kind]
        raise typer.BadParameter(f"{name} is {wanted}, not '{value}'") from e


ContactModel = Annotated[
    str,
    typer.Option(
        callback=_check_contact_model, metavar="NAME", help=f"{', '.join(contact_models())}."
    ),
]
ContactModels = Annotated[
    list[str] | None,
    typer.Option(
        "--contact-model",
        callback=_check_contact_models,
        metavar="NAME",
        help=f"May be given several times; default: all; of a study those it is about. "
        f"{', '.join(contact_models())}.",
    ),
]
Integrator = Annotated[
    str,
    typer.Option(
        callback=_check_name("integrator", integrators()),
        metavar="NAME",
        help=f"{', '.join(integrators())}: the second of rigid models, the last of viscous.",
    ),
]
NormalLaw = Annotated[
    str,
    typer.Option(
        callback=_check_name("normal law", normal_laws()),
        metavar="NAME",
        help=f"Of lagged, lagged_regularized, similar and coulomb: {', '.join(normal_laws())}.",
    ),
]
FrictionLaw = Annotated[
    str,
    typer.Option(
        callback=_check_name("friction law", friction_laws()),
        metavar="NAME",
        help=f"How friction rises with slip, of the same: {', '.join(friction_laws())}.",
    ),
]


Tessellation = Annotated[
    str,
    typer.Option(
        callback=_check_name("tessellation", tessellations()),
        metavar="NAME",
        help=f"Faces of pressure-field contact: {', '.join(tessellations())}.",
    ),
]
Quadrature = Annotated[
    str,
    typer.Option(
        callback=_check_name("quadrature", quadratures()),
        metavar="NAME",
        help=f"Points of these faces: {', '.join(quadratures())}.",
    ),
]
Duration = Annotated[
    float | None,
    typer.Option(
        parser=parse_time,
        metavar="TIME",
        help="Simulated time: 5s, 1min, ...; else to the end of the scene's schedule, or 2s.",
    ),
]
TimeStep = Annotated[
    float | None,
    typer.Option(parser=parse_time, metavar="TIME", help="2ms, 1e-3, ...; else the scene's own."),
]
Tolerance = Annotated[
    float, typer.Option(callback=_check_tolerance, help="Relative, of the convex models.")
]
Controls = Annotated[
    ControlsName | None,
    typer.Option(
        help="Zero, random, the first keyframe's, or the scene's schedule; default: the last of "
        "these that the scene has, else zero."
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="Of random controls.")]
NumThreads = Annotated[
    int, typer.Option(min=1, help="That share a step; results do not depend on it.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object in place of text.")]
Properties = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Contact properties, in place of those the scene names."),
]
Settings = Annotated[
    list[Setting] | None,
    typer.Option(
        "--set",
        parser=parse_setting,
        metavar="NAME=VALUE",
        help="Arguments of stiction.Simulator; may be given several times. "
        f"{', '.join(_SETTINGS)}.",
    ),
]
SceneFile = Annotated[Path, typer.Argument(help="MJCF or URDF file.", metavar="SCENE")]
