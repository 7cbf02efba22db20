"""A robot that walks without slip: the walk of [drumwright2015]."""
