"""A fleet of models in one image: each has its own outcome, independent of the others."""

import re
from dataclasses import replace

import numpy as np
import pytest

from bncc.device.image import Builder
from bncc.device.machine import HarnessError, row_dtype
from bncc.emit.emitter import EmitOptions, emit_c
from tests import models as hand
from tests.agreement.large import LARGE
from tests.agreement.mistakes import bumped
from tests.firmware.compiled import classifier, renamed
from tests.firmware.fleet import Member, answers, comparing, disagreeing

pytestmark = pytest.mark.firmware
OPTIONS = EmitOptions("m", frozenset({"raw", "scores", "stream", "trusted"}), kernel="plain")


def files_of(model) -> dict[str, str]:
    return dict(emit_c(model, OPTIONS).files)


def spoiled(member: Member, spoil) -> Member:
    """Return the member with a mistake in its C."""
    return replace(member, files={**member.files, "m.c": spoil(member.files["m.c"])})


def fleet() -> dict[str, Member]:
    found = {
        name: comparing(hand.NAMED[name](), files_of(hand.NAMED[name]()), 20)
        for name in ("tan_float", "wide_states", "general_network")
    }
    model = LARGE["mixed_kinds"]()
    return {**found, "mixed_kinds": comparing(model, files_of(model), 20)}


@pytest.mark.parametrize("target", ["avr", "cortex-m4", "big-endian"])
def test_what_disagrees_is_named(require_bench, target):
    """A mistake in one entry of one model's table; its neighbors agree as before."""
    bench, members = require_bench(target), fleet()
    assert disagreeing(answers(bench, "-Os", members)) == {}
    members["wide_states"] = spoiled(members["wide_states"], lambda c: bumped(c, "costs", 500))
    found = disagreeing(answers(bench, "-Os", members))
    assert list(found) == ["wide_states"]
    assert "the C says" in found["wide_states"]


def test_the_wrong_byte_order_disagrees(require_bench):
    """Values are compared, not bytes: states of 16 bits, read in the other order."""

    def ask(machine):
        machine.state_dtype = machine.state_dtype.newbyteorder("<")
        return members["wide_states"].ask(machine)

    members = fleet()
    wrong = members | {"wide_states": replace(members["wide_states"], ask=ask)}
    assert list(disagreeing(answers(require_bench("big-endian"), "-O2", wrong))) == ["wide_states"]


@pytest.mark.parametrize("target", ["avr", "rv32", "big-endian"])
def test_a_crash_ends_its_model_alone(require_bench, target):
    """The others answer in separate runs."""
    members = fleet()
    text = members["tan_float"].files["m.c"]
    start = text.index("{", text.index("int16_t m_predict_trusted(")) + 1
    trap = "__builtin_trap();"
    files = {**members["tan_float"].files, "m.c": f"{text[:start]}\n    {trap}{text[start:]}"}
    wrong = members | {"tan_float": replace(members["tan_float"], files=files)}
    outcomes = answers(require_bench(target), "-Os", wrong)
    assert list(disagreeing(outcomes)) == ["tan_float"]


def test_an_answer_of_another_size_ends_its_model_alone(require_bench):
    """A struct laid out as on another machine: its size is compared, its rows end too early."""
    bench, members = require_bench("cortex-m0"), fleet()
    mixed = members["mixed_kinds"]
    packed = row_dtype(mixed.model.features, packed=True)

    def ask(machine):
        machine.row_dtype = packed
        return machine.raw(np.zeros((3, 6)))

    outcomes = answers(bench, "-O2", members | {"mixed_kinds": replace(mixed, ask=ask)})
    assert isinstance(outcomes["mixed_kinds"], HarnessError)
    assert list(disagreeing(outcomes)) == ["mixed_kinds"]


def test_models_that_do_not_fit_together_are_split(require_bench, monkeypatch):
    """Constants of an AVR are limited to the first 64 KiB of its flash."""
    bench, linked, link = require_bench("avr"), [], Builder.link

    def counted(self, to, *objects):
        linked.append(len(objects) - 1)
        return link(self, to, *objects)

    monkeypatch.setattr(Builder, "link", counted)
    members = {}
    for name in ("two_word_arrays", "wide_costs", "two_cost_arrays"):
        model = LARGE[name]()
        files = emit_c(model, EmitOptions("m", frozenset({"scores"}), target="avr")).files
        members[name] = comparing(model, files, 20)
    assert disagreeing(answers(bench, "-Os", members)) == {}
    assert linked == [3, 1, 2]


def test_other_names_give_the_c_that_the_emitter_gives():
    """Except comments, which name the model elsewhere too."""
    model = hand.tan_float()
    other = classifier(emit_c(model, replace(OPTIONS, name="other")).files)
    again = renamed(files_of(model), "other")
    assert sorted(again) == ["other.c", "other.h"]
    for file, text in again.items():
        assert words(text) == words(other[file])


def words(text: str) -> list[str]:
    return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL).split()
