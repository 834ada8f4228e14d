"""Packed kernel: costs in planes of words."""
