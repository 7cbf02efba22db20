"""The command `python -m stiction.studio`. It can be imported without Studio."""

from __future__ import annotations

import sys

import stiction.studio
from stiction.commands.app import ExitCode
from stiction.errors import Error

_HELP = """usage: python -m stiction.studio SCENE --web

Opens a scene in MuJoCo Studio, and steps it with Stiction.

SCENE  a file, or the name of a scene of the package
--web  open a page in the browser; the window of Studio 4.0.0 does not work

Exit codes: 0 success, 1 failure, 2 wrong usage."""


def main(arguments: list[str]) -> ExitCode:
    """Opens the scene of a command line. An error gives one line on standard error."""
    if {"--help", "-h"} & set(arguments):
        print(_HELP)
        return ExitCode.OK
    unknown = [a for a in arguments if a.startswith("-") and a != "--web"]
    scenes = [a for a in arguments if not a.startswith("-")]
    if unknown:
        return _fail(f"there is no option {unknown[0]}; --help lists what it takes", ExitCode.USAGE)
    if len(scenes) != 1:
        problem = f"{len(scenes)} scenes are given, and one is shown"
        return _fail(f"{problem}; --help lists what it takes", ExitCode.USAGE)
    try:
        stiction.studio.launch(scenes[0], web="--web" in arguments)
    except Error as e:
        return _fail(str(e), ExitCode.of_error(e))
    except ImportError as e:
        return _fail(str(e), ExitCode.FAILURE)
    return ExitCode.OK


def _fail(problem: str, code: ExitCode) -> ExitCode:
    print(f"error: {problem}", file=sys.stderr)
    return code
