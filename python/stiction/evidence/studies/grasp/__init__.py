"""Study of blocks in a row, held by friction between two grippers: the grasp of [drumwright2015]."""
