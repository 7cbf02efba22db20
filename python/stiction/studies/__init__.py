"""Studies of a paper on contact models: [castro2023], its figures again, with checks that can fail."""
