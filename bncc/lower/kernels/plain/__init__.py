"""Plain kernel: the reference."""
