"""How much constant data emitted C may hold for an AVR to read it from flash."""

from collections.abc import Sequence

from bncc.lower.kernels.shared.arrays import MOST_IN_ALL, MOST_IN_ARRAY

_REMEDY = "train with fewer states, parents or bits"
_FEWER = "emit fewer with --vectors, or leave the self-test out"


def avr_error(largest_array: int, rom_bytes: int) -> str:
    """Say why an AVR cannot hold a model's constants."""
    if rom_bytes > MOST_IN_ALL:
        return (
            f"{rom_bytes} bytes of constants are more than the {MOST_IN_ALL} that an AVR reads "
            f"by 16-bit addresses; {_REMEDY}"
        )
    if largest_array > MOST_IN_ARRAY:
        return (
            f"an array of {largest_array} bytes is more than the {MOST_IN_ARRAY} that AVR "
            f"compilers take; {_REMEDY}"
        )
    return ""


def avr_vectors_error(rom_bytes: int, vector_bytes: Sequence[int]) -> str:
    """Say why an AVR cannot hold the self-test's vectors beside a model that it can hold."""
    in_all = sum(vector_bytes)
    if rom_bytes <= MOST_IN_ALL < rom_bytes + in_all:
        return (
            f"the model's {rom_bytes} bytes and {in_all} of vectors are together more than "
            f"the {MOST_IN_ALL} that an AVR reads by 16-bit addresses; {_FEWER}"
        )
    if max(vector_bytes) > MOST_IN_ARRAY:
        return (
            f"{max(vector_bytes)} bytes of vectors are more than the {MOST_IN_ARRAY} that AVR "
            f"compilers take in one array; {_FEWER}"
        )
    return ""
