"""The scorecard: scenes with a known answer, run by several engines."""
