"""Lanes kernel: sums packed into lanes of words (SWAR)."""
