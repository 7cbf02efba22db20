"""`stiction view`: shows simulations and recordings with their contact patches in a browser."""

from __future__ import annotations

import math
import socket
import sys
import threading
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stiction.binding.interrupts import DeferredInterrupt, find_termination
from stiction.commands.app import ExitCode, app
from stiction.commands.options import Json, Methods, RunOptions, Tolerance, make_models_option
from stiction.commands.output import Messages, print_json, print_text
from stiction.errors import StepWarning
from stiction.inputs.names import choose_friction_law
from stiction.recording.reader import is_mcap_file
from stiction.runs.controls import default_duration
from stiction.setup.options import DEFAULTS
from stiction.view.readers import require_viewer
from stiction.view.session import MAX_SESSIONS

if TYPE_CHECKING:
    from stiction.view.session import Session

_WHOLE_RUN = 1e9  # longer than any recording [s]


_Html = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        dir_okay=False,
        help="Write a page that replays the run without a server, and start no server.",
    ),
]


@dataclass(frozen=True)
class Server:
    """The address of the page, and how it begins."""

    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="Address to listen on; with 0.0.0.0 or :: everyone in the network can control the page.",
        ),
    ] = "127.0.0.1"
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes any free one.")
    ] = 8080
    speed: Annotated[
        float, typer.Option(min=0.001, help="Simulated time over wall time; inf is allowed.")
    ] = 1.0
    paused: Annotated[bool, typer.Option("--paused", help="Do not play at once.")] = False


@app.command("view")
def view_command(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="A scene (MJCF or URDF), the name of a scene of the package, such as 'spatula', or "
            "recordings of one scene made by `stiction run --record`.",
        ),
    ],
    *,
    contact_model: Annotated[
        list[str] | None, make_models_option(str(DEFAULTS["contact_model"]))
    ] = None,
    server: Server,
    html: _Html = None,
    as_json: Json = False,
    methods: Methods,
    how: RunOptions,
    tolerance: Tolerance = DEFAULTS["tolerance"],
) -> int:
    """Show a scene or a recording in a browser, with its contact patches.

    Name several contact models to see them side by side on one clock, or several recordings of one
    scene. Press Ctrl-C to end.

    The simulated time (--duration) is that of the page of --html. Without --html a simulation goes
    on until it is stopped.

    Exit codes: 0 success, also after Ctrl-C, 1 failure, 2 wrong usage, 143 SIGTERM.
    """
    require_viewer()
    messages = Messages()
    values = {**vars(methods), "tolerance": tolerance}
    chosen = {name: value for name, value in values.items() if value != DEFAULTS[name]}
    if how.time_step is not None:
        chosen["time_step"] = how.time_step
    with messages.show_warnings():
        sessions = _open_sessions(files, contact_model, chosen, how)
        for session in sessions:
            if damage := session.warnings.get("damage"):
                messages.warn(f"{session.name}: {damage}")
    if html is not None:
        return _write_page(sessions, files, html, how.duration, messages, as_json)
    return _serve(sessions, server, as_json)


def _open_sessions(
    files: Sequence[Path],
    contact_models: Sequence[str] | None,
    chosen: dict[str, Any],
    how: RunOptions,
) -> Sequence[Session]:
    """Opens the recordings, or one simulation for each contact model."""
    from stiction.view.recorded import RecordedRun, check_same_scene

    count = max(len(files), len(contact_models or ()))
    if count > MAX_SESSIONS:
        raise typer.BadParameter(f"a page shows at most {MAX_SESSIONS} runs, and {count} are given")
    recordings = [path for path in files if path.is_file() and is_mcap_file(path)]
    if not recordings and len(files) == 1 and files[0].suffix != ".mcap":
        names = contact_models or [str(DEFAULTS["contact_model"])]
        return _make_simulations(files[0], names, chosen, how)
    if recordings and len(recordings) < len(files):
        other = next(path for path in files if path not in recordings)
        raise typer.BadParameter(
            f"{other} is not a recording, and a page shows either one scene or recordings; "
            "view the scene alone"
        )
    if not recordings and len(files) > 1:
        raise typer.BadParameter(
            f"{files[1]} is a second scene; a page shows one scene, so view each alone, or view "
            "recordings"
        )
    _check_nothing_is_chosen(contact_models, chosen, how)
    runs = [RecordedRun(path) for path in files]
    check_same_scene(runs)
    return runs


