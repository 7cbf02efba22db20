"""The commands of `stiction`, a module each; they register on stiction.cli.app."""
