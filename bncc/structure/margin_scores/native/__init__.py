"""The scores' costly loop in C."""
