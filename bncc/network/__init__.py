"""Bayesian networks of any form over discrete variables: their files, samples and posteriors."""
