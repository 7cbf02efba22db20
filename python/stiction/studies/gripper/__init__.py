"""A soft gripper that lifts a spatula with a pancake: section VII.B of [masterjohn2022]."""
