"""`stiction explain`: the numbers that a contact of two geoms uses, and the source of each."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from stiction.analysis.artifacts.budget import PairBudget, make_budget
from stiction.analysis.artifacts.predictions import Artifacts, is_predicted
from stiction.analysis.artifacts.probe import estimate_operating_point
from stiction.commands.app import app
from stiction.commands.options import ContactModel, Json, Laws, Properties, SceneFile, TimeStep
from stiction.commands.output import Messages, make_console, print_json
from stiction.scene import load_scene
from stiction.setup.options import DEFAULTS, find_defaults
from stiction.simulator import Simulator
from stiction.tables.text_table import make_text_table

_Slip = Annotated[
    float, typer.Option(min=0, help=escape("Slip speed at which artifacts are given [m/s]."))
]
_Load = Annotated[
    float | None,
    typer.Option(
        min=0,
        help=escape(
            "Normal force at which artifacts are given [N]; default: the lighter body's weight."
        ),
    ),
]
_Geom = Annotated[str, typer.Argument(help="Name of a geom, or its id as #ID.", show_default=False)]


@app.command()
def explain(
    scene: SceneFile,
    geom1: _Geom,
    geom2: _Geom,
    *,
    contact_model: ContactModel = DEFAULTS["contact_model"],
    laws: Laws,
    time_step: TimeStep = None,
    properties: Properties = None,
    slip: _Slip = 0.1,
    load: _Load = None,
    as_json: Json = False,
) -> None:
    """Print whether two geoms collide, the numbers that their contact uses, and each number's source.

    The artifacts are what the contact model gets wrong by design at a slip speed and a normal force:
    predicted, and measured on a block with the same properties.

    Exit codes: 0 success (whether they collide or not), 1 failure, 2 wrong usage.
    """
    messages = Messages()
    with messages.show_warnings() as texts:
        loaded = load_scene(scene, properties)
        simulator = loaded.make_simulator(contact_model, **vars(laws), time_step=time_step)
    explanation = simulator.explain(geom1, geom2)
    budget = _find_artifacts(simulator, explanation, slip, load)
    if as_json:
        artifacts = budget.figures() if budget else None
        print_json({"scene": str(scene), **explanation, "artifacts": artifacts, "warnings": texts})
        return
    console = make_console()
    _print_head(console, explanation)
    if explanation["collides"]:
        console.print(_make_numbers(explanation["numbers"]))
    if budget:
        _print_artifacts(console, budget)


def _find_artifacts(
    simulator: Simulator, explanation: dict[str, Any], slip: float, load: float | None
) -> PairBudget | None:
    """Returns the artifacts of the pair; None if the geoms do not collide or nothing is known."""
    if not explanation["collides"] or not is_predicted(simulator.contact_model):
        return None
    ids = [geom["id"] for geom in explanation["geoms"]]
    at = estimate_operating_point(simulator.model, *ids, slip_speed=slip, normal_force=load)
    return make_budget(simulator, explanation, at)


def _print_artifacts(console: Console, budget: PairBudget) -> None:
    at = budget.at
    console.print(
        f"Artifacts of the model at a slip of {at.slip_speed:g} m/s, a normal force of "
        f"{at.normal_force:.4g} N, a mobility of {at.mobility:.4g} /kg, and a tangential load of "
        f"{at.load_share:g} times the friction bound:",
    )
    rows = []
    dissipation = "s" if budget.properties.relaxation_time else "s/m"
    for field in dataclasses.fields(Artifacts):
        if field.name == "chord_drift":  # of a run; nothing moves here
            continue
        values = [getattr(side, field.name) for side in (budget.predicted, budget.measured)]
        cells = ("-" if value is None else f"{value:.4g}" for value in values)
        unit = dissipation if field.name == "dissipation" else _UNITS[field.name]
        rows.append((field.name.replace("_", " "), *cells, unit))
    console.print(make_text_table(("", "predicted", "measured", "unit"), rows, "lrr"))
    if budget.note:
        console.print(budget.describe())


_UNITS = {
    "gliding_gap": "m",
    "stiffness_factor": "",
    "stiffness": "N/m",
    "dissipation_lost": "",
    "transition_speed": "m/s",
    "creep": "m/s",
}


def _print_head(console: Console, explanation: dict[str, Any]) -> None:
    first, second = explanation["geoms"]
    for geom in (first, second):
        material = (
            f"material '{geom['material']}' by {geom['selector']}"
            if geom["material"]
            else "no contact properties"
        )
        console.print(f"{_name(geom)} of body '{geom['body']}': {material}")
    verdict = "collide" if explanation["collides"] else "do not collide"
    model = f"contact model {explanation['contact_model']}"
    laws = tuple(
        law if isinstance(law, str) else "of a table"
        for law in (explanation["normal_law"], explanation["friction_law"])
    )
    defaults = find_defaults(explanation["contact_model"])
    if laws != (defaults["normal_law"], defaults["friction_law"]):
        model += f", normal law {laws[0]}, friction law {laws[1]}"
    console.print(f"They {verdict}: {explanation['reason']}; {model}.")
    if explanation["limitation"]:
        console.print(f"By design of this model, {explanation['limitation']}.")
    if explanation["touches_in"] == "patches":
        console.print("They touch in patches of pressure-field contact.")
    elif explanation["why_points"]:
        console.print(f"They touch in points: {explanation['why_points']}.")


def _name(geom: dict[str, Any]) -> str:
    return f"geom '{geom['name']}'" if geom["name"] else f"geom #{geom['id']}"


def _make_numbers(numbers: list[dict[str, Any]]) -> Table:
    rows = [
        (
            number["name"],
            f"{number['value']:.4g}",
            number["unit"],
            "; ".join(filter(None, (number["from"], number["note"]))),
        )
        for number in numbers
    ]
    styles = ["" if number["is_used"] else "dim" for number in numbers]
    return make_text_table(("", "value", "unit", "source"), rows, "lr", styles=styles)
