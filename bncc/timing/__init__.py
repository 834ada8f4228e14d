"""Cycles, time and energy of machine code: the kinds of its instructions, counted as it runs."""
