"""The HTML report of a comparison: one self-contained file."""

from __future__ import annotations

import datetime
import os
import platform
from html import escape
from pathlib import Path
from urllib.parse import quote

import mujoco
import numpy as np

import stiction
from stiction._core import contact_model_traits
from stiction.analysis.artifacts import table as artifact_table
from stiction.compare import plots
from stiction.compare.rows import Comparison
from stiction.compare.table import (
    Column,
    advise_springs,
    describe_trouble,
    make_columns,
    make_title,
)
from stiction.errors import Error
from stiction.inputs.arguments import check_path
from stiction.tables.output_files import check_output, has_mark

# ---- The style sheet of reports, with light and dark colors, for screens, phones and paper -------

STYLE = """
:root { color-scheme: light dark; --line: #0002; --soft: #0000000a; --quiet: #555; --bad: #b3261e;
  --paper: #fff; --ink: #1c2126; }
@media (prefers-color-scheme: dark) {
  :root { --line: #fff3; --soft: #ffffff0d; --quiet: #a9b1ba; --bad: #ff8a80; --paper: #14181c;
    --ink: #e6e9ec; }
}
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 72rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .5rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
p, dl { max-width: 46rem; }
.wide { overflow-x: auto; margin: 1rem 0; max-width: calc(100vw - 2rem); position: relative;
  left: 50%; transform: translateX(-50%); width: max-content;
  min-width: 100%; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .5rem; text-align: right; white-space: nowrap; font-size: .9rem;
  border-bottom: 1px solid var(--line); }
th { font-weight: 600; }
th:first-child { text-align: left; position: sticky; left: 0; background: var(--paper); }
thead th { vertical-align: bottom; }
thead small { display: block; font-weight: 400; color: var(--quiet); min-height: 1.5em; }
tbody tr:hover td { background: var(--soft); }
.settings th, .settings td { text-align: left; white-space: normal; vertical-align: top; }
.settings th { font-weight: 400; color: var(--quiet); white-space: nowrap; }
.trouble { color: var(--bad); max-width: 46rem; padding-left: 1.2rem; }
.plots { display: grid; gap: 1.5rem 2rem; margin-top: 1.5rem;
  grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); }
figure { margin: 0; min-width: 0; }
figure h2 { margin: 0 0 .3rem; }
figure svg { width: 100%; height: auto; display: block; }
figcaption, .legend { font-size: .85rem; color: var(--quiet); }
.legend { margin: 2rem 0 0; padding: .3rem 0; display: flex; flex-wrap: wrap; gap: 0 1rem;
  max-width: none; position: sticky; top: 0; background: var(--paper);
  border-bottom: 1px solid var(--line); }
i { display: inline-block; width: 1.6rem; height: 0; margin-right: .5rem; vertical-align: middle; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1rem; }
dt { font-weight: 600; }
dd { margin: 0; }
@media print { body { max-width: none; } figure { break-inside: avoid; } }
"""


# Marks a file as a report that may be overwritten. It is near the beginning of every report.
_MARK = '<meta name="generator" content="stiction compare">'


def check_report_path(path: Path, scene: Path) -> None:
    """Makes the report's folder. Error: the report cannot be written, or the file is no report."""
    check_path("report", path)
    if path.is_file() and path.samefile(scene):
        raise Error("invalid_value", str(path), "is the scene itself; give another name")
    check_output(path, "a report", has_mark(_MARK))


def write_report(comparison: Comparison, path: Path, replay: Path | None = None) -> None:
    """Writes the report to a file, with a link to the page `replay` beside it if there is one."""
    try:
        path.write_text(make_report(comparison, replay), encoding="utf-8")
    except OSError as e:
        raise Error("invalid_value", str(path), f"cannot be written: {e.strerror}") from e


