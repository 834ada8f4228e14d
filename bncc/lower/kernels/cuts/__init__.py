"""Kernel of cuts with packed lanes."""
