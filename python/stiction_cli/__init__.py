"""The program `stiction`, outside the package: it can say why the package cannot be loaded."""

from __future__ import annotations

import sys


def main() -> None:
    """Runs the command line. Where `import stiction` fails, as with another MuJoCo, or Ctrl-C comes
    while it loads, that is one line and exit code 1.
    """
    try:
        from stiction.cli import main as run

        run()
    except ImportError as e:
        sys.exit(f"error: {e}")
    except KeyboardInterrupt:
        sys.exit("interrupted")
