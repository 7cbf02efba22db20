"""`stiction bench`: CPU time per step, compared with other simulators from the same states."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from stiction.commands.app import App, app
from stiction.commands.options import (
    ContactModel,
    Json,
    NumThreads,
    Tolerance,
    make_models_option,
)
from stiction.commands.output import Messages, make_console, print_json, print_text
from stiction.errors import Error
from stiction.evidence.bench import batches, corpus, patch_queries, patches, piles, programs, scenes
from stiction.evidence.engines import drake_plant
from stiction.evidence.experiments import real_scenes
from stiction.evidence.experiments.clutter import check_num_bodies
from stiction.setup.options import DEFAULTS

bench_app = App(
    no_args_is_help=True,
    help="Measure CPU time per step, compared with other simulators from the same states.",
)
app.add_typer(bench_app, name="bench")

# Settled states that all simulators start from. If the folder is absent, mj_step makes them.
_SHARED_STATES = Path("../shared/peers")

Repeats = Annotated[
    int, typer.Option("--repeats", min=1, help="Runs of each simulator; they take turns.")
]


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
            "--bodies",
            "-n",
            callback=_check_bodies,
            help="Number of bodies, 10 times a square number; may be given several times.",
        ),
    ] = None,
    contact_model: ContactModel = DEFAULTS["contact_model"],
    tolerance: Tolerance = DEFAULTS["tolerance"],
    num_threads: NumThreads = DEFAULTS["num_threads"],
    repeats: Repeats = 5,
    states: Annotated[
        Path | None,
        typer.Option(
            envvar="STICTION_CLUTTER_STATES",
            exists=True,
            file_okay=False,
            help="Folder of settled states, state_<bodies>_t2.npz; mj_step makes missing states.",
        ),
    ] = None,
    drake: Annotated[
        bool | None,
        typer.Option(
            "--drake/--no-drake", help="Time Drake's SAP too; the default is yes if installed."
        ),
    ] = None,
    sleep: Annotated[
        bool,
        typer.Option(
            "--sleep",
            help="Time piles that have settled, with sleep allowed, against mj_step with and "
            "without sleep; the spheres have rolling friction.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Time piles of 40, 160 and 640 bodies at k = 1e7 N/m against mj_step and Drake's SAP.

    mj_step uses elliptic cones and its stiffest contacts. A ratio is Stiction's time divided by the
    other simulator's, each the minimum of all runs: below 1, Stiction is faster.
    """
    if sleep:
        asleep = piles.run_sleeping(
            bodies or piles.SIZES, contact_model, tolerance=tolerance, num_repeats=repeats
        )
        rows = [asdict(case) for case in asleep]
        if as_json:
            print_json({"contact_model": contact_model, "cases": rows})
            return
        table = _make_table(f"settled piles, {contact_model}", _SLEEP_COLUMNS, rows)
        make_console().print(table)
        return
    cases = piles.run_clutter(
        bodies or piles.SIZES,
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
    bodies: Annotated[
        int, typer.Option("--bodies", "-n", min=1, max=10_000, help="Number of bodies.")
    ] = piles.NUM_BODIES,
    duration: Annotated[
        float, typer.Option(min=0.2, max=60, help=escape("Simulated time from the drop [s]."))
    ] = piles.DURATION,
    contact_model: ContactModel = DEFAULTS["contact_model"],
    tolerance: Tolerance = DEFAULTS["tolerance"],
    num_threads: NumThreads = DEFAULTS["num_threads"],
    as_json: Json = False,
) -> None:
    """Time a falling dense heap, nearly one island, against mj_step's Newton and CG solvers.

    Values are means over the whole fall. A ratio is Stiction's time divided by the other
    simulator's.
    """
    cases = piles.run_heap(
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
            help="Scene files, or names of scenes from other packages; default: all of these names."
        ),
    ] = None,
    contact_model: ContactModel = DEFAULTS["contact_model"],
    num_threads: NumThreads = DEFAULTS["num_threads"],
    repeats: Repeats = 5,
    as_json: Json = False,
    markdown: Annotated[bool, typer.Option(help="Print a table in Markdown.")] = False,
) -> None:
    """Time any scenes against mj_step with the scene's own settings."""
    if as_json and markdown:
        raise typer.BadParameter(
            "--json and --markdown cannot be combined; give one of them", param_hint="--markdown"
        )
    rows = [
        asdict(scenes.run_scene(name, contact_model, num_threads=num_threads, num_repeats=repeats))
        for name in names or real_scenes.scene_names()
    ]
    if as_json:
        print_json({"contact_model": contact_model, "cases": rows})
    elif markdown:
        print_text(_make_markdown(_SCENE_COLUMNS, rows))
    else:
        make_console().print(_make_table(f"scenes, {contact_model}", _SCENE_COLUMNS, rows))


