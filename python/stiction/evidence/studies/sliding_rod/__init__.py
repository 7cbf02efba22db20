"""Study of a rod that slides on its tip and jams: figures 7 to 12 of [castro2023]."""
