"""The tables that `stiction bench` prints.

A column is HEADING=FIELD:FORMAT, or FIELD:FORMAT if its heading is the name of the field. A dash stands
for None.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from rich.table import Table

from stiction.commands.output import make_console, print_json
from stiction.evidence.bench import corpus
from stiction.evidence.bench.work_precision import WorkCurves, WorkPoint
from stiction.tables.text_table import make_text_table

CLUTTER = (
    "bodies:d | contacts:d | us/step=us_per_step:.0f | mj_step=mujoco_us_per_step:.0f | "
    "ratio=ratio_to_mujoco:.2f | Drake SAP=drake_sap_us_per_step:.0f | "
    "times faster=times_faster_than_drake_sap:.0f | iterations:.1f | residual:.1e"
)
SLEEP = (
    "bodies:d | tolerance=sleep_tolerance:g | asleep:d | us/step=us_per_step:.0f | "
    "without sleep=us_per_step_awake:.0f | mj_step=mujoco_us_per_step:.0f | "
    "ratio=ratio_to_mujoco:.3f | asleep there=mujoco_asleep:d | "
    "mj_step, sleep=mujoco_us_per_step_sleep:.0f | ratio=ratio_to_mujoco_sleep:.2f"
)
HEAP = "stepper:s | contacts:d | ms/step=ms_per_step:.2f | ratio:.2f | residual:.1e"
SCENES = (
    "scene:s | dofs:d | contacts:.1f | mj_step contacts=mujoco_contacts:.1f | us/step=us_per_step:.1f | "
    "mj_step us=mujoco_us_per_step:.1f | ratio=ratio_to_mujoco:.2f | iterations:.1f"
)
BATCH = (
    "scene:s | dofs:d | contacts:.1f | iterations:.1f | us/step=us_per_step:.1f | "
    "median=us_per_step_median:.1f | MuJoCo us=mujoco_us_per_step:.1f | "
    "median=mujoco_us_per_step_median:.1f | speed:.2f | certificate:.0% | 2 threads=efficiency:.2f"
)
CORPUS = (
    "contact model=contact_model:s | models:d | failed:d | median:.2f | 95 %=p95:.2f | largest:.1f | "
    f"> {corpus.SLOW_US:.0f} us=slow_models:d | median=slow_median:.2f | 95 %=slow_p95:.2f"
)
WORST = (
    "file:s | contact model=contact_model:s | dofs:d | contacts:.0f | "
    "mj_step contacts=mujoco_contacts:.0f | us/step=us_per_step:.0f | "
    "mj_step us=mujoco_us_per_step:.1f | ratio=ratio_to_mujoco:.1f | failure:s"
)
PATCHES = (
    "scene:s | faces:d | us/step=us_per_step:.0f | query us=query_us:.0f | "
    "faces in query=query_faces:.0f | solve us=solve_us:.0f | iterations:.1f | "
    "Drake faces=drake_faces:d | Drake us/step=drake_best_us:.0f | "
    "Drake query us=drake_query_us:.0f | ratio:.3f | target=wanted:.3f"
)
EXPONENTS = "time:s | Stiction=ours:.2f | Drake=drake:.2f | target=wanted:.2f"
QUERIES = (
    "pairs=kind:s | number=pairs:d | faces:d | us/face=us_per_face:.3f | "
    "Drake us/face=drake_us_per_face:.3f | median ratio=ratio:.3f | ratio of sums=total_ratio:.3f | "
    "target=wanted:.3f"
)
LCP = (
    "grasp=variant:s | solver:s | min us=us:.2f | median us=median_us:.2f | ratio:.3f | "
    "dense ratio=ratio_dense:.3f | pivots:d | residual:.1e | solved:"
)
RIGID = (
    "scene:s | model:s | contacts:d | min us=us:.2f | median us=median_us:.2f | "
    "ratio to stewart_trinkle=ratio_to_stewart_trinkle:.3f | pivots:d | solved:"
)

Row = dict[str, Any]


def make_rows(cases: Iterable[Any]) -> list[Row]:
    """Returns dataclasses as rows."""
    return [asdict(case) for case in cases]


def print_table(title: str, columns: str, rows: list[Row]) -> None:
    """Prints rows under a title."""
    split = _split(columns)
    align = "".join("l" if form == "s" else "r" for _, _, form in split)
    cells = (_format_row(columns, row) for row in rows)
    make_console().print(
        make_text_table([heading for heading, *_ in split], cells, align, title=title)
    )


def print_cases(
    as_json: bool, contact_model: str, name: str, columns: str, rows: list[Row]
) -> None:
    """Prints the cases of a benchmark under a contact model, as a table or as JSON."""
    if as_json:
        print_json({"contact_model": contact_model, "cases": rows})
    else:
        print_table(f"{name}, {contact_model}", columns, rows)


def make_markdown(columns: str, rows: list[Row]) -> str:
    """Returns a table in Markdown."""
    lines = [
        [heading for heading, _, _ in _split(columns)],
        ["---" if form == "s" else "---:" for _, _, form in _split(columns)],
        *(_format_row(columns, row) for row in rows),
    ]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def print_curves(curves: Iterable[WorkCurves]) -> None:
    """Prints a table of each scene and each setting that varies."""
    console = make_console()
    for of_scene in curves:
        for knob in dict.fromkeys(point.knob for point in of_scene.points):
            title = f"{of_scene.scene}: {of_scene.error}, {of_scene.work}, by {knob}"
            console.print(title)
            console.print(_make_curve_table(of_scene, knob))
            console.print()


def _split(columns: str) -> list[tuple[str, str, str]]:
    """Returns heading, field and format of each column."""
    out = []
    for column in columns.split(" | "):
        name, _, form = column.rpartition(":")
        heading, _, field = name.rpartition("=")
        out.append((heading or field, field, form))
    return out


def _format_row(columns: str, row: Row) -> list[str]:
    return [
        "-" if row[field] is None else format(row[field], form)
        for _, field, form in _split(columns)
    ]


def _make_curve_table(curves: WorkCurves, knob: str) -> Table:
    """Makes a table of steppers and settings, with the error, the time, and a star if steps failed."""
    points = [point for point in curves.points if point.knob == knob]
    settings = sorted({point.setting for point in points}, reverse=knob != "iterations")
    rows = []
    for name in dict.fromkeys(point.stepper for point in points):
        of_stepper = {point.setting: point for point in points if point.stepper == name}
        rows.append((name, *(_format_point(of_stepper.get(setting)) for setting in settings)))
    headings = ("stepper", *(f"{setting:g}" for setting in settings))
    return make_text_table(headings, rows, "l" + "r" * len(settings), no_wrap=True)


def _format_point(point: WorkPoint | None) -> str:
    if point is None:
        return ""
    if point.error is None or point.cpu_ms is None:
        return "failed"
    return f"{point.error:.1e} {point.cpu_ms:.3g}{'*' if point.failed_steps else ''}"
