"""`stiction explain`: the numbers that a contact of two geoms uses, and the source of each."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from stiction.commands import options
from stiction.commands.app import app
from stiction.commands.output import Messages, make_console, print_json
from stiction.options import DEFAULTS
from stiction.scene import load_scene

_Geom = Annotated[str, typer.Argument(help="Name of a geom, or its id as #ID.", show_default=False)]


@app.command()
def explain(
    scene: options.SceneFile,
    geom1: _Geom,
    geom2: _Geom,
    contact_model: options.ContactModel = DEFAULTS["contact_model"],
    normal_law: options.NormalLaw = DEFAULTS["normal_law"],
    friction_law: options.FrictionLaw = DEFAULTS["friction_law"],
    time_step: options.TimeStep = None,
    properties: options.Properties = None,
    as_json: options.Json = False,
) -> None:
    """Print whether two geoms collide, the numbers that their contact uses, and each number's source.

    Exit codes: 0 success (whether they collide or not), 1 failure, 2 wrong usage.
    """
    messages = Messages()
    with messages.show_warnings() as texts:
        loaded = load_scene(scene, properties)
        simulator = loaded.make_simulator(
            contact_model, normal_law=normal_law, friction_law=friction_law, time_step=time_step
        )
    explanation = simulator.explain(geom1, geom2)
    if as_json:
        print_json({"scene": str(scene), **explanation, "warnings": texts})
        return
    console = make_console()
    _print_head(console, explanation)
    if explanation["collides"]:
        console.print(_make_table(explanation["numbers"]))


def _print_head(console: Console, explanation: dict[str, Any]) -> None:
    first, second = explanation["geoms"]
    for geom in (first, second):
        material = (
            f"material '{geom['material']}' by {geom['selector']}"
            if geom["material"]
            else "no contact properties"
        )
        console.print(f"{_name(geom)} of body '{geom['body']}': {material}", markup=False)
    verdict = "collide" if explanation["collides"] else "do not collide"
    model = f"contact model {explanation['contact_model']}"
    laws = tuple(
        law if isinstance(law, str) else "of a table"
        for law in (explanation["normal_law"], explanation["friction_law"])
    )
    if laws != (DEFAULTS["normal_law"], DEFAULTS["friction_law"]):
        model += f", normal law {laws[0]}, friction law {laws[1]}"
    console.print(f"They {verdict}: {explanation['reason']}; {model}.", markup=False)
    if explanation["limitation"]:
        console.print(f"By design of this model, {explanation['limitation']}.", markup=False)
    if explanation["touches_in"] == "patches":
        console.print("They touch in patches of pressure-field contact.")
    elif explanation["why_points"]:
        console.print(f"They touch in points: {explanation['why_points']}.", markup=False)


def _name(geom: dict[str, Any]) -> str:
    return f"geom '{geom['name']}'" if geom["name"] else f"geom #{geom['id']}"


def _make_table(numbers: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("", "value", "unit", "source"):
        table.add_column(heading, justify="right" if heading == "value" else "left")
    for number in numbers:
        origin = "; ".join(filter(None, (number["from"], number["note"])))
        row = (number["name"], f"{number['value']:.4g}", number["unit"], origin)
        style = "" if number["is_used"] else "dim"
        table.add_row(*(Text(cell) for cell in row), style=style)
    return table
