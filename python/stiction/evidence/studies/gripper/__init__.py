"""Study of a soft gripper that lifts a spatula with a pancake: section V.B of [masterjohn2022]."""
