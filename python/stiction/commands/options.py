"""The options that commands share: each is defined here once, alone or in a group.

A group is a dataclass. `app.command` gives a command the fields of a group as options, and calls it with
the group:

    @app.command()
    def run(scene: SceneFile, *, laws: Laws, how: RunOptions, as_json: Json = False) -> int: ...
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from stiction import contact_models
from stiction.commands import parsing
from stiction.commands.parsing import Setting
from stiction.inputs.package_scenes import list_scenes
from stiction.runs.controls import ControlsName
from stiction.scene import Scene, load_scene
from stiction.setup.options import DEFAULTS, OPTIONS


def _choice(name: str) -> Any:
    """Returns the argument of a command for an option whose values are names."""
    option = OPTIONS[name]
    few = len(option.contact_models) < len(contact_models())
    readers = f" These contact models read it: {', '.join(option.contact_models)}." if few else ""
    return typer.Option(
        callback=parsing.check_name(name.replace("_", " "), option.choices),
        autocompletion=parsing.complete(option.choices),
        metavar="NAME",
        help=f"{option.help} One of {', '.join(option.choices)}.{readers}",
    )


def make_models_option(default: str) -> Any:
    """Returns --contact-model of a command that runs several models, with the default in words."""
    return typer.Option(
        "--contact-model",
        callback=parsing.check_contact_models,
        autocompletion=parsing.complete(contact_models()),
        metavar="NAME",
        help=f"May be given several times. The default is {default}. "
        f"One of {', '.join(contact_models())}.",
    )


def make_scenes_argument(names: Sequence[str]) -> Any:
    """Returns the argument of a benchmark that runs all of these scenes, or those that are named."""
    return typer.Argument(
        callback=parsing.check_names("scene", names),
        metavar="SCENE",
        help=f"{', '.join(names)}; default: all.",
    )


def make_drake_option(what: str) -> Any:
    """Returns the option --drake, which says what is timed or run of Drake."""
    help = f"{what} too; the default is yes if installed."
    return typer.Option("--drake/--no-drake", help=help)


SceneFile = Annotated[
    Path,
    typer.Argument(
        help="MJCF or URDF file, or the name of a scene of the package, such as 'spatula'.",
        metavar="SCENE",
        autocompletion=lambda incomplete: [n for n in list_scenes() if n.startswith(incomplete)],
    ),
]
RecordingFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="Recording made by `stiction run --record`.")
]
ContactModel = Annotated[str, _choice("contact_model")]
FrictionLaw = Annotated[str, _choice("friction_law")]
TimeStep = Annotated[
    float | None,
    typer.Option(
        parser=parsing.parse_time,
        metavar="TIME",
        help="2ms, 1e-3, ... The default is the scene's own.",
    ),
]
Tolerance = Annotated[
    float, typer.Option(callback=parsing.check_range("tolerance"), help=OPTIONS["tolerance"].help)
]
NumThreads = Annotated[
    int, typer.Option(callback=parsing.check_range("num_threads"), help=OPTIONS["num_threads"].help)
]
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
        parser=parsing.parse_setting,
        callback=parsing.check_settings,
        autocompletion=parsing.complete([f"{name}=" for name in parsing.SETTINGS]),
        metavar="NAME=VALUE",
        help=f"Options of stiction.Simulator; may be given several times. "
        f"{', '.join(parsing.SETTINGS)}.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object in place of text.")]


@dataclass(frozen=True)
class RunOptions:
    """How a scene runs: its time, its controls and what contact reads."""

    time_step: TimeStep = None
    duration: Annotated[
        float | None,
        typer.Option(
            parser=parsing.parse_time,
            metavar="TIME",
            help="Simulated time: 5s, 1min, ... The default is the end of the scene's schedule, or 2s.",
        ),
    ] = None
    controls: Annotated[
        ControlsName | None,
        typer.Option(
            metavar="NAME",
            help="zero, random, keyframe (of the first keyframe) or schedule. The default is the last of "
            "these that the scene has. A schedule is a text of the MJCF's <custom>, which names "
            "keyframes: <text name='stiction_controls' data='open closed lifted'/>; their controls are "
            "reached at their times.",
        ),
    ] = None
    seed: Annotated[int, typer.Option(min=0, help="Seed of random controls.")] = 0
    properties: Properties = None
    settings: Settings = None

    @property
    def options(self) -> dict[str, Any]:
        """The options of --set."""
        return dict(self.settings or ())

    def load(self, scene: Path) -> Scene:
        """Loads a scene with the contact properties that were given."""
        return load_scene(scene, self.properties)


@dataclass(frozen=True)
class Laws:
    """The laws of contact."""

    normal_law: Annotated[str, _choice("normal_law")] = DEFAULTS["normal_law"]
    friction_law: FrictionLaw = DEFAULTS["friction_law"]


@dataclass(frozen=True)
class Methods(Laws):
    """The laws of contact, and how steps and contact surfaces are computed."""

    integrator: Annotated[str, _choice("integrator")] = DEFAULTS["integrator"]
    tessellation: Annotated[str, _choice("tessellation")] = DEFAULTS["tessellation"]
    quadrature: Annotated[str, _choice("quadrature")] = DEFAULTS["quadrature"]


@dataclass(frozen=True)
class Solver:
    """How accurately a step is solved, and by how many threads."""

    tolerance: Tolerance = DEFAULTS["tolerance"]
    num_threads: NumThreads = DEFAULTS["num_threads"]


@dataclass(frozen=True)
class ErrorControl:
    """Steps whose lengths follow from their errors."""

    accuracy: Annotated[
        float | None,
        typer.Option(
            min=1e-9,
            metavar="METRES",
            help="Largest local error of a step, in metres: steps have lengths that follow from "
            "their errors, see Simulator.advance. The default is steps of one length.",
        ),
    ] = None
    period: Annotated[
        float | None,
        typer.Option(
            parser=parsing.parse_time,
            metavar="TIME",
            help="Time between two controls with --accuracy. The default is 10 time steps.",
        ),
    ] = None
