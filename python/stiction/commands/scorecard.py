"""`stiction scorecard`: runs scenes with a known answer under several engines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stiction.commands.app import ExitCode, app
from stiction.commands.output import Messages, make_console
from stiction.errors import Error
from stiction.interrupts import DeferredInterrupt

_ENVIRONMENTS = Path("build/scorecard")


@app.command("scorecard")
def scorecard_command(
    scene: Annotated[
        list[str] | None, typer.Option("--scene", metavar="NAME", help="Scene; default: all.")
    ] = None,
    engine: Annotated[
        list[str] | None,
        typer.Option(
            "--engine", metavar="NAME", help="Engine, such as 'stiction coulomb'; default: all."
        ),
    ] = None,
    out: Annotated[
        Path,
        typer.Option(file_okay=False, metavar="DIR", help="Folder of raw data, rows and page."),
    ] = Path("out/scorecard"),
    environments: Annotated[
        Path,
        typer.Option(file_okay=False, metavar="DIR", help="Folder of the environments of peers."),
    ] = _ENVIRONMENTS,
    install: Annotated[
        list[str] | None,
        typer.Option(
            "--install",
            metavar="NAME",
            help="Install the environment of a peer (drake, newton, bullet), and run nothing.",
        ),
    ] = None,
    only_page: Annotated[
        bool, typer.Option("--only-page", help="Run nothing; make the page from raw data.")
    ] = False,
    rows: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Run nothing; make the page from a CSV of rows."),
    ] = None,
    page: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The page; default: scorecard.md in --out.")
    ] = None,
) -> int:
    """Run scenes with a known answer under Stiction, MuJoCo, Drake, Newton and PyBullet.

    Runs that are done stay; a call after an interruption makes the others. Engines that are not
    installed are left out. It writes scorecard.csv, scorecard.md and scorecard.png.

    Exit codes: 0 success, 1 failure, 2 wrong usage, 130 Ctrl-C.
    """  # fmt: skip
    # Imported here because they load matplotlib and all scenes, which would slow down all other
    # commands.
    from stiction.scorecard.campaign import Campaign, plan_runs, run_all
    from stiction.scorecard.engine_table import ENGINES, find_engine
    from stiction.scorecard.environments import install_environments
    from stiction.scorecard.output import write_scorecard
    from stiction.scorecard.results import read_raw, read_rows
    from stiction.scorecard.scene_table import SCENES, find_scene

    messages = Messages()
    if install:
        install_environments(install, environments)
        return ExitCode.OK
    if rows is not None:
        paths = write_scorecard(read_rows(rows), out, page)
        make_console().print(f"page: {paths.page}")
        return ExitCode.OK
    scenes = [find_scene(name) for name in scene or SCENES]
    engines = [find_engine(name) for name in engine or ENGINES]
    completed = True
    if not only_page:
        if engine:
            for each in engines:
                each.environment.find_python(environments)
        missing = [e for e in engines if not e.environment.is_installed(environments)]
        for each in missing:
            try:
                each.environment.find_python(environments)
            except Error as e:
                messages.warn(f"{each.name} is left out: {e.message}")
        ready = [e for e in engines if e not in missing]
        with (
            DeferredInterrupt() as interrupt,
            messages.show_status("scorecard") as tell,
            Campaign(out / "raw", environments) as campaign,
        ):
            completed = run_all(plan_runs(ready, scenes), campaign, tell, interrupt.take)
    paths = write_scorecard(read_raw(out / "raw"), out, page)
    make_console().print(f"page: {paths.page}\nrows: {paths.rows}\npicture: {paths.picture}")
    return ExitCode.OK if completed else ExitCode.INTERRUPTED
