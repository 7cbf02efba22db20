"""Study of a sphere that falls, slides and rolls: figures 4 to 6 of [castro2023]."""
