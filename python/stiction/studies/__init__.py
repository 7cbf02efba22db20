"""Studies of a paper on contact models: [castro2023], its figures again, with checks that can fail."""

# Of the studies in registry.py, which loads matplotlib: who only asks for names need not wait.
NAMES = ("conveyor", "falling_sphere", "sliding_rod", "clutter", "disk", "spatula", "gripper")
