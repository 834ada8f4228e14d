"""Emitted C to machine code, and the comparison of its answers with Python's."""
