"""Studies of papers on contact: their figures again, with checks that can fail."""

# Of the studies in registry.py, which loads matplotlib: who only asks for names need not wait.
NAMES = (
    "conveyor", "falling_sphere", "sliding_rod", "clutter", "disk", "spatula", "gripper", "pancake",
    "grasp", "quadruped",
)  # fmt: skip
