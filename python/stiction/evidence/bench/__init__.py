"""Benchmarks of Stiction and its peers, which start from the same states and take turns."""
