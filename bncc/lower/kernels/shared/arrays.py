"""What 16-bit machines take in one array: tables are divided among several, equal rows are not."""

MOST_IN_ARRAY = 32767
"""Bytes of the largest object that compilers take for a machine whose ptrdiff_t has 16 bits."""
MOST_IN_ALL = 65536 - 508
"""Bytes of constants that 16-bit addresses surely reach.

An AVR's linkers place ``PROGMEM`` behind the interrupt vectors, at most 127 * 4 bytes (XMEGA).
"""


def must_be_divided(array_bytes: int, rom_bytes: int) -> bool:
    """Return whether 16-bit machines could hold all constants, but not an array in one piece."""
    return array_bytes > MOST_IN_ARRAY and rom_bytes <= MOST_IN_ALL
