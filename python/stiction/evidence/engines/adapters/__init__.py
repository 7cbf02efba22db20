"""Engines behind `drive.Adapter`. A module is imported only in the environment of its engine."""
