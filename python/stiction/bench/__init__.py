"""Benchmarks: Stiction and its peers from common states, interleaved in one run."""
