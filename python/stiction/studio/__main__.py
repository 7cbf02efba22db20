"""`python -m stiction.studio SCENE --web`."""

import sys

from stiction.studio.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
