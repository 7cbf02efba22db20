"""`stiction compare`: runs a scene under every contact model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stiction.analysis.artifacts import table as artifact_table
from stiction.commands import options
from stiction.commands.app import ExitCode, app
from stiction.commands.output import Messages, make_console, print_json, print_text
from stiction.compare.cases import make_cases
from stiction.compare.comparison import compare_models
from stiction.compare.rows import Comparison
from stiction.compare.table import describe_trouble, make_table
from stiction.runs.controls import count_steps, default_duration
from stiction.scene import load_scene
from stiction.setup.options import DEFAULTS
from stiction.tables.output_files import check_picture_path
from stiction.view.requirements import can_view


@app.command("compare")
def compare_command(
    scene: options.SceneFile,
    contact_model: Annotated[list[str] | None, options.make_models_option("all")] = None,
    normal_law: options.NormalLaw = DEFAULTS["normal_law"],
    friction_law: options.FrictionLaw = DEFAULTS["friction_law"],
    time_step: options.TimeStep = None,
    duration: options.Duration = None,
    accuracy: options.Accuracy = None,
    period: options.Period = None,
    as_json: options.Json = False,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder of the report, which is named SCENE.html.")
    ] = Path("out"),
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File of the report; replaces --out.")
    ] = None,
    controls: options.Controls = None,
    seed: options.Seed = 0,
    tolerance: options.Tolerance = DEFAULTS["tolerance"],
    properties: options.Properties = None,
    settings: options.Settings = None,
) -> int:
    """Run a scene under every contact model and compare the results.

    The comparison has the measured and the predicted creep of a held body, penetration, error
    bounds, iterations and cost. It is printed and written to an HTML report with plots. If
    viser and mjviser are installed, SCENE_replay.html beside it replays the first six runs in 3D.
    SCENE_patches.png has their contact patches at the last time at which there are any.

    Exit codes: 0 success, 1 failure, 2 wrong usage, 3 a step failed its certificate, 130 Ctrl-C;
    then the report has the rows so far.
    """
    messages = Messages()
    # Imported here because it loads matplotlib, which would slow down all other commands.
    from stiction.compare.report import check_report_path, write_report
    from stiction.compare.stills import write_stills
    from stiction.view.page import check_page_path, make_page, remove_page, write_page

    report = html or out / f"{scene.stem}.html"
    with messages.show_warnings():
        loaded = load_scene(scene, properties)
    check_report_path(report, loaded.path)
    replay_path = report.with_name(f"{report.stem}_replay.html")
    if can_view():
        check_page_path(replay_path)
    stills_path = report.with_name(f"{report.stem}_patches.png")
    check_picture_path(stills_path)
    step = time_step or float(loaded.model.opt.timestep)
    num_steps = count_steps(duration or default_duration(loaded), step)
    num_steps *= len(make_cases(loaded, contact_model))  # calls of advance are few
    with messages.show_runs(num_steps, step) as after_step:
        comparison = compare_models(
            loaded,
            contact_model,
            normal_law=normal_law,
            friction_law=friction_law,
            settings=dict(settings or ()),
            time_step=time_step,
            duration=duration,
            tolerance=tolerance,
            controls=controls,
            seed=seed,
            accuracy=accuracy,
            period=period,
            after_step=after_step,
        )
    replay = replay_path if comparison.films and can_view() else None
    if replay:
        title = f"{scene.name}: contact models"
        write_page(replay, make_page(comparison.films, title=title))
    else:
        remove_page(replay_path)  # of an earlier comparison
    stills = write_stills(comparison.films, stills_path)
    write_report(comparison, report, replay)
    if as_json:
        paths = {"report": report, "replay": replay, "stills": stills}
        texts = {name: path and str(path) for name, path in paths.items()}
        print_json({**comparison.figures(), **texts})
    else:
        console = make_console()
        console.print(make_table(comparison))
        worst = [(row.label, row.artifacts[0]) for row in comparison.rows if row.artifacts]
        if worst:
            console.print(artifact_table.make_table(worst))
            print_text("These are of the pair that presses hardest; the report has the others.")
        if replay:
            print_text(f"replay: {replay}")
        if stills:
            print_text(f"patches: {stills}")
        print_text(f"report: {report}")
    return _conclude(comparison, messages)


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
    if comparison.interrupted:
        messages.fail("interrupted; the last row covers only the steps made so far")
        code = ExitCode.INTERRUPTED
    return code
