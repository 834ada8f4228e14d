"""Looped kernel: rows found in a loop, costs in lanes."""
