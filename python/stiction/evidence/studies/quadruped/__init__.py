"""Study of a robot that walks without slip: the walk of [drumwright2015]."""