@bench_app.command("batch")
def bench_batch(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Scene files, names of scenes from other packages, or 'clutter_160'; default: "
            "four robots and the pile."
        ),
    ] = None,
    contact_model: ContactModel = DEFAULTS["contact_model"],
    sims: Annotated[int, typer.Option(min=1, max=100_000, help="Number of simulations.")] = 32,
    repeats: Repeats = 5,
    as_json: Json = False,
) -> None:
    """Time batches of simulations against mujoco.batch.Batch, per core, and on two threads.

    The speed is the steps per second of Stiction over those of MuJoCo with 'implicitfast': above 1,
    Stiction is faster.
    """
    rows = [
        asdict(batches.run_batch(name, contact_model, num_sims=sims, num_repeats=repeats))
        for name in names or batches.SCENES
    ]
    if as_json:
        print_json({"contact_model": contact_model, "cases": rows})
    else:
        make_console().print(_make_table(f"batch, {contact_model}", _BATCH_COLUMNS, rows))


@bench_app.command("corpus")
def bench_corpus(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="MJCF or URDF files, folders with such files, or installed packages; default: "
            f"{', '.join(corpus.PACKAGES)}."
        ),
    ] = None,
    contact_model: Annotated[
        list[str] | None, make_models_option(", ".join(corpus.CONTACT_MODELS))
    ] = None,
    steps: Annotated[
        int, typer.Option(min=1, max=1_000_000, help="Steps of a run from the initial state.")
    ] = 200,
    repeats: Repeats = 3,
    worst: Annotated[int, typer.Option(min=0, help="Length of the list of the worst.")] = 15,
    as_json: Json = False,
) -> None:
    """Time all models of packages and folders against mj_step, and list the worst.

    A ratio is the CPU time of Stiction's run divided by that of mj_step's: below 1, Stiction is
    faster. The table has percentiles of the ratios over all models.
    """
    with Messages().show_status("corpus") as show:
        cases = list(
            corpus.run_corpus(
                names or corpus.PACKAGES,
                contact_model or corpus.CONTACT_MODELS,
                num_steps=steps,
                num_repeats=repeats,
                on_file=lambda file: show(file.name),
            )
        )
    summaries = [asdict(summary) for summary in corpus.summarize(cases)]
    if as_json:
        print_json({"models": summaries, "cases": [asdict(case) for case in cases]})
        return
    console = make_console()
    console.print(_make_table("corpus", _CORPUS_COLUMNS, summaries))
    rows = [
        {**asdict(case), "file": "/".join(Path(case.file).parts[-3:])}
        for case in corpus.find_worst(cases, worst)
    ]
    if rows:
        console.print(_make_table("the worst", _WORST_COLUMNS, rows))


