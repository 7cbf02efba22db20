"""The entry point of the program `stiction`.

It is outside the package `stiction`, so that it can report why that package cannot be loaded.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Runs the command line.

    Prints one line and exits with code 1 if `import stiction` fails, for example because of the
    wrong version of MuJoCo, or if Ctrl-C comes while it loads.
    """
    try:
        from stiction.cli import main as run

        run()
    except ImportError as e:
        sys.exit(f"error: {e}")
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
