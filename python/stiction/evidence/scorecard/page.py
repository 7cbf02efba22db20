"""The page of the scorecard, in Markdown, from the rows."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stiction.errors import Error
from stiction.evidence.engines.environments import PEERS
from stiction.evidence.scorecard.engine_table import ENGINES
from stiction.evidence.scorecard.findings import list_findings
from stiction.evidence.scorecard.picture import draw_scorecard, format_error
from stiction.evidence.scorecard.results import (
    HEADER,
    REFERENCE,
    Cell,
    Row,
    Total,
    calc_cpu_ratio,
    make_cells,
    summarize,
    write_rows,
)
from stiction.evidence.scorecard.scene import Scene
from stiction.evidence.scorecard.scene_table import SCENES
from stiction.tables.output_files import (
    begins_with,
    check_output,
    check_picture_path,
    write_picture,
)

# ---- How a user of each family of engines learns that a step is wrong ----------------------------

REPORTS = {
    "stiction": "the status and the warnings of each step; the certificate bounds the error of convex "
    "models, and checks the laws of all",
    "mujoco": "counters of warnings in mjData for bad states, full buffers and singular inertia; "
    "statistics of the solver without a bound",
    "drake": "an exception if the solver of a step fails",
    "newton": "flags and printed warnings for full buffers; no residual",
    "bullet": "nothing",
    "genesis": "an exception for full buffers; nothing about an unconverged solve",
    "motrix": "nothing",
    "pinocchio": "whether the solver has converged, with its residuals",
}


TITLE = "# Scorecard\n"  # the first line of every page

_INSTALL = " ".join(f"--install {name}" for name in PEERS)

_INTRODUCTION = f"""{TITLE}
Each scene has a known answer. Each engine runs it at three time steps, with the settings that its
documentation recommends ([below](#engines)). Our own losses stand in the same tables.

![The error of each engine on each scene at the smallest time step](PICTURE)

An empty field means that the engine has nothing for the scene, such as no pressure field. A dash means
that a run failed, or that what is measured did not happen.

    stiction scorecard {_INSTALL}    # once: the peers
    stiction scorecard          # all runs; a second call continues after an interruption
    stiction scorecard --rows scorecard.csv     # the page and the picture again

A run is made again if its scene or settings change, or if its files in `out/scorecard/raw` are deleted.
"""


def make_page(rows: Sequence[Row], picture: str = "scorecard.png") -> str:
    """Returns the page."""
    cells = make_cells(rows)
    parts = [
        _INTRODUCTION.replace("PICTURE", picture),
        _describe_runs(rows),
        *_make_findings(cells),
        "## Totals\n",
        _make_totals(cells),
        "\n## Scenes\n",
        _SCENES_TEXT,
        *(
            _make_scene(scene, cells)
            for scene in SCENES.values()
            if _list_engines(cells, scene.name)
        ),
        "## Engines\n",
        _describe_settings(rows),
        _make_engines(rows),
    ]
    return "\n".join(parts).rstrip() + "\n"


GPU_MARK = "†"
_SCENES_TEXT = f"""Each table begins with the engine that errs least at the smallest step. It has the
relative **error** at the three time steps, the largest step first, and its observed **order** (1: half
the step gives half the error; 0: a smaller step does not help). **Creep** is the speed of what should
rest and **CPU** the time of a step relative to `{REFERENCE}`, both at the largest step. **Energy** is
the largest gain of the three runs, relative to the energy of the scene; friction and contact can only
take energy. **Same bits** compares two processes, and **said** has warnings, statuses and reasons.
"""

_TOTALS_TEXT = f"""

The engine with the most right answers is first. *Right* counts the scenes with an error up to 1 % at the
smallest step, *near* up to 10 %, *wrong* above, and *none* those without a result. *Creep* is that of the
held cube at its largest step, *CPU* the median of the scenes, and {GPU_MARK} marks an engine that is made
for GPUs and ran on the CPU here. *Wrong runs* counts the runs of all steps with an error above 10 % or
without a result, and *said* how many of them the engine commented in any way."""

# Changes after first runs, with the family of engines that it belongs to; None concerns all.
_CHANGES: tuple[tuple[str | None, str], ...] = (
    (
        "mujoco",
        "MuJoCo got the impedance of its own model of a house of cards instead of 0.9999: better "
        "here, worse under a mass ratio of 1000.",
    ),
    (
        "drake",
        "Drake got its default stiffness of points, 1e6 N/m, instead of ten times that: better "
        "where bodies slide, worse in the mass ratio and the rod. Its boxes and cylinders touch "
        "in points with small spheres at their corners and rims.",
    ),
    (
        "newton",
        "Newton's solvers got room for all contacts of the scenes, because they drop the rest.",
    ),
    (
        "genesis",
        "Genesis lost the 0.1 kg m^2 that it adds to each joint of a model, and got the springs of the "
        "cradle and of Hertz's spheres as time constants, because it takes no direct stiffness.",
    ),
    (
        "pinocchio",
        "Pinocchio's free bodies got rates in the world's frame, because its own free joint made "
        "energy where bodies spin, and Hertz's spheres a dashpot.",
    ),
    (
        "stiction",
        "The rows of `lagged` and `coulomb` with defaults, and of `coulomb` with the friction law "
        "`elastic`, were added after all others had been seen.",
    ),
    (
        None,
        "Six scenes load their contacts only when these have settled, the beads of the chain got "
        "a larger moment of inertia, and Hertz's spheres lost their friction.",
    ),
)


def _describe_settings(rows: Sequence[Row]) -> str:
    """Returns what changed after first runs, for the engines that ran."""
    families = {ENGINES[row.engine].family for row in rows if row.engine in ENGINES}
    lines = [f"- {text}" for family, text in _CHANGES if family is None or family in families]
    head = "The settings were chosen before the results were seen. These changed after first runs:"
    tail = "Engines that touch in points use their own contact points."
    return "\n".join((head, "", *lines, "", tail, ""))


def _make_findings(cells: dict[tuple[str, str], Cell]) -> list[str]:
    findings = [f"- {finding}" for finding in list_findings(cells)]
    return ["## What we found\n", *findings, ""] if findings else []


def _describe_runs(rows: Sequence[Row]) -> str:
    versions = ", ".join(sorted({row.version for row in rows if row.version not in ENGINES}))
    days = sorted({row.date for row in rows})
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    machines = sorted({row.machine for row in rows if row.machine})
    on = f", on {' and '.join(machines)}" if machines else ""
    return (
        f"{len(rows)} runs of {when}{on}.\n"
        "CPU times are ratios; trust them to a factor of 1.5.\n"
        f"Versions: {versions}.\n"
    )


def _list_engines(cells: dict[tuple[str, str], Cell], scene: str) -> list[str]:
    """Returns the engines that ran a scene: those with the least error at the smallest step first."""
    names = [name for name in ENGINES if (scene, name) in cells]

    def find_error(name: str) -> float:
        error = abs(cells[scene, name].finest.error)
        return error if math.isfinite(error) else math.inf

    return sorted(names, key=find_error)


def _make_totals(cells: dict[tuple[str, str], Cell]) -> str:
    names = [name for name in ENGINES if any(engine == name for _, engine in cells)]
    totals = {name: summarize(cells, name) for name in names}
    names.sort(key=lambda name: (-totals[name].right, -totals[name].near, totals[name].wrong))
    lines = [_format_total(name, totals[name]) for name in names]
    head = (
        "| engine | right | near | wrong | none | creep, µm/s | energy | CPU, ratio | same bits "
        "| wrong runs | said |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    )
    return "\n".join((*head, *lines)) + _TOTALS_TEXT


def _format_total(name: str, total: Total) -> str:
    return _join(
        name, total.right, total.near, total.wrong, total.failed, _format_creep(total.creep),
        _format_gain(total.energy_gain), _format_ratio(total.cpu_ratio, name),
        f"{total.same_bits} of {total.repeats}", total.wrong_runs, total.said,
    )  # fmt: skip


def _make_scene(scene: Scene, cells: dict[tuple[str, str], Cell]) -> str:
    steps = ", ".join(f"{1e3 * step:g}" for step in scene.steps)
    lines = [
        f"### {scene.title}\n",
        f"{scene.derivation.strip()}\n",
        f"Measured: {scene.quantity}; exact: {scene.exact:.5g}. Error: {scene.error}. "
        f"Time steps: {steps} ms.\n",
        f"| engine | {scene.quantity} | error | order | creep, µm/s | energy | CPU, ratio | same bits "
        "| said |",
        "|---|---:|---|---:|---:|---:|---:|---|---|",
    ]
    for name in _list_engines(cells, scene.name):
        cell = cells[scene.name, name]
        lines.append(
            _join(
                name,
                _format_number(cell.finest.value),
                ", ".join(format_error(row.error) for row in cell.rows),
                _format_number(cell.order, "{:.1f}"),
                _format_creep(cell.rows[0].creep),
                _format_gain(cell.energy_gain),
                _format_ratio(calc_cpu_ratio(cells, scene.name, name), name),
                cell.same_bits,
                _describe_said(cell),
            )
        )
    return "\n".join(lines) + "\n"


def _describe_said(cell: Cell) -> str:
    said = {text for row in cell.rows for text in (row.said, row.failed) if text}
    return "; ".join(sorted(text[:80] for text in said)).replace("|", "/")


def _make_engines(rows: Sequence[Row]) -> str:
    lines = ["| engine | settings | source | who says when it is wrong |", "|---|---|---|---|"]
    for name, engine in ENGINES.items():
        if any(row.engine == name for row in rows):
            lines.append(_join(name, engine.settings_text, engine.source, REPORTS[engine.family]))
    return "\n".join(lines)


def _join(*cells: object) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def _format_number(value: float, form: str = "{:.5g}") -> str:
    return form.format(value) if math.isfinite(value) else "-"


def _format_creep(creep: float) -> str:
    if not math.isfinite(creep):
        return "-"
    return "0" if creep < 1e-12 else f"{1e6 * creep:.2g}"


def _format_gain(gain: float) -> str:
    if not math.isfinite(gain):
        return "-"
    return "0" if gain < 1e-9 else format_error(gain)


def _format_ratio(ratio: float, engine: str) -> str:
    mark = f" {GPU_MARK}" if ENGINES[engine].is_made_for_gpu else ""
    return f"{ratio:.2g}{mark}" if math.isfinite(ratio) else "-"


# ---- Writes the page, the picture and the rows of the scorecard ----------------------------------


@dataclass(frozen=True)
class Paths:
    """The written files."""

    rows: Path
    page: Path
    picture: Path


def choose_paths(out: Path, page: Path | None = None, picture: Path | None = None) -> Paths:
    """Returns the paths of scorecard.csv, scorecard.md and scorecard.png."""
    paths = Paths(
        out / "scorecard.csv", page or out / "scorecard.md", picture or out / "scorecard.png"
    )
    check_picture_path(paths.picture)
    check_output(paths.rows, "a table of the scorecard", begins_with(HEADER))
    check_output(paths.page, "a page of the scorecard", begins_with(TITLE))
    return paths


def write_scorecard(rows: Sequence[Row], paths: Paths) -> None:
    """Writes the table of rows, the page and the picture, which the page shows."""
    link = os.path.relpath(paths.picture, paths.page.parent).replace(os.sep, "/")
    try:
        write_rows(rows, paths.rows)
        paths.page.write_text(make_page(rows, link))
        write_picture(draw_scorecard(make_cells(rows)), paths.picture)
    except OSError as e:
        raise Error(
            "invalid_value", str(e.filename or paths.page), f"cannot be written: {e}"
        ) from e
