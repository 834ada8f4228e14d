"""Proof that machine code decides as its model does, for every input."""
