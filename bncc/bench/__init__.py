"""Experiments: the papers' tables beside ours."""
