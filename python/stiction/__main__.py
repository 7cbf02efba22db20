"""python -m stiction: the same as the program `stiction`."""

from stiction.cli import main

main()