def make_report(comparison: Comparison, replay: Path | None = None) -> str:
    """Returns the report as an HTML page, with a link to the page `replay` beside it."""
    title = make_title(comparison)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
{_MARK}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
<style>{STYLE}</style>
</head>
<body>
<h1>{escape(title)}</h1>
<p>{escape(_make_summary(comparison))}</p>
{_make_link(comparison, replay)}
{_make_troubles(comparison)}
{_make_table(comparison)}
{_make_artifacts(comparison)}
{_make_plots(comparison)}
<h2>How to read it</h2>
{_make_notes(comparison)}
<h2>Settings</h2>
{_make_settings(comparison)}
</body>
</html>
"""


def _make_summary(comparison: Comparison) -> str:
    traits = [contact_model_traits(name) for name in {row.contact_model for row in comparison.rows}]
    count = sum(not each.is_mj_step for each in traits)
    models = "one contact model" if count == 1 else f"{count} contact models"
    text = f"One scene, the same controls, {models}{', and mj_step' * (count < len(traits))}."
    if comparison.held:
        text += (
            f" The figures describe the hold of body '{comparison.held}' from "
            f"{comparison.judged_from:.3g} s on, after the motion of the grasp has decayed."
        )
    else:
        text += f" Means and penetration cover the time from {comparison.judged_from:.3g} s on."
    return text


def _make_link(comparison: Comparison, replay: Path | None) -> str:
    if replay is None:
        return ""
    runs = ", ".join(film.name for film in comparison.films)
    link = f'<a href="{escape(quote(replay.name))}">Replay in 3D</a>'
    return f"<p>{link} of {escape(runs)}</p>"


def _make_troubles(comparison: Comparison) -> str:
    lines = [text for row in comparison.rows if (text := describe_trouble(row))]
    lines += [f"{row.label}: {note}" for row in comparison.rows for note in row.notes]
    if not lines:
        return ""
    return '<ul class="trouble">' + "".join(f"<li>{escape(x)}</li>" for x in lines) + "</ul>"


def _make_table(comparison: Comparison) -> str:
    columns = make_columns(comparison)
    head = "".join(
        f"<th>{escape(c.heading)}<small>{escape(_prettify_unit(c.unit))}</small></th>"
        for c in columns
    )
    lines = []
    for row, style in zip(comparison.rows, plots.find_styles(comparison), strict=True):
        cells = "".join(f"<td>{escape(c.format(row))}</td>" for c in columns)
        lines.append(f"<tr><th>{_make_swatch(*style)}{escape(row.label)}</th>{cells}</tr>")
    return (
        f'<div class="wide"><table><thead><tr><th>contact model</th>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _make_artifacts(comparison: Comparison) -> str:
    """Returns the artifact budget of every model: Table I of [castro2023], pair by pair."""
    rows = [(row.label, budget) for row in comparison.rows for budget in row.artifacts]
    if not rows:
        return ""
    columns = artifact_table.find_columns(budget for _, budget in rows)
    head = "".join(
        f"<th>{escape(c.heading)}<small>{escape(_prettify_unit(c.unit))}</small></th>"
        for c in columns
    )
    lines = []
    for label, budget in rows:
        cells = "".join(f"<td>{escape(c.format(budget))}</td>" for c in columns)
        pair = escape(" and ".join(budget.geoms))
        lines.append(f"<tr><th>{escape(label)}</th><td>{pair}</td>{cells}</tr>")
    meanings = "".join(f"<dt>{escape(c.heading)}</dt><dd>{escape(c.meaning)}</dd>" for c in columns)
    return (
        "<h2>Artifacts: what each model gets wrong by design</h2>"
        f"<p>Each cell has {escape(artifact_table.EXPLANATION)}.</p>"
        '<div class="wide"><table><thead><tr><th>contact model</th><th>geoms</th>'
        f"{head}</tr></thead><tbody>{''.join(lines)}</tbody></table></div><dl>{meanings}</dl>"
    )


def _make_swatch(color: str, dash: str) -> str:
    return f'<i style="border-top:3px {dash} {color}"></i>'


def _make_plots(comparison: Comparison) -> str:
    if not any(len(trace) for trace in comparison.traces):
        return "<p>No contact model completed a step.</p>"
    parts = []
    if any(np.isfinite(trace["slip"]).any() for trace in comparison.traces):
        parts.append((
            "Slip of the held body",
            plots.draw_slip(comparison),
            "Both axes are logarithmic: steady creep is a line of slope 1, and a line ten times as "
            "high is ten times as fast. The start of a curve shows slip from before the grasp came "
            "to rest.",
        ))  # fmt: skip
    parts += [
        (
            "Penetration",
            plots.draw_penetration(comparison),
            "Deepest overlap of any two bodies. If no stiffness is given, the convex models make "
            "contact as stiff as the time step can resolve; sap adds its relaxation time.",
        ),
        (
            "Residual against tolerance",
            plots.draw_residual(comparison),
            "Recomputed after every step by code that is independent of the solver; maximum of "
            "neighboring steps. mujoco has no certificate, and so no line here.",
        ),
        (
            "Error bound",
            plots.draw_velocity_bound(comparison),
            "Proved bound on the solver's error in the velocity of any contact point; maximum of "
            "neighboring steps. tamsi and the rigid models with Coulomb friction have no such bound.",
        ),
        (
            "Iterations",
            plots.draw_iterations(comparison),
            "Mean of neighboring steps. 0 means that the last velocity already met the tolerance.",
        ),
        (
            "Cost",
            plots.draw_cost(comparison),
            "Wall time of whole steps, certificate included; median of neighboring steps. The axis "
            "ends at twice the 95th percentile.",
        ),
    ]
    legend = "".join(
        f"<span>{_make_swatch(*style)}{escape(row.label)}</span>"
        for row, style in zip(comparison.rows, plots.find_styles(comparison), strict=True)
    )
    figures = "".join(
        f"<figure><h2>{escape(title)}</h2>{_label(svg, title)}"
        f"<figcaption>{escape(text)}</figcaption></figure>"
        for title, svg, text in parts
    )
    return f'<p class="legend">{legend}</p><section class="plots">{figures}</section>'


def _label(svg: str, title: str) -> str:
    return svg.replace("<svg", f'<svg role="img" aria-label="{escape(title)}"', 1)


def _make_notes(comparison: Comparison) -> str:
    columns = "".join(_make_definition(column) for column in make_columns(comparison))
    creep = (
        "<p>Regularized friction holds a load only while it slips a little. This creep is a "
        "property of the contact model, so it is both predicted and measured here. If the two "
        "differ, either the grasp was not at rest or the solver is wrong. "
        f"{escape(advise_springs(comparison))}</p>"
        if comparison.held
        else ""
    )
    return (
        f"{creep}<p><strong>The error bound limits the solver's error in one step.</strong> It "
        "does not limit the errors of the contact model, its parameters or the time step. Compare "
        "the models and halve the time step to estimate these.</p>"
        f"{_make_limitations(comparison)}<dl>{columns}</dl>"
    )


def _make_limitations(comparison: Comparison) -> str:
    """Lists what the models get wrong by design."""
    models = dict.fromkeys(row.contact_model for row in comparison.rows)
    limitations = {name: contact_model_traits(name).limitation for name in models}
    items = "".join(
        f"<li><code>{escape(name)}</code>: {escape(text)}.</li>"
        for name, text in limitations.items()
        if text
    )
    return f"<p>By design of the models, at any time step:</p><ul>{items}</ul>" if items else ""


def _make_definition(column: Column) -> str:
    return f"<dt>{escape(column.heading)}</dt><dd>{escape(column.meaning)}</dd>"


def _make_settings(comparison: Comparison) -> str:
    now = datetime.datetime.now().astimezone()
    settings = {
        "scene": comparison.scene,
        "contact models": ", ".join(row.label for row in comparison.rows),
        "time step": f"{1e3 * comparison.time_step:g} ms",
        "duration": f"{comparison.duration:.6g} s",
        "tolerance": f"{comparison.tolerance:g}",
        "settings": ", ".join(f"{k} = {v}" for k, v in comparison.settings.items()) or "-",
        "controls": comparison.controls
        + (f", seed {comparison.seed}" if comparison.controls == "random" else ""),
        "hold begins": f"{comparison.hold_start:.6g} s" if comparison.held else "-",
        "Stiction": stiction.__version__,
        "MuJoCo": mujoco.__version__,
        "machine": f"{_find_processor()}, {os.cpu_count()} cores, {platform.system()}",
        "date": now.strftime("%Y-%m-%d %H:%M %z"),
    }
    rows = "".join(
        f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>"
        for name, value in settings.items()
    )
    return f'<div class="wide"><table class="settings">{rows}</table></div>'


def _find_processor() -> str:
    """Returns the processor's name if the system gives it, else its architecture."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _prettify_unit(unit: str) -> str:
    return unit.replace("um", "µm").replace("us/", "µs/")
