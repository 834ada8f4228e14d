"""Scores of trees on validation rows: classification rate, conditional likelihood, margin."""
