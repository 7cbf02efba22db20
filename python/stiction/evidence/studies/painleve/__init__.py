"""Study of a rod that jams: Painleve's paradox under every contact model."""
