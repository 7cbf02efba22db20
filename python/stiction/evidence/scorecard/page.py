"""The page of the scorecard, in Markdown, from the rows."""

from __future__ import annotations

import math
from collections.abc import Sequence

from stiction.evidence.scorecard.engine_table import ENGINES
from stiction.evidence.scorecard.findings import list_findings
from stiction.evidence.scorecard.picture import format_error
from stiction.evidence.scorecard.reports import REPORTS
from stiction.evidence.scorecard.results import Row
from stiction.evidence.scorecard.scene import Scene
from stiction.evidence.scorecard.scene_table import SCENES
from stiction.evidence.scorecard.summary import (
    REFERENCE,
    Cell,
    Total,
    calc_cpu_ratio,
    make_cells,
    summarize,
)

TITLE = "# Scorecard\n"  # the first line of every page

_INTRODUCTION = f"""{TITLE}
How right are the engines? Each scene has a known answer. Each engine runs it at three time steps, with
the settings that its documentation recommends ([below](#engines)). Our own losses stand in the same
tables.

![The error of each engine on each scene at the smallest time step](PICTURE)

The picture has the relative error at the smallest time step of each scene. An empty field means that
the engine has nothing for the scene, such as no pressure field. A dash means that a run has no result: it
failed, or what is measured did not happen.

    stiction scorecard --install drake --install newton --install bullet    # once: the peers
    stiction scorecard          # all runs; a second call continues after an interruption
    stiction scorecard --rows scorecard.csv     # the page and the picture again

`scorecard.csv` has a row per run. `out/scorecard/raw` keeps every trajectory. A run is made again if
its scene or settings change, or if its files are deleted, as after an update of an engine.
"""


def make_page(rows: Sequence[Row], picture: str = "scorecard.png") -> str:
    """Returns the page.

    Args:
        rows: the results.
        picture: path of the picture, relative to the page.
    """
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
_SCENES_TEXT = f"""The columns of the tables:

- **error**: relative error at each of the three time steps, the largest step first;
- **order**: observed order of the error in the time step. 1 means that half the step gives half the
  error; 0 means that a smaller step does not help;
- **creep**: speed of what should rest, at the largest step;
- **energy**: largest gain of energy of the three runs, relative to the energy of the scene. Friction
  and contact can only take energy;
- **CPU**: CPU time of a step at the largest step, relative to that of `{REFERENCE}`. {GPU_MARK} marks an
  engine that is made for GPUs and ran on the CPU here, so its ratio says nothing about its use;
- **same bits**: whether two processes gave the same bits;
- **said**: what the engine said: warnings, statuses, or why it stopped.
"""

_TOTALS_TEXT = f"""

At the smallest steps, *right* counts the scenes with an error up to 1 %, *near* those up to 10 %,
*wrong* those above, and *none* those without a result. *Creep* is that of the held cube at its
largest step. *Energy* is the largest gain of all runs. *CPU* is the median of the scenes;
{GPU_MARK} marks an engine that is made for GPUs and ran on the CPU here. *Same bits* counts the
scenes whose second run, in another process, gave the same bits. *Wrong runs* counts the runs of all
steps with an error above 10 % or without a result, and *said* how many of them the engine commented
in any way."""

# What changed after first runs, with the family of engines that it belongs to; None concerns all.
_CHANGES: tuple[tuple[str | None, str], ...] = (
    (
        "mujoco",
        "MuJoCo had the largest impedance that it accepts, 0.9999. Blocks lost contact for a step "
        "as they began to slide, and with `noslip` a block below the friction angle went on "
        "sliding. MuJoCo now has the impedance of its own model of a house of cards, with which "
        "it is better in these scenes, and worse under a mass ratio of 1000.",
    ),
    (
        "drake",
        "Drake's points were ten times as stiff as its default of 1e6 N/m. Under `similar` "
        "sliding blocks then bounced. With the default most of its sliding scenes are better, and "
        "the mass ratio and the rod worse. Under its point contact, boxes and cylinders touch "
        "with small spheres at their corners and rims, because Drake has one point per pair of "
        "geometries.",
    ),
    (
        "newton",
        "Newton's Steel printed that it had dropped rows of constraints, and got the capacity "
        "that it asked for.",
    ),
    (
        "stiction",
        "The rows of `lagged` and `coulomb` with defaults, and of `coulomb` with the friction law "
        "`elastic`, were added after all others had been seen.",
    ),
    (
        None,
        "Six scenes load their contacts only when these have settled, because some engines have "
        "no force in the first step of a contact; the beads of the chain got a larger moment of "
        "inertia, which single numbers resolve; and Hertz's spheres lost their friction, which "
        "stiffens pyramids of friction.",
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
    return [name for name in ENGINES if (scene, name) in cells]


def _make_totals(cells: dict[tuple[str, str], Cell]) -> str:
    names = [name for name in ENGINES if any(engine == name for _, engine in cells)]
    lines = [_format_total(name, summarize(cells, name)) for name in names]
    head = (
        "| engine | right | near | wrong | none | creep, µm/s | energy | CPU | same bits "
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
        f"| engine | {scene.quantity} | error | order | creep, µm/s | energy | CPU | same bits "
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
