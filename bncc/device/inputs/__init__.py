"""Inputs of an agreement check, from table rows and readings, and the answers of Python."""
