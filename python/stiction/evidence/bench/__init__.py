"""Benchmarks of Stiction and its peers, which are other simulators and solvers.

All start from the same states and take turns within one run.
"""