def _make_simulations(
    file: Path, contact_models: Sequence[str], chosen: dict[str, Any], how: RunOptions
) -> list[Session]:
    from stiction.view.simulation import Simulation

    scene = how.load(file)
    law = chosen.pop("friction_law", None)
    return [
        Simulation(
            scene,
            name,
            controls=how.controls,
            seed=how.seed,
            **chosen,
            **(choose_friction_law(name, law) if law else {}),
            **how.options,
        )
        for name in contact_models
    ]


def _check_nothing_is_chosen(
    contact_models: Sequence[str] | None, chosen: dict[str, Any], how: RunOptions
) -> None:
    """Raises typer.BadParameter if options were given that a recording cannot take."""
    given = {
        "--contact-model": contact_models,
        **{f"--{name.replace('_', '-')}": True for name in chosen},
        "--controls": how.controls,
        "--seed": how.seed,
        "--properties": how.properties,
        "--set": how.settings,
    }
    if names := [name for name, value in given.items() if value]:
        raise typer.BadParameter(
            "a recording shows the run that was made, with its contact model, controls and options; to "
            "change them, view the scene, or record another run",
            param_hint=", ".join(names),
        )


def _write_page(
    sessions: Sequence[Session],
    files: Sequence[Path],
    path: Path,
    duration: float | None,
    messages: Messages,
    as_json: bool,
) -> ExitCode:
    from stiction.view.film import film_sessions
    from stiction.view.page import check_page_path, make_page, write_page
    from stiction.view.simulation import Simulation

    check_page_path(path)
    first = sessions[0]
    if duration is None:
        duration = default_duration(first.scene) if isinstance(first, Simulation) else _WHOLE_RUN
    with messages.show_warnings(), messages.show_status("view") as tell:
        films = film_sessions(sessions, duration, tell=lambda time: tell(f"t = {time:.2f} s"))
        tell("writing the page")
        page = make_page(films, title=", ".join(file.name for file in files))
    write_page(path, page)
    size = len(page.encode())
    problems = [session.problem for session in sessions if session.problem]
    if as_json:
        print_json({"page": str(path), "size": size, "problems": problems})
    else:
        print_text(f"page: {path} ({size / 1e6:.1f} MB)")
    for problem in problems:
        messages.fail(problem)
    return ExitCode.FAILURE if problems else ExitCode.OK


def _serve(sessions: Sequence[Session], server: Server, as_json: bool) -> ExitCode:
    from stiction.view.server import is_local
    from stiction.view.viewer import Viewer

    _check_host(server.host)
    speed = math.inf if server.speed > 1e6 else server.speed
    with (
        warnings.catch_warnings(),
        DeferredInterrupt() as interrupt,
        Viewer(sessions, server.host, server.port, speed) as viewer,
    ):
        warnings.simplefilter("ignore", StepWarning)  # the page shows them
        if as_json:
            print_json({"url": viewer.url})
        else:
            print_text(f"view: {viewer.url} (Ctrl-C ends)")
        sys.stdout.flush()
        if not is_local(server.host):
            Messages().warn(
                f"--host {server.host}: everyone who reaches this machine through the network can see "
                "and control this page, because it has no password; leave out --host to serve only "
                "this machine"
            )
        if not server.paused:
            viewer.runner.play()
        pause = threading.Event()
        while not interrupt.take():
            pause.wait(0.1)
    # Ctrl-C is the regular end; SIGTERM and SIGHUP come from outside.
    return ExitCode.INTERRUPTED if find_termination() else ExitCode.OK


def _check_host(host: str) -> None:
    """Raises typer.BadParameter if no address of this machine has the name."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.bind(address)
    except (OSError, UnicodeError) as e:  # UnicodeError: a label is empty or longer than 63 letters
        reason = e.strerror if isinstance(e, OSError) else "it cannot be the name of a host"
        raise typer.BadParameter(
            f"'{host}' is not an address of this machine: {reason}; take 127.0.0.1, the name or an "
            "address of this machine, or 0.0.0.0 for all",
            param_hint="--host",
        ) from e
