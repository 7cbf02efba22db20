"""Study of a disk that slides and spins: figures 5 and 6 of [masterjohn2022]."""
