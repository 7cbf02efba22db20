"""Study of a robot that flips a pancake: figures 7 to 9 of [masterjohn2022]."""
