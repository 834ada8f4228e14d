"""Kernels that do not support a request are refused with the remedy."""

import pytest

from bncc.errors import OptionError
from bncc.lower.request import Demands


def test_a_kernel_with_branches_is_refused_where_time_is_constant():
    demands = Demands(constant_time=True)
    assert not demands.allows("packed")
    with pytest.raises(OptionError, match="'packed' takes depends on states; name another"):
        demands.check("packed")
    demands.check("lanes")


def test_a_kernel_without_streams_is_refused_where_features_come_one_by_one():
    demands = Demands(stream=True)
    assert not demands.allows("cuts")
    with pytest.raises(OptionError, match="--kernel"):
        demands.check("cuts")
