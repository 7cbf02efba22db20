"""Study of a spatula that slips and sticks in a soft grip: figures 1 and 10 of [masterjohn2022]."""
