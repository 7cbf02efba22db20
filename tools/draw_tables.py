#!/usr/bin/env python3
"""Measures the tables of docs/performance.md again, and writes them between the markers of the page.

    draw_tables.py [--only TABLE] [--quick] [--page FILE]

A table stands between `<!-- table NAME -->` and `<!-- end -->`. The text around it is written by hand. A
table whose peer or program is absent stays as it was. Run this on a machine that does nothing else. With
--quick little is measured, and the tables are printed alone, unless --page names a page for them.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path

import stiction
from stiction.commands.bench_tables import Row, make_markdown, make_rows
from stiction.evidence.bench import batches, corpus, patches, piles, planar_work, programs, scenes
from stiction.evidence.bench.timing import Runner, make_reset, time_in_turns
from stiction.evidence.engines import drake_plant
from stiction.evidence.experiments.real_scenes import scene_names
from stiction.inputs.names import find_compliant_models
from stiction.inputs.package_scenes import find_scene_file

PAGE = Path(__file__).resolve().parent.parent / "docs" / "performance.md"
_MODELS = ("lagged_regularized", "coulomb")
_BOTH = "`lagged_regularized`=lagged_regularized:.2f | `coulomb`=coulomb:.2f"
_TWO_GRASPS = "gripper joint=us:.4g | pivots:d | no joint=us2:.4g | pivots=pivots2:d"
# The errors at which work is compared: [m], [m], [-] and [-].
_ERRORS = (
    ("conveyor", 3e-4),
    ("falling_sphere", 3e-4),
    ("sliding_rod", 6e-2),
    ("sliding_rod", 1e-2),
)

# A function returns the rows of a table, given the number of repeats; with 1 it takes only some cases.
Measure = Callable[[int], Iterable[Row]]
TABLES: dict[str, tuple[str, Measure]] = {}


def _draw_as(name: str, *columns: str) -> Callable[[Measure], Measure]:
    """Makes a function that of a table with columns as in bench_tables."""

    def add(measure: Measure) -> Measure:
        TABLES[name] = (" | ".join(columns), measure)
        return measure

    return add


def _need_drake() -> None:
    if not drake_plant.is_installed():
        raise stiction.Error("unsupported", "Drake", "is not installed")


@_draw_as("mj_step", "ratio to `mj_step`=scene:s", _BOTH)
def _time_mj_step(repeats: int) -> Iterable[Row]:
    for size in piles.SIZES[:1] if repeats == 1 else piles.SIZES:
        options: Row = {"num_repeats": repeats, "with_drake": False}
        of_model = {m: next(iter(piles.run_clutter([size], m, **options))) for m in _MODELS}
        ratios = {m: case.ratio_to_mujoco for m, case in of_model.items()}
        yield {"scene": f"clutter, {size} bodies", **ratios}
    heaps = {m: piles.run_heap(40 if repeats == 1 else piles.NUM_BODIES, m) for m in _MODELS}
    for peer, name in (("cg", "CG"), ("newton", "Newton")):
        ratios = {m: next(c.ratio for c in heaps[m] if c.stepper.endswith(peer)) for m in heaps}
        yield {"scene": f"heap, against {name}", **ratios}
    for scene in ("humanoid", str(find_scene_file("quadruped"))):
        runs = {m: scenes.run_scene(scene, m, num_repeats=repeats) for m in _MODELS}
        yield {"scene": Path(scene).stem, **{m: c.ratio_to_mujoco for m, c in runs.items()}}


@_draw_as(
    "drake",
    "bodies:d | contacts:d | Stiction=us_per_step:.0f | `mj_step`=mujoco_us_per_step:.0f",
    "Drake=drake_sap_us_per_step:.0f | Drake / Stiction=times_faster_than_drake_sap:.0f",
)
def _time_drake(repeats: int) -> Iterable[Row]:
    _need_drake()
    sizes = piles.SIZES[:1] if repeats == 1 else piles.SIZES
    return make_rows(piles.run_clutter(sizes, _MODELS[0], num_repeats=repeats))


@_draw_as(
    "corpus",
    "ratio to `mj_step`=contact_model:s | models:d | median:.2f | 95 %=p95:.1f | largest:.1f",
    "median, > 20 µs=slow_median:.2f | 95 %, > 20 µs=slow_p95:.1f",
)
def _time_corpus(repeats: int) -> Iterable[Row]:
    packages = corpus.PACKAGES[1:2] if repeats == 1 else corpus.PACKAGES
    cases = corpus.run_corpus(packages, num_repeats=min(repeats, 3))
    return make_rows(corpus.summarize(list(cases)))


@_draw_as(
    "scenes",
    "scene:s | dofs:d | contacts:.1f | µs/step=us_per_step:.1f",
    "`mj_step`, µs=mujoco_us_per_step:.1f | ratio=ratio_to_mujoco:.2f | iterations:.1f",
)
def _time_scenes(repeats: int) -> Iterable[Row]:
    names = scene_names()[:2] if repeats == 1 else scene_names()
    return make_rows(scenes.run_scene(name, num_repeats=repeats) for name in names)


@_draw_as(
    "work_precision",
    "CPU time per simulated second for an error of=scene:s",
    "Stiction=stiction:s | `mj_step`=mujoco:s | Drake=drake:s",
)
def _find_work(repeats: int) -> Iterable[Row]:
    """Finds the least CPU time of each program that has at most the given error."""
    _need_drake()
    names = dict.fromkeys(scene for scene, _ in _ERRORS)
    options: Row = {"quick": repeats == 1, "num_repeats": repeats}
    models = find_compliant_models()
    points = {s: planar_work.run_planar_work(s, models, **options).points for s in names}
    for scene, error in _ERRORS:
        best: dict[str, tuple[float, str]] = {}
        for point in points[scene]:
            first = point.stepper.split()[0]
            program = first if first in ("mujoco", "drake") else "stiction"
            if point.cpu_ms is not None and point.error is not None and point.error <= error:
                work = (point.cpu_ms, point.stepper)
                best[program] = min(best.get(program, work), work)
        cells = {p: "{:.3g} ms, `{}`".format(*work) for p, work in best.items()}
        none = dict.fromkeys(("stiction", "mujoco", "drake"), "not reached")
        yield {"scene": f"{scene}, {error:g}", **none, **cells}


@_draw_as(
    "patches",
    "scene:s | faces:d | Stiction=us_per_step:.0f | query=query_us:.0f",
    "Drake=drake_best_us:.0f | query=drake_query_us:.0f | ratio of steps=ratio:.2g",
)
def _time_patches(repeats: int) -> Iterable[Row]:
    _need_drake()
    for run in (patches.run_gripper_steps, patches.run_spatula_steps):
        yield from make_rows(run("coulomb", num_repeats=repeats, with_drake=True))


def _join_grasps(cases: Iterable[Row], grasp: str, solver: str) -> Iterable[Row]:
    """Returns a row for each solver, with its times and pivots in both grasps."""
    found = {(case[solver], case[grasp]): case for case in cases}
    for name in dict.fromkeys(name for name, _ in found):
        a, b = found.get((name, "gripper joint")), found.get((name, "no joint"))
        if a and b:
            second = {"us2": b["us"], "pivots2": b["pivots"]}
            yield {"solver": name, "us": a["us"], "pivots": a["pivots"], **second}


@_draw_as("lcp", "µs per solve=solver:s", _TWO_GRASPS)
def _time_lcp(_: int) -> Iterable[Row]:
    return _join_grasps(make_rows(programs.run_lcp()), "variant", "solver")


@_draw_as("rigid", "µs per step=solver:s", _TWO_GRASPS)
def _time_rigid(_: int) -> Iterable[Row]:
    return _join_grasps(asdict(programs.run_rigid())["cases"], "scene", "model")


@_draw_as("batch", "speed=scene:s | dofs:d", _BOTH)
def _time_batches(repeats: int) -> Iterable[Row]:
    for scene in batches.SCENES[:1] if repeats == 1 else batches.SCENES:
        of_model = {m: batches.run_batch(scene, m, num_repeats=repeats) for m in _MODELS}
        speeds = {m: case.speed for m, case in of_model.items()}
        yield {"scene": Path(scene).stem, "dofs": of_model[_MODELS[0]].dofs, **speeds}


@_draw_as("taxels", "`scenes/fingertip.xml`=step:s | µs/step=us:.1f | more=more:.1%")
def _time_taxels(repeats: int) -> Iterable[Row]:
    scene = stiction.load_scene(find_scene_file("fingertip"))
    assert scene.properties is not None
    content = {k: v for k, v in scene.properties.content.items() if k != "taxels"}
    bare, full = scene.make_simulator(properties=content), scene.make_simulator()
    data = scene.make_data()
    data.ctrl[:] = 0, -3  # N, on the peg
    bare.step(data, 200)
    reset = make_reset(scene.model, data)
    steps: dict[str, Callable[[], object]] = {
        "without taxels": lambda: bare.step(data),
        "with taxels that nobody reads": lambda: full.step(data),
        "with taxels, read in each step": lambda: full.step(data).taxels,
    }

    def make_runner(step: Callable[[], object]) -> Runner:
        return Runner(reset, lambda n: [step() is None for _ in range(n)], 100)

    times = time_in_turns({name: make_runner(step) for name, step in steps.items()}, 4 * repeats)
    least = times["without taxels"].minimum
    for name, time in times.items():
        yield {"step": name, "us": time.minimum, "more": time.minimum / least - 1}


def find_table(name: str, text: str) -> re.Match[str]:
    """Finds the markers of a table and what is between them, in three groups."""
    found = re.search(rf"(<!-- table {name} -->\n\n)(.*?)(\n\n<!-- end -->)", text, re.DOTALL)
    if found is None:
        raise SystemExit(f"the page has no markers of the table '{name}'; add both")
    return found


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Measures the tables of docs/performance.md.")
    parser.add_argument("--only", choices=TABLES, help="the table; default: all of them")
    parser.add_argument("--quick", action="store_true", help="measure little, to try the program")
    parser.add_argument("--page", type=Path, help="the page, which is changed")
    args = parser.parse_args(arguments)
    names = [args.only] if args.only else list(TABLES)
    page: Path | None = args.page or (None if args.quick else PAGE)
    if page:
        if not page.is_file():
            raise SystemExit(f"{page} is not a file; name a copy of {PAGE.name}")
        for name in names:
            find_table(name, page.read_text())
    for name in names:
        columns, measure = TABLES[name]
        try:
            table = make_markdown(columns, list(measure(1 if args.quick else 5)))
        except (stiction.Error, ImportError) as e:
            print(f"{name}: the table stays as it was: {e}", file=sys.stderr)
            continue
        if page:
            text = page.read_text()
            found = find_table(name, text)
            page.write_text(text[: found.end(1)] + table + text[found.start(3) :])
        print(f"{name}:\n{table}\n", flush=True)


if __name__ == "__main__":
    main()
