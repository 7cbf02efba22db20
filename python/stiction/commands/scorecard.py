"""`stiction scorecard`: runs scenes with a known answer under several engines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stiction.binding.interrupts import DeferredInterrupt
from stiction.commands.app import ExitCode, app
from stiction.commands.options import Json
from stiction.commands.output import Messages, make_console, print_json
from stiction.errors import Error
from stiction.evidence.engines.environments import FOLDER, PEERS

if TYPE_CHECKING:
    from stiction.evidence.scorecard.engine_table import Engine
    from stiction.evidence.scorecard.page import Paths


@dataclass(frozen=True)
class Files:
    """The place of the data, and whether the page is made of them without a run."""

    out: Annotated[
        Path,
        typer.Option(file_okay=False, metavar="DIR", help="Folder of raw data, rows and page."),
    ] = Path("out/scorecard")
    environments: Annotated[
        Path,
        typer.Option(file_okay=False, metavar="DIR", help="Folder of the environments of peers."),
    ] = FOLDER
    only_page: Annotated[
        bool, typer.Option("--only-page", help="Run nothing; make the page from raw data.")
    ] = False
    rows: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Run nothing; make the page from a CSV of rows."),
    ] = None
    page: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The page; default: scorecard.md in --out.")
    ] = None
    picture: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The picture; default: scorecard.png in --out."),
    ] = None


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
    *,
    files: Files,
    install: Annotated[
        list[str] | None,
        typer.Option(
            "--install",
            metavar="NAME",
            help=f"Install a peer ({', '.join(PEERS)}) into its environment, and run nothing.",
        ),
    ] = None,
    as_json: Json = False,
) -> int:
    """Run scenes with a known answer under Stiction, MuJoCo and the engines of other projects.

    Runs that are done stay; a call after an interruption makes the others. Engines that are not
    installed are left out. It writes scorecard.csv, scorecard.md and scorecard.png.

    Exit codes: 0 success, 1 failure, 2 wrong usage, 130 Ctrl-C.
    """  # fmt: skip
    # Imported here because they load matplotlib and all scenes, which would slow down all other
    # commands.
    from stiction.evidence.engines.environments import install_environments
    from stiction.evidence.scorecard.campaign import Campaign, plan_runs, run_all
    from stiction.evidence.scorecard.engine_table import ENGINES, find_engine
    from stiction.evidence.scorecard.page import choose_paths, write_scorecard
    from stiction.evidence.scorecard.results import read_raw, read_rows
    from stiction.evidence.scorecard.scene_table import SCENES, find_scene

    messages = Messages()
    if install:
        install_environments(install, files.environments)
        if as_json:
            print_json({"installed": install})
        return ExitCode.OK
    scenes = [find_scene(name) for name in scene or SCENES]
    engines = [find_engine(name) for name in engine or ENGINES]
    raw, completed = files.out / "raw", True
    if files.rows is not None or files.only_page:
        # Read first, so that an error leaves no new folder.
        table = read_rows(files.rows) if files.rows is not None else read_raw(raw)
        paths = choose_paths(files.out, files.page, files.picture)
    else:
        paths = choose_paths(files.out, files.page, files.picture)
        if engine:
            for each in engines:
                each.environment.find_python(files.environments)
        ready = _leave_out(engines, files.environments, messages)
        with (
            DeferredInterrupt() as interrupt,
            messages.show_status("scorecard") as tell,
            Campaign(raw, files.environments) as campaign,
        ):
            completed = run_all(plan_runs(ready, scenes), campaign, tell, interrupt.take)
        table = read_raw(raw)
    write_scorecard(table, paths)
    _print_paths(paths, as_json)
    return ExitCode.OK if completed else ExitCode.INTERRUPTED


def _leave_out(engines: Sequence[Engine], environments: Path, messages: Messages) -> list[Engine]:
    """Returns the engines that are installed, and warns of the others."""
    missing = [each for each in engines if not each.environment.is_installed(environments)]
    for environment in dict.fromkeys(each.environment for each in missing):
        names = ", ".join(each.name for each in missing if each.environment == environment)
        try:
            environment.find_python(environments)
        except Error as e:
            messages.warn(f"{names}: left out, because {e.message}")
    return [each for each in engines if each not in missing]


def _print_paths(paths: Paths, as_json: bool) -> None:
    files = {"page": str(paths.page), "rows": str(paths.rows), "picture": str(paths.picture)}
    if as_json:
        print_json(files)
    else:
        make_console().print("\n".join(f"{name}: {file}" for name, file in files.items()))
