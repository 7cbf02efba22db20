"""Other simulators: scenes as data that they build, and processes in which they run."""
