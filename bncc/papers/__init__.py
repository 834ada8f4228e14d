"""The papers' experiments: published tables next to ours."""
