"""Study of forty bodies dropped into a box: figures 13 to 18 of [castro2023]."""
