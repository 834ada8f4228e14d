"""Kernel families: for each its layout with the proof of its widths, and its C text."""
