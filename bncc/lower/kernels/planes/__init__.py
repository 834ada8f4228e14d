"""Kernels of planes and of columns."""
