"""Studies that repeat figures of papers on contact and check their findings."""
