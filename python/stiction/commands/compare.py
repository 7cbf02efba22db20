"""`stiction compare`: runs a scene under every contact model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stiction.analysis.artifacts import table as artifact_table
from stiction.commands.app import ExitCode, app
from stiction.commands.options import (
    ErrorControl,
    Json,
    Laws,
    RunOptions,
    SceneFile,
    Tolerance,
    make_models_option,
)
from stiction.commands.output import Messages, make_console, print_json, print_text
from stiction.compare.cases import make_cases
from stiction.compare.comparison import compare_models
from stiction.compare.rows import Comparison
from stiction.compare.table import advise_springs, describe_trouble, make_table
from stiction.runs.controls import count_steps, default_duration
from stiction.scene import Scene
from stiction.setup.options import DEFAULTS
from stiction.tables.output_files import check_picture_path
from stiction.view.readers import can_view


@app.command("compare")
def compare_command(
    scene: SceneFile,
    *,
    contact_model: Annotated[list[str] | None, make_models_option("all")] = None,
    how: RunOptions,
    laws: Laws,
    errors: ErrorControl,
    tolerance: Tolerance = DEFAULTS["tolerance"],
    as_json: Json = False,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder of the report, which is named SCENE.html.")
    ] = Path("out"),
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File of the report; replaces --out.")
    ] = None,
) -> int:
    """Run a scene under every contact model and compare the results.

    The comparison has the measured and the predicted creep of a held body, penetration, error
    bounds, iterations and cost. It is printed and written to an HTML report with plots. If
    viser and mjviser are installed, SCENE_replay.html beside it replays up to six runs in 3D.
    SCENE_patches.png has their contact patches at the last time at which there are any.

    Exit codes: 0 success, 1 failure, 2 wrong usage, 3 a step failed its certificate, 130 Ctrl-C;
    then the report has the rows so far, and there is no replay.
    """
    messages = Messages()
    # Imported here because it loads matplotlib, which would slow down all other commands.
    from stiction.compare.plots import write_stills
    from stiction.compare.report import write_report

    with messages.show_warnings():
        loaded = how.load(scene)
    report, replay_path, stills_path = _choose_paths(html or out / f"{scene.stem}.html", loaded)
    step = how.time_step or float(loaded.model.opt.timestep)
    num_steps = count_steps(how.duration or default_duration(loaded), step)
    num_steps *= len(make_cases(loaded, contact_model))  # calls of advance are few
    with messages.show_runs(num_steps, step) as after_step:
        comparison = compare_models(
            loaded,
            contact_model,
            **vars(laws),
            **vars(errors),
            settings=how.options,
            time_step=how.time_step,
            duration=how.duration,
            tolerance=tolerance,
            controls=how.controls,
            seed=how.seed,
            after_step=after_step,
        )
    if comparison.interrupted:
        comparison.films.clear()  # pages take long
    replay = _write_replay(comparison, replay_path, scene.name, messages)
    stills = write_stills(comparison.films, stills_path)
    write_report(comparison, report, replay)
    if as_json:
        paths = {"report": report, "replay": replay, "stills": stills}
        texts = {name: path and str(path) for name, path in paths.items()}
        print_json({**comparison.figures(), **texts})
    else:
        _print_tables(comparison)
        for name, path in (("replay", replay), ("patches", stills), ("report", report)):
            if path:
                print_text(f"{name}: {path}")
    return _conclude(comparison, messages)


def _choose_paths(report: Path, scene: Scene) -> tuple[Path, Path, Path]:
    """Returns the paths of report, replay and picture, once it is sure that they may be written."""
    from stiction.compare.report import check_report_path
    from stiction.view.page import check_page_path

    check_report_path(report, scene.path)
    replay = report.with_name(f"{report.stem}_replay.html")
    if can_view():
        check_page_path(replay)
    stills = report.with_name(f"{report.stem}_patches.png")
    check_picture_path(stills)
    return report, replay, stills


def _write_replay(
    comparison: Comparison, path: Path, scene: str, messages: Messages
) -> Path | None:
    """Returns the path of the page, or None if there is none. Then that of an earlier run is removed."""
    from stiction.view.page import make_page, remove_page, write_page

    if not (comparison.films and can_view()):
        remove_page(path)
        return None
    with messages.show_status("writing the replay"):
        write_page(path, make_page(comparison.films, title=f"{scene}: contact models"))
    return path


def _print_tables(comparison: Comparison) -> None:
    console = make_console()
    console.print(make_table(comparison))
    worst = [(row.label, row.artifacts[0]) for row in comparison.rows if row.artifacts]
    if worst:
        console.print(artifact_table.make_table(worst))
        print_text("These are of the pair that presses hardest; the report has the others.")


def _conclude(comparison: Comparison, messages: Messages) -> ExitCode:
    """Prints notes and failures, and returns the exit code."""
    code = ExitCode.OK
    for row in comparison.rows:
        for note in row.notes:
            messages.warn(f"{row.label}: {note}")
        trouble = describe_trouble(row)
        if trouble:
            messages.fail(trouble)
            if code != ExitCode.CERTIFICATE_FAILED:
                is_certificate = "certificate_failed" in row.status
                code = ExitCode.CERTIFICATE_FAILED if is_certificate else ExitCode.FAILURE
    if advice := advise_springs(comparison):
        messages.warn(advice)
    if comparison.interrupted:
        messages.fail(
            "interrupted; the last row covers only the steps made so far, and there is no replay"
        )
        code = ExitCode.INTERRUPTED
    return code
