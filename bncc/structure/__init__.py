"""Graphs of classifiers: scores of edges, and one learner per file."""
