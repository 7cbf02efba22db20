"""The commands of the command line; each module registers its own on commands.app.app."""
