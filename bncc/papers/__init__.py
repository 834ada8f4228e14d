"""Reproductions of the papers' experiments: published tables next to ours."""
