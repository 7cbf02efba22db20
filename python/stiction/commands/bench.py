"""`stiction bench`: CPU time per step in turns with peers, from common states."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from stiction.bench import (
    clutter,
    drake_peer,
    heap,
    lcp,
    patch_queries,
    patches,
    rigid,
    scenes,
)
from stiction.commands.app import app
from stiction.commands.options import ContactModel, Json, NumThreads, Tolerance
from stiction.commands.output import make_console, print_json
from stiction.errors import Error
from stiction.experiments import real_scenes
from stiction.experiments.clutter import check_num_bodies

bench_app = typer.Typer(
    no_args_is_help=True, help="CPU time per step in turns with peers, from common states."
)
app.add_typer(bench_app, name="bench")

# States common to all steppers; where the folder is absent mj_step makes them.
_SHARED_STATES = Path("../shared/peers")

Repeats = Annotated[int, typer.Option("--repeats", min=1, help="Runs of each stepper, in turn.")]


def _check_bodies(sizes: list[int] | None) -> list[int] | None:
    try:
        for size in sizes or ():
            check_num_bodies(size)
    except Error as e:
        raise typer.BadParameter(e.message) from e
    return sizes or None


@bench_app.command("clutter")
def bench_clutter(
    bodies: Annotated[
        list[int] | None,
        typer.Option(
            "--bodies", "-n", callback=_check_bodies, help="10 times a square; repeatable."
        ),
    ] = None,
    contact_model: ContactModel = "lagged_regularized",
    tolerance: Tolerance = 1e-5,
    num_threads: NumThreads = 1,
    repeats: Repeats = 5,
    states: Annotated[
        Path | None,
        typer.Option(
            envvar="STICTION_CLUTTER_STATES",
            exists=True,
            file_okay=False,
            help="Folder of settled states, state_<bodies>_t2.npz; mj_step makes those it lacks.",
        ),
    ] = None,
    drake: Annotated[
        bool | None,
        typer.Option("--drake/--no-drake", help="Time Drake's SAP as well; if installed."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Piles of 40, 160 and 640 bodies at k = 1e7 N/m, against mj_step and Drake's SAP.

    mj_step runs with elliptic cones and contacts as stiff as it takes. Ratios are our time to the
    peer's, of the minima: below 1 ours is faster.
    """
    cases = clutter.run_clutter(
        bodies or clutter.SIZES,
        contact_model,
        tolerance=tolerance,
        num_threads=num_threads,
        num_repeats=repeats,
        states=states or (_SHARED_STATES if _SHARED_STATES.is_dir() else None),
        with_drake=drake,
    )
    rows = [asdict(case) for case in cases]
    if as_json:
        print_json({"contact_model": contact_model, "cases": rows})
        return
    table = _make_table(f"clutter, {contact_model}", _CLUTTER_COLUMNS, rows)
    make_console().print(table)


@bench_app.command("heap")
def bench_heap(
    bodies: Annotated[int, typer.Option("--bodies", "-n", min=1, max=10_000)] = heap.NUM_BODIES,
    duration: Annotated[
        float, typer.Option(min=0.2, max=60, help="Of the fall from the drop [s].")
    ] = heap.DURATION,
    contact_model: ContactModel = "lagged_regularized",
    tolerance: Tolerance = 1e-5,
    num_threads: NumThreads = 1,
    as_json: Json = False,
) -> None:
    """A dense heap, nearly one island, as it falls; against mj_step's Newton and CG solvers.

    Means over the whole fall; the ratio is our time to the stepper's.
    """
    cases = heap.run_heap(
        bodies, contact_model, duration=duration, tolerance=tolerance, num_threads=num_threads
    )
    rows = [asdict(case) for case in cases]
    if as_json:
        print_json({"contact_model": contact_model, "cases": rows})
        return
    make_console().print(_make_table(f"heap of {bodies}", _HEAP_COLUMNS, rows))


