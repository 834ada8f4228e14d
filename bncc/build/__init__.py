"""Compilers, the emitted C as library or program, and whether it agrees with Python."""
