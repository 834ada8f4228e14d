"""Baselines to compare bncc with: small quantized networks, and standard classifiers."""