@bench_app.command("scenes")
def bench_scenes(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Scene files, or names of scenes of other packages; none: all of those."
        ),
    ] = None,
    contact_model: ContactModel = "lagged_regularized",
    num_threads: NumThreads = 1,
    repeats: Repeats = 5,
    as_json: Json = False,
    markdown: Annotated[bool, typer.Option(help="Print a table in Markdown.")] = False,
) -> None:
    """Any scenes, against mj_step with the scene's own settings."""
    if as_json and markdown:
        raise typer.BadParameter(
            "--json and --markdown exclude each other", param_hint="--markdown"
        )
    rows = [
        asdict(scenes.run_scene(name, contact_model, num_threads=num_threads, num_repeats=repeats))
        for name in names or real_scenes.scene_names()
    ]
    if as_json:
        print_json({"contact_model": contact_model, "cases": rows})
    elif markdown:
        print(_make_markdown(_SCENE_COLUMNS, rows))
    else:
        make_console().print(_make_table(f"scenes, {contact_model}", _SCENE_COLUMNS, rows))


@bench_app.command("patches")
def bench_patches(
    contact_model: ContactModel = "lagged_regularized",
    repeats: Repeats = 5,
    queries: Annotated[
        bool, typer.Option("--queries/--no-queries", help="Contact surfaces of pairs of shapes.")
    ] = True,
    drake: Annotated[
        bool | None, typer.Option("--drake/--no-drake", help="Time Drake as well; if installed.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Pressure-field contact, against Drake's hydroelastic contact.

    Steps of a gripper at four resolutions and of a spatula, and contact surfaces of pairs of shapes per
    face. Ratios are our time to that of Drake's fastest scheme, of the minima: below 1 ours is faster.
    """
    with_drake = drake_peer.is_installed() if drake is None else drake
    gripper = patches.run_gripper_steps(contact_model, num_repeats=repeats, with_drake=with_drake)
    spatula = patches.run_spatula_steps(contact_model, num_repeats=repeats, with_drake=with_drake)
    exponents = patches.fit_exponents(gripper)
    cases = patch_queries.run_queries(repeats, with_drake) if queries else []
    summaries = patch_queries.summarize(cases)
    tables = {
        "steps": [asdict(case) for case in (*gripper, *spatula)],
        "exponents": [asdict(exponent) for exponent in exponents],
        "queries": [asdict(summary) for summary in summaries],
    }
    if as_json:
        pairs = [asdict(case) for case in cases]
        print_json({"contact_model": contact_model, **tables, "pairs": pairs})
        return
    console = make_console()
    console.print(_make_table(f"steps, {contact_model}", _PATCH_COLUMNS, tables["steps"]))
    console.print(_make_table("exponents in faces", _EXPONENT_COLUMNS, tables["exponents"]))
    if cases:
        rows = [{**row, **_find_medians(row)} for row in tables["queries"]]
        console.print(_make_table("contact surfaces", _QUERY_COLUMNS, rows))


@bench_app.command("lcp")
def bench_lcp(
    program: Annotated[
        Path, typer.Option(help="The benchmark, of a build with STICTION_BUILD_BENCH.")
    ] = lcp.PROGRAM,
    as_json: Json = False,
) -> None:
    """LCP solvers on a grasp with 36 contacts without slip, against DAQP and Siconos.

    All are called from C++. Ratios are the time of ppm_ratio, in factors and dense, to the solver's, of
    the minima.
    """
    rows = [asdict(case) for case in lcp.run_lcp(program)]
    if as_json:
        print_json({"cases": rows})
        return
    make_console().print(_make_table("lcp", _LCP_COLUMNS, rows))


@bench_app.command("rigid")
def bench_rigid(
    program: Annotated[
        Path, typer.Option(help="The benchmark, of a build with STICTION_BUILD_BENCH.")
    ] = rigid.PROGRAM,
    as_json: Json = False,
) -> None:
    """Whole contact steps of the rigid models: a grasp with 36 contacts, one body with up to 10,000.

    Also the pivots of a step at rest that starts from the last one's contacts.
    """
    result = asdict(rigid.run_rigid(program))
    if as_json:
        print_json(result)
        return
    console = make_console()
    console.print(_make_table("rigid", _RIGID_COLUMNS, result["cases"]))
    console.print(
        f"time over contacts of the box: exponent {result['exponent']:.2f}; at rest "
        f"{result['rest_pivots']:.3f} pivots a step, slip {result['rest_slip']:.0e} m"
    )


def _find_medians(row: dict[str, Any]) -> dict[str, Any]:
    """Of the percentiles."""
    names = ("us_per_face", "drake_us_per_face")
    return {name: row[name] and row[name][1] for name in names}


# Heading, field and format of each column.
_Column = tuple[str, str, str]
_CLUTTER_COLUMNS: list[_Column] = [
    ("bodies", "bodies", "d"),
    ("contacts", "contacts", "d"),
    ("us/step", "us_per_step", ".0f"),
    ("mj_step", "mujoco_us_per_step", ".0f"),
    ("ratio", "ratio_to_mujoco", ".2f"),
    ("Drake SAP", "drake_sap_us_per_step", ".0f"),
    ("times faster", "times_faster_than_drake_sap", ".0f"),
    ("iterations", "iterations", ".1f"),
    ("residual", "residual", ".1e"),
]
_HEAP_COLUMNS: list[_Column] = [
    ("stepper", "stepper", "s"),
    ("contacts", "contacts", "d"),
    ("ms/step", "ms_per_step", ".2f"),
    ("ratio", "ratio", ".2f"),
    ("residual", "residual", ".1e"),
]
_SCENE_COLUMNS: list[_Column] = [
    ("scene", "scene", "s"),
    ("dofs", "dofs", "d"),
    ("contacts", "contacts", ".1f"),
    ("mj_step's", "mujoco_contacts", ".1f"),
    ("us/step", "us_per_step", ".1f"),
    ("mj_step us", "mujoco_us_per_step", ".1f"),
    ("ratio", "ratio_to_mujoco", ".2f"),
    ("iterations", "iterations", ".1f"),
]
_PATCH_COLUMNS: list[_Column] = [
    ("scene", "scene", "s"),
    ("faces", "faces", "d"),
    ("us/step", "us_per_step", ".0f"),
    ("query", "query_us", ".0f"),
    ("its faces", "query_faces", ".0f"),
    ("solve", "solve_us", ".0f"),
    ("iterations", "iterations", ".1f"),
    ("Drake's faces", "drake_faces", "d"),
    ("Drake", "drake_best_us", ".0f"),
    ("query", "drake_query_us", ".0f"),
    ("ratio", "ratio", ".3f"),
    ("wanted", "wanted", ".3f"),
]
_EXPONENT_COLUMNS: list[_Column] = [
    ("time", "time", "s"),
    ("ours", "ours", ".2f"),
    ("Drake", "drake", ".2f"),
    ("wanted", "wanted", ".2f"),
]
_LCP_COLUMNS: list[_Column] = [
    ("grasp", "variant", "s"),
    ("solver", "solver", "s"),
    ("us", "us", ".2f"),
    ("median", "median_us", ".2f"),
    ("ratio", "ratio", ".3f"),
    ("dense", "ratio_dense", ".3f"),
    ("pivots", "pivots", "d"),
    ("residual", "residual", ".1e"),
    ("solved", "solved", ""),
]
_RIGID_COLUMNS: list[_Column] = [
    ("scene", "scene", "s"),
    ("model", "model", "s"),
    ("contacts", "contacts", "d"),
    ("us", "us", ".2f"),
    ("median", "median_us", ".2f"),
    ("to stewart_trinkle", "ratio_to_stewart_trinkle", ".3f"),
    ("pivots", "pivots", "d"),
    ("solved", "solved", ""),
]
_QUERY_COLUMNS: list[_Column] = [
    ("pairs", "kind", "s"),
    ("number", "pairs", "d"),
    ("faces", "faces", "d"),
    ("us/face", "us_per_face", ".3f"),
    ("Drake", "drake_us_per_face", ".3f"),
    ("ratio", "ratio", ".3f"),
    ("of sums", "total_ratio", ".3f"),
    ("wanted", "wanted", ".3f"),
]


def _make_table(title: str, columns: list[_Column], rows: list[dict[str, Any]]) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for heading, _, form in columns:
        table.add_column(heading, justify="left" if form == "s" else "right")
    for row in rows:
        table.add_row(*_format_row(columns, row))
    return table


def _make_markdown(columns: list[_Column], rows: list[dict[str, Any]]) -> str:
    lines = [
        [heading for heading, _, _ in columns],
        ["---" if form == "s" else "---:" for _, _, form in columns],
        *(_format_row(columns, row) for row in rows),
    ]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _format_row(columns: list[_Column], row: dict[str, Any]) -> list[str]:
    return ["-" if row[field] is None else format(row[field], form) for _, field, form in columns]
