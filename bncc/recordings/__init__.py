"""Recordings: integer samples in time order, and their windows, signals and features."""
