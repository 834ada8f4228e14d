"""What 16-bit machines take in one array: tables are divided among several, equal rows are not."""

MOST_IN_ARRAY = 32767
MOST_IN_ALL = 65535
"""Bytes in one array, and in all together."""


def must_be_divided(array_bytes: int, rom_bytes: int) -> bool:
    """Return whether 16-bit machines could hold all constants, but not an array in one piece.

    Parameters
    ----------
    array_bytes, rom_bytes : int
        Of the largest array, and of all.

    Returns
    -------
    bool
        False where they can hold neither: then it does not matter.
    """
    return array_bytes > MOST_IN_ARRAY and rom_bytes <= MOST_IN_ALL
