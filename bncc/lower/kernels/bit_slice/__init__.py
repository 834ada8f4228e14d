"""Bit-slice kernel: rows of bits, added by carry-save adders."""
