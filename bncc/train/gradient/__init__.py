"""Gradient descent on the tables of a given structure, quantization-aware."""
