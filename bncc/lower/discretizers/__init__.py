"""Discretizers: methods to map a raw reading to its state, and their footprints."""
