"""Experiments: the scenes, runs and measurements that studies and benchmarks share."""
