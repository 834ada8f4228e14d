"""The digest of emitted C: the same for equal code with any name, comments and package."""

from dataclasses import replace

import pytest

from bncc.emit.emitter import EmitOptions, emit_c
from bncc.emit.packages import PACKAGES
from bncc.emit.provenance import code_digest, code_files
from bncc.resources import Bounds, Counts
from tests.models import naive_integer, sum_of_tables, tan_float

BOUNDS = Bounds(
    "gcc", "qemu", "instructions", (("predict", 40),), (("predict", Counts(9, 9)),), 3, True
)


def digest(model, options):
    emission = emit_c(model, options)
    return code_digest(emission.files, emission.name)


@pytest.mark.parametrize("make", [naive_integer, tan_float, sum_of_tables])
def test_name_package_and_record_do_not_count(make):
    model = make()
    plain = digest(model, EmitOptions("m"))
    assert digest(model, EmitOptions("another_name")) == plain
    assert {digest(model, EmitOptions("m", package=package)) for package in PACKAGES} == {plain}
    assert digest(model, EmitOptions("m", bounds=BOUNDS)) == plain
    trained = replace(model, training={**model.training, "error_test": 0.25})
    assert emit_c(trained, EmitOptions("m")).files != emit_c(model, EmitOptions("m")).files
    assert digest(trained, EmitOptions("m")) == plain


def test_code_counts():
    model = naive_integer()
    other = replace(model, tables=tuple(table[:, ::-1].copy() for table in model.tables))
    several = [
        digest(model, EmitOptions("m")),
        digest(other, EmitOptions("m")),
        digest(model, EmitOptions("m", frozenset({"scores"}))),
        digest(model, EmitOptions("m", optimize="speed", kernel="looped")),
    ]
    assert len(set(several)) == len(several)


def test_the_files_of_a_package_are_found():
    emission = emit_c(naive_integer(), EmitOptions("m", package="arduino"))
    assert set(code_files(emission.files, "m")) == {"m.c", "m.h"}
