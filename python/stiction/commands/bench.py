"""`stiction bench`: CPU time per step, compared with other simulators from the same states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from stiction.commands import bench_tables as tables
from stiction.commands.app import App, app
from stiction.commands.bench_tables import Row, make_rows, print_cases, print_table
from stiction.commands.options import (
    ContactModel,
    Json,
    NumThreads,
    Solver,
    make_drake_option,
    make_models_option,
)
from stiction.commands.output import Messages, make_console, print_json
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


def _check_bodies(sizes: list[int] | None) -> list[int] | None:
    try:
        for size in sizes or ():
            check_num_bodies(size)
    except Error as e:
        raise typer.BadParameter(e.message) from e
    return sizes or None


Repeats = Annotated[
    int, typer.Option("--repeats", min=1, help="Runs of each simulator; they take turns.")
]
_Program = Annotated[
    Path, typer.Option(help="Benchmark program from a build with STICTION_BUILD_BENCH=ON.")
]
_Bodies = Annotated[
    list[int] | None,
    typer.Option(
        "--bodies",
        "-n",
        callback=_check_bodies,
        help="Number of bodies, 10 times a square number; may be given several times.",
    ),
]
_States = Annotated[
    Path | None,
    typer.Option(
        envvar="STICTION_CLUTTER_STATES",
        exists=True,
        file_okay=False,
        help="Folder of settled states, state_<bodies>_t2.npz; mj_step makes missing states.",
    ),
]


def _announce(sizes: Iterable[int]) -> Iterator[int]:
    """Yields the numbers of bodies, and says of each on a terminal that its piles are timed now."""
    messages = Messages()
    for size in sizes:
        messages.announce(f"{size} bodies ...")
        yield size


@bench_app.command("clutter")
def bench_clutter(
    bodies: _Bodies = None,
    *,
    contact_model: ContactModel = DEFAULTS["contact_model"],
    solver: Solver,
    repeats: Repeats = 5,
    states: _States = None,
    drake: Annotated[bool | None, make_drake_option("Time Drake's SAP")] = None,
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
    sizes = bodies or piles.SIZES
    if sleep:
        asleep = [
            case
            for size in _announce(sizes)
            for case in piles.run_sleeping(
                [size], contact_model, tolerance=solver.tolerance, num_repeats=repeats
            )
        ]
        print_cases(as_json, contact_model, "settled piles", tables.SLEEP, make_rows(asleep))
        return
    cases = [
        case
        for size in _announce(sizes)
        for case in piles.run_clutter(
            [size],
            contact_model,
            **vars(solver),
            num_repeats=repeats,
            states=states or (_SHARED_STATES if _SHARED_STATES.is_dir() else None),
            with_drake=drake,
        )
    ]
    print_cases(as_json, contact_model, "clutter", tables.CLUTTER, make_rows(cases))


@bench_app.command("heap")
def bench_heap(
    bodies: Annotated[
        int, typer.Option("--bodies", "-n", min=1, max=10_000, help="Number of bodies.")
    ] = piles.NUM_BODIES,
    duration: Annotated[
        float, typer.Option(min=0.2, max=60, help=escape("Simulated time from the drop [s]."))
    ] = piles.DURATION,
    *,
    contact_model: ContactModel = DEFAULTS["contact_model"],
    solver: Solver,
    as_json: Json = False,
) -> None:
    """Time a falling dense heap, nearly one island, against mj_step's Newton and CG solvers.

    Values are means over the whole fall. A ratio is Stiction's time divided by the other
    simulator's.
    """
    Messages().announce(f"{bodies} bodies that fall for {duration:g} s ...")
    cases = piles.run_heap(bodies, contact_model, duration=duration, **vars(solver))
    if as_json:
        print_cases(as_json, contact_model, "heap", tables.HEAP, make_rows(cases))
    else:
        print_table(f"heap of {bodies}", tables.HEAP, make_rows(cases))


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
) -> None:
    """Time any scenes against mj_step with the scene's own settings."""
    rows = make_rows(
        scenes.run_scene(name, contact_model, num_threads=num_threads, num_repeats=repeats)
        for name in names or real_scenes.scene_names()
    )
    print_cases(as_json, contact_model, "scenes", tables.SCENES, rows)


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
    rows = make_rows(
        batches.run_batch(name, contact_model, num_sims=sims, num_repeats=repeats)
        for name in names or batches.SCENES
    )
    print_cases(as_json, contact_model, "batch", tables.BATCH, rows)


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
    summaries = make_rows(corpus.summarize(cases))
    if as_json:
        print_json({"models": summaries, "cases": make_rows(cases)})
        return
    print_table("corpus", tables.CORPUS, summaries)
    rows = [
        {**row, "file": "/".join(Path(row["file"]).parts[-3:])}
        for row in make_rows(corpus.find_worst(cases, worst))
    ]
    if rows:
        print_table("the worst", tables.WORST, rows)


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
    drake: Annotated[bool | None, make_drake_option("Time Drake")] = None,
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
    steps = make_rows((*gripper, *spatula))
    exponents = make_rows(patches.fit_exponents(gripper))
    cases = patch_queries.run_queries(repeats, with_drake) if queries else []
    summaries = make_rows(patch_queries.summarize(cases))
    if as_json:
        figures = {"steps": steps, "exponents": exponents, "queries": summaries}
        print_json({"contact_model": contact_model, **figures, "pairs": make_rows(cases)})
        return
    print_table(f"steps, {contact_model}", tables.PATCHES, steps)
    print_table("exponents in faces", tables.EXPONENTS, exponents)
    if cases:
        rows = [{**row, **_find_medians(row)} for row in summaries]
        print_table("contact surfaces", tables.QUERIES, rows)


def _find_medians(row: Row) -> Row:
    """Returns the medians of the percentiles of time per face."""
    names = ("us_per_face", "drake_us_per_face")
    return {name: row[name] and row[name][1] for name in names}


@bench_app.command("lcp")
def bench_lcp(program: _Program = programs.LCP_PROGRAM, as_json: Json = False) -> None:
    """Time LCP solvers on a no-slip grasp with 36 contacts against DAQP and Siconos.

    All are called from C++. A ratio is the time of ppm_ratio, on the factored or the dense matrix,
    divided by the solver's, each the minimum of all runs.
    """
    rows = make_rows(programs.run_lcp(program))
    if as_json:
        print_json({"cases": rows})
    else:
        print_table("lcp", tables.LCP, rows)


@bench_app.command("rigid")
def bench_rigid(program: _Program = programs.RIGID_PROGRAM, as_json: Json = False) -> None:
    """Time whole contact steps of the rigid models.

    The scenes are a grasp with 36 contacts and a box with up to 10,000. It also counts the pivots
    of a step at rest that is warm-started with the last step's contacts.
    """
    result = asdict(programs.run_rigid(program))
    if as_json:
        print_json(result)
        return
    print_table("rigid", tables.RIGID, result["cases"])
    make_console().print(
        f"the box's time grows with the number of contacts to the power {result['exponent']:.2f}; "
        f"at rest a step takes {result['rest_pivots']:.3f} pivots and slips "
        f"{result['rest_slip']:.0e} m"
    )
