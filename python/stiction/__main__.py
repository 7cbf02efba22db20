"""Runs the command line: `python -m stiction` is the same as the program `stiction`."""

from stiction.cli import main

main()
