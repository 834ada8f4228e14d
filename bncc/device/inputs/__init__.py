"""Inputs of an agreement check, from table rows and readings, with Python's results."""
