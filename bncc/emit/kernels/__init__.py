"""Kernel to C: the arrays and expressions that each kernel's template prints."""
