"""The viewer: simulations and recordings with their contact patches, in a browser."""
