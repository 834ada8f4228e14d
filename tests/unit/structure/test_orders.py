"""Orders of features, and those of pixels against the paper's words on small images."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bncc.errors import OptionError
from bncc.structure.orders import (
    IMAGE_ORDERS,
    identity_order,
    image_order,
    image_shape,
    random_order,
)


def test_a_goes_row_by_row():
    assert image_order("A", 3, 3).tolist() == list(range(9))


def test_b_goes_along_the_lower_triangle_and_takes_each_transpose():
    #  0  1  2
    #  3  4  5
    #  6  7  8
    assert image_order("B", 3, 3).tolist() == [0, 3, 1, 4, 6, 2, 7, 5, 8]


def test_c_goes_outwards_from_one_middle_pixel():
    above_below_left_right = [1, 7, 3, 5]
    corners = [0, 2, 6, 8]
    assert image_order("C", 3, 3).tolist() == [4, *above_below_left_right, *corners]


def test_c_goes_outwards_from_four_middle_pixels_where_the_side_is_even():
    #   0  1  2  3
    #   4  5  6  7
    #   8  9 10 11
    #  12 13 14 15
    middle, above, below, left, right = [5, 6, 9, 10], [1, 2], [13, 14], [4, 8], [7, 11]
    corners = [0, 3, 12, 15]
    found = image_order("C", 4, 4).tolist()
    assert found == [*middle, *above, *below, *left, *right, *corners]


def test_the_block_of_c_grows_by_one_pixel_on_every_side():
    """S0: around an H x H block come H pixels above and H below, H left and H right, 4 corners."""
    found = image_order("C", 5, 5).tolist()
    assert sorted(found[:9]) == [6, 7, 8, 11, 12, 13, 16, 17, 18]
    assert found[9:] == [1, 2, 3, 21, 22, 23, 5, 10, 15, 9, 14, 19, 0, 4, 20, 24]


@given(st.sampled_from(IMAGE_ORDERS), st.integers(1, 7), st.integers(1, 7))
def test_every_image_order_visits_every_pixel_once(name, height, width):
    assert sorted(image_order(name, height, width)) == list(range(height * width))


def test_the_identity_and_chance_are_permutations():
    assert identity_order(4).tolist() == [0, 1, 2, 3]
    drawn = [random_order(20, np.random.default_rng(seed)).tolist() for seed in (1, 1, 2)]
    assert sorted(drawn[0]) == list(range(20))
    assert drawn[0] == drawn[1] != drawn[2]


def test_an_image_is_square_unless_its_width_is_named():
    assert image_shape(256) == (16, 16)
    assert image_shape(12, 4) == (3, 4)


@pytest.mark.parametrize(
    ("n_features", "width", "message"),
    [
        (12, None, "12 features do not form a square image; set its width with .* width=, or"),
        (12, 5, "12 features do not form an image of width 5; choose a width that divides"),
        (3, 4, "3 features do not form an image of width 4"),
    ],
)
def test_features_that_are_no_image_are_refused_with_a_remedy(n_features, width, message):
    with pytest.raises(OptionError, match=message):
        image_shape(n_features, width)
