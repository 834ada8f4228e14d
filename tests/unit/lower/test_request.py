"""Kernels that do not support a request are refused with the remedy."""

from dataclasses import replace

import pytest

from bncc.emit.emitter import EmitOptions, emit_c
from bncc.errors import OptionError
from bncc.lower.kernels.families import PROVABLE
from bncc.lower.request import Demands
from tests import models as hand


def test_a_kernel_with_branches_is_refused_where_time_is_constant():
    demands = Demands(constant_time=True)
    assert not demands.allows("packed")
    with pytest.raises(OptionError, match="'packed' depends on states; name another"):
        demands.check("packed")
    demands.check("lanes")


def test_a_kernel_that_proofs_do_not_cover_is_refused_where_they_are_needed():
    demands = Demands(provable=True)
    assert not demands.allows("bit-slice")
    with pytest.raises(OptionError, match="proofs do not cover the kernel 'bit-slice'; name"):
        demands.check("bit-slice")
    demands.check("lanes")
    assert Demands().allows("bit-slice")


def test_proofs_restrict_the_choice_of_a_kernel():
    """To the families that `PROVABLE` lists, also where another one is best."""
    model = hand.hostile_names()
    options = EmitOptions("m", target="rv32", optimize="speed")
    assert emit_c(model, options).kernel == "bit-slice"
    restricted = emit_c(model, replace(options, provable=True))
    assert restricted.kernel in PROVABLE
    assert {each.kernel.family for each in restricted.choice.candidates} <= PROVABLE
    with pytest.raises(OptionError, match="or --provable"):
        emit_c(model, replace(options, provable=True, kernel="bit-slice"))
    with pytest.raises(OptionError, match="leave out --provable or --constant-time"):
        emit_c(model, replace(options, provable=True, constant_time=True))


def test_a_kernel_without_streams_is_refused_where_features_come_one_by_one():
    demands = Demands(stream=True)
    assert not demands.allows("cuts")
    with pytest.raises(OptionError, match="--kernel"):
        demands.check("cuts")
