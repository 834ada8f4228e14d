"""Scores of trees by how they decide held-out rows: classification rate, likelihood, margin."""
