"""Study of a box on an oscillating belt: figures 1 to 3 of [castro2023]."""
