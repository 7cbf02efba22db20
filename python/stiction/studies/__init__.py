"""Studies of papers on contact: their figures again, with checks that can fail."""
