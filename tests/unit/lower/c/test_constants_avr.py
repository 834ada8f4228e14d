"""Capacity of an AVR, and the errors about larger models."""

import pytest

from bncc.lower.c.constants import MOST_IN_ALL, MOST_IN_ARRAY, avr_error, avr_vectors_error


@pytest.mark.parametrize(
    ("largest", "rom", "message"),
    [
        (32767, 65028, ""),
        (
            32768,
            65028,
            "an array of 32768 bytes is more than the 32767 that AVR compilers take; train with "
            "fewer states, parents or bits",
        ),
        (
            32768,
            65029,
            "65029 bytes of constants are more than the 65028 that an AVR reads by 16-bit "
            "addresses; train with fewer states, parents or bits",
        ),
    ],
)
def test_a_model_fits_to_the_last_byte_or_is_refused_in_one_sentence(largest, rom, message):
    assert avr_error(largest, rom) == message


def test_the_limits_are_those_of_16_bits_less_the_vectors_of_the_largest_avr():
    assert (MOST_IN_ARRAY, MOST_IN_ALL) == (2**15 - 1, 2**16 - 127 * 4)


@pytest.mark.parametrize(
    ("rom", "fits"),
    [(64028, True), (64029, False), (65028, False), (65029, True)],
)
def test_vectors_are_refused_only_beside_a_model_that_fits(rom, fits):
    message = avr_vectors_error(rom, (700, 300))
    assert (message == "") == fits
    assert fits or message == (
        f"the model's {rom} bytes and 1000 of vectors are together more than the 65028 that an "
        "AVR reads by 16-bit addresses; emit fewer with --vectors, or leave the self-test out"
    )


@pytest.mark.parametrize(("largest", "fits"), [(32767, True), (32768, False)])
def test_an_array_of_vectors_has_a_limit_of_its_own(largest, fits):
    message = avr_vectors_error(100, (largest, 10))
    assert (message == "") == fits
    assert fits or message == (
        "32768 bytes of vectors are more than the 32767 that AVR compilers take in one array; "
        "emit fewer with --vectors, or leave the self-test out"
    )
