"""`stiction mesh`: makes tet meshes of surfaces, and checks tet meshes."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from stiction.commands.app import app
from stiction.commands.options import Json
from stiction.commands.output import Messages, make_console, print_json
from stiction.errors import Error
from stiction.meshing import TetMesh, make_report, read_surface, tetrahedralize
from stiction.tables.text_table import make_text_table

_SURFACES = (".obj", ".stl")


def _check_above_zero(value: float | None) -> float | None:
    if value is not None and not 0 < value < math.inf:
        raise typer.BadParameter(f"{value} is not a finite number above 0")
    return value


_Source = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help=escape(
            "A closed surface (.obj, .stl), which needs the extra stiction[mesh], or a tet mesh (.vtk)."
        ),
        show_default=False,
    ),
]
_EdgeLength = Annotated[
    float | None,
    typer.Option(
        callback=_check_above_zero,
        metavar="M",
        help=escape(
            "Edge length of a surface's tet mesh [m]; default: a tenth of the surface's size."
        ),
    ),
]
_Modulus = Annotated[
    float | None,
    typer.Option(
        callback=_check_above_zero,
        metavar="PA",
        help=escape(
            "Hydroelastic modulus [Pa]: write its pressure field in place of the extent field."
        ),
    ),
]


@app.command()
def mesh(
    source: _Source,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="The tet mesh to write (.vtk)."),
    ] = None,
    report: Annotated[
        bool, typer.Option("--report", help="Print the quality, volume and field of the mesh.")
    ] = False,
    edge_length: _EdgeLength = None,
    modulus: _Modulus = None,
    as_json: Json = False,
) -> None:
    """Make a tet mesh with a pressure field from a closed surface, or check a tet mesh.

    Exit codes: 0 success, 1 failure, such as a faulty mesh, 2 wrong usage.
    """
    _check_arguments(source, output, edge_length)
    messages = Messages()
    surface = read_surface(source) if source.suffix.lower() in _SURFACES else None
    if surface is None:
        tet_mesh = TetMesh.read(source)
    else:
        with messages.show_status("mesh") as show:
            show("fTetWild")
            tet_mesh = tetrahedralize(surface, edge_length)
    tet_mesh.check(str(source))
    tet_mesh.set_field(modulus)
    facts = make_report(tet_mesh, surface)
    if output is not None:
        tet_mesh.write(output)
    for text in facts["warnings"]:
        messages.warn(text)
    facts = {"source": str(source), "output": str(output) if output else None, **facts}
    if as_json:
        print_json(facts)
        return
    console = make_console()
    name = output or source
    console.print(
        f"{name}: {facts['num_vertices']} vertices, {facts['num_tets']} tets",
    )
    if report:
        console.print(_make_table(facts))


def _check_arguments(source: Path, output: Path | None, edge_length: float | None) -> None:
    suffix = source.suffix.lower()
    if suffix not in (*_SURFACES, ".vtk"):
        raise Error("unsupported", str(source), "must be an .obj, .stl or .vtk file")
    if output is not None and output.suffix.lower() != ".vtk":
        raise Error("unsupported", str(output), "must be a .vtk file; no other format is written")
    if suffix == ".vtk" and edge_length is not None:
        raise typer.BadParameter(
            "--edge-length applies to surfaces (.obj, .stl); a tet mesh is not changed"
        )


def _make_table(facts: dict[str, Any]) -> Table:
    surface, field = facts["surface"], facts["field"]
    unit = {"extent": "", "pressure": "Pa"}[field["kind"]]
    rows: list[tuple[str, str, str, str]] = []
    if surface:
        watertight = "yes" if surface["is_watertight"] else "no"
        fault = (surface["fault"] or "").splitlines()[:1]
        rows.append(("watertight surface", watertight, "", "".join(fault)))
    rows += [
        ("vertices inside", f"{facts['num_interior_vertices']}", "", ""),
        ("tets on the boundary", f"{facts['num_tets_on_boundary']}", "", "they have no pressure"),
        ("minimum quality", f"{facts['min_quality']:.3g}", "", f"at tet {facts['worst_tet']}"),
        ("volume", f"{facts['volume']:.6g}", "m^3", ""),
    ]
    if surface and surface["is_watertight"]:
        share = facts["volume"] / surface["volume"] - 1
        rows.append(("volume of the surface", f"{surface['volume']:.6g}", "m^3", f"{share:+.2%}"))
    rows += [
        ("greatest distance", f"{facts['greatest_distance']:.4g}", "m", "to the boundary"),
        ("speed limit", f"{facts['speed_limit']:.4g}", "m/s", "greatest distance per step of 2 ms"),
        (field["kind"], f"{field['min']:.4g} to {field['max']:.4g}", unit, ""),
    ]
    return make_text_table([""] * 4, rows, "lrll")