@bench_app.command("patches")
def bench_patches(
    contact_model: ContactModel = DEFAULTS["contact_model"],
    repeats: Repeats = 5,
    queries: Annotated[
        bool,
        typer.Option(
            "--queries/--no-queries", help="Time the contact surfaces of pairs of shapes too."
        ),
    ] = True,
    drake: Annotated[
        bool | None,
        typer.Option("--drake/--no-drake", help="Time Drake too; the default is yes if installed."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Time pressure-field contact against Drake's hydroelastic contact.

    Times steps of a gripper at four resolutions and of a spatula, and the contact surfaces of pairs
    of shapes, per face. A ratio is Stiction's time divided by that of Drake's fastest scheme, each
    the minimum of all runs: below 1, Stiction is faster.
    """
    with_drake = drake_plant.is_installed() if drake is None else drake
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
        Path, typer.Option(help="Benchmark program from a build with STICTION_BUILD_BENCH=ON.")
    ] = programs.LCP_PROGRAM,
    as_json: Json = False,
) -> None:
    """Time LCP solvers on a no-slip grasp with 36 contacts against DAQP and Siconos.

    All are called from C++. A ratio is the time of ppm_ratio, on the factored or the dense matrix,
    divided by the solver's, each the minimum of all runs.
    """
    rows = [asdict(case) for case in programs.run_lcp(program)]
    if as_json:
        print_json({"cases": rows})
        return
    make_console().print(_make_table("lcp", _LCP_COLUMNS, rows))


@bench_app.command("rigid")
def bench_rigid(
    program: Annotated[
        Path, typer.Option(help="Benchmark program from a build with STICTION_BUILD_BENCH=ON.")
    ] = programs.RIGID_PROGRAM,
    as_json: Json = False,
) -> None:
    """Time whole contact steps of the rigid models.

    The scenes are a grasp with 36 contacts and a box with up to 10,000. It also counts the pivots
    of a step at rest that is warm-started with the last step's contacts.
    """
    result = asdict(programs.run_rigid(program))
    if as_json:
        print_json(result)
        return
    console = make_console()
    console.print(_make_table("rigid", _RIGID_COLUMNS, result["cases"]))
    console.print(
        f"the box's time grows with the number of contacts to the power {result['exponent']:.2f}; "
        f"at rest a step takes {result['rest_pivots']:.3f} pivots and slips "
        f"{result['rest_slip']:.0e} m"
    )


def _find_medians(row: dict[str, Any]) -> dict[str, Any]:
    """Returns the medians of the percentiles of time per face."""
    names = ("us_per_face", "drake_us_per_face")
    return {name: row[name] and row[name][1] for name in names}


# The heading, field and format of a column.
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
_SLEEP_COLUMNS: list[_Column] = [
    ("bodies", "bodies", "d"),
    ("tolerance", "sleep_tolerance", "g"),
    ("asleep", "asleep", "d"),
    ("us/step", "us_per_step", ".0f"),
    ("without sleep", "us_per_step_awake", ".0f"),
    ("mj_step", "mujoco_us_per_step", ".0f"),
    ("ratio", "ratio_to_mujoco", ".3f"),
    ("asleep there", "mujoco_asleep", "d"),
    ("mj_step, sleep", "mujoco_us_per_step_sleep", ".0f"),
    ("ratio", "ratio_to_mujoco_sleep", ".2f"),
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
    ("mj_step contacts", "mujoco_contacts", ".1f"),
    ("us/step", "us_per_step", ".1f"),
    ("mj_step us", "mujoco_us_per_step", ".1f"),
    ("ratio", "ratio_to_mujoco", ".2f"),
    ("iterations", "iterations", ".1f"),
]
_BATCH_COLUMNS: list[_Column] = [
    ("scene", "scene", "s"),
    ("dofs", "dofs", "d"),
    ("contacts", "contacts", ".1f"),
    ("iterations", "iterations", ".1f"),
    ("us/step", "us_per_step", ".1f"),
    ("median", "us_per_step_median", ".1f"),
    ("MuJoCo us", "mujoco_us_per_step", ".1f"),
    ("median", "mujoco_us_per_step_median", ".1f"),
    ("speed", "speed", ".2f"),
    ("certificate", "certificate", ".0%"),
    ("2 threads", "efficiency", ".2f"),
]
_CORPUS_COLUMNS: list[_Column] = [
    ("contact model", "contact_model", "s"),
    ("models", "models", "d"),
    ("failed", "failed", "d"),
    ("median", "median", ".2f"),
    ("95 %", "p95", ".2f"),
    ("largest", "largest", ".1f"),
    (f"> {corpus.SLOW_US:.0f} us", "slow_models", "d"),
    ("median", "slow_median", ".2f"),
    ("95 %", "slow_p95", ".2f"),
]
_WORST_COLUMNS: list[_Column] = [
    ("file", "file", "s"),
    ("contact model", "contact_model", "s"),
    ("dofs", "dofs", "d"),
    ("contacts", "contacts", ".0f"),
    ("mj_step contacts", "mujoco_contacts", ".0f"),
    ("us/step", "us_per_step", ".0f"),
    ("mj_step us", "mujoco_us_per_step", ".1f"),
    ("ratio", "ratio_to_mujoco", ".1f"),
    ("failure", "failure", "s"),
]
_PATCH_COLUMNS: list[_Column] = [
    ("scene", "scene", "s"),
    ("faces", "faces", "d"),
    ("us/step", "us_per_step", ".0f"),
    ("query us", "query_us", ".0f"),
    ("faces in query", "query_faces", ".0f"),
    ("solve us", "solve_us", ".0f"),
    ("iterations", "iterations", ".1f"),
    ("Drake faces", "drake_faces", "d"),
    ("Drake us/step", "drake_best_us", ".0f"),
    ("Drake query us", "drake_query_us", ".0f"),
    ("ratio", "ratio", ".3f"),
    ("target", "wanted", ".3f"),
]
_EXPONENT_COLUMNS: list[_Column] = [
    ("time", "time", "s"),
    ("Stiction", "ours", ".2f"),
    ("Drake", "drake", ".2f"),
    ("target", "wanted", ".2f"),
]
_LCP_COLUMNS: list[_Column] = [
    ("grasp", "variant", "s"),
    ("solver", "solver", "s"),
    ("min us", "us", ".2f"),
    ("median us", "median_us", ".2f"),
    ("ratio", "ratio", ".3f"),
    ("dense ratio", "ratio_dense", ".3f"),
    ("pivots", "pivots", "d"),
    ("residual", "residual", ".1e"),
    ("solved", "solved", ""),
]
_RIGID_COLUMNS: list[_Column] = [
    ("scene", "scene", "s"),
    ("model", "model", "s"),
    ("contacts", "contacts", "d"),
    ("min us", "us", ".2f"),
    ("median us", "median_us", ".2f"),
    ("ratio to stewart_trinkle", "ratio_to_stewart_trinkle", ".3f"),
    ("pivots", "pivots", "d"),
    ("solved", "solved", ""),
]
_QUERY_COLUMNS: list[_Column] = [
    ("pairs", "kind", "s"),
    ("number", "pairs", "d"),
    ("faces", "faces", "d"),
    ("us/face", "us_per_face", ".3f"),
    ("Drake us/face", "drake_us_per_face", ".3f"),
    ("median ratio", "ratio", ".3f"),
    ("ratio of sums", "total_ratio", ".3f"),
    ("target", "wanted", ".3f"),
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
