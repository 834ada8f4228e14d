"""
The self-test notices single-bit changes of tables and of numbers in the code.

`benchmarks/campaigns/selftest_mutations.py` changes a bit while the program runs, and asks which
changes show in a decision on random inputs, and which of those the self-test notices.
"""

import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from benchmarks.campaigns.selftest_mutations import campaign, spoilable
from bncc.emit import near_ties
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.errors import BnccError
from bncc.lower.kernels.families import FAMILIES
from bncc.model.model import Model
from tests import models as hand
from tests.agreement.large import few_bits, letter_like, mixed_kinds
from tests.agreement.test_direct_readings import model_of
from tests.conftest import WHOLE_SEARCH

pytestmark = pytest.mark.firmware
LEAST = 0.95
SMALL: dict[str, Callable[[], Model]] = {
    "sum_of_tables": hand.sum_of_tables,
    "ten_classes_2_bits": lambda: few_bits(10),
}
COLUMNS: dict[str, Callable[[], Model]] = {"26_classes_2_bits": lambda: few_bits(26)}
BOOSTED: dict[str, Callable[[], Model]] = {
    f"boosted_{kind}": partial(model_of, kind) for kind in ("int16", "float32")
}
"""Boosted tables whose readings can be compared with cuts directly."""
TREES: dict[str, Callable[[], Model]] = {
    "trees": partial(hand.trees_of_sensors, 3, 3),
    "trees_of_bytes": hand.TREES["trees_of_bytes"],
}
EVERY_KERNEL = [
    *(
        (name, kernel)
        for name in SMALL
        for kernel in FAMILIES
        if kernel not in ("columns", "branches")
    ),
    *((name, "columns") for name in COLUMNS),
    *((name, kernel) for name in BOOSTED for kernel in ("cut-packed", "cut-lanes")),
    *((name, "branches") for name in TREES),
]
"""Columns have no layout for few classes."""
LARGE: dict[str, Callable[[], Model]] = {"mixed_kinds": mixed_kinds, "letter_like": letter_like}


def check(model: Model, kernel: str, n_mutants: int, n_inputs: int, **options: object) -> None:
    try:
        emission = emit_c(model, EmitOptions("m", kernel=kernel, **options))  # type: ignore[arg-type]
    except BnccError as error:
        pytest.skip(str(error))
    found = campaign(model, emission.files, n_mutants, n_inputs)
    for kind, tally in found.items():
        assert tally.shown > 0, kind
        assert tally.rate >= LEAST, (kind, tally)
    assert found["tables"].by_crc == found["tables"].n


@pytest.mark.parametrize(("name", "kernel"), EVERY_KERNEL)
def test_changes_of_one_bit_are_noticed(
    name: str,
    kernel: str,
    require_tool: Callable[[str], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At least 95 % of visible changes, without scores and without the CRC; with it, all."""
    require_tool("gcc")
    monkeypatch.setattr(near_ties, "ALL_CELLS", WHOLE_SEARCH)
    check((SMALL | COLUMNS | BOOSTED | TREES)[name](), kernel, 150, 20_000)


@pytest.mark.slow
@pytest.mark.parametrize("entries", [frozenset(), frozenset({"raw", "scores", "trusted"})])
@pytest.mark.parametrize("kernel", FAMILIES)
@pytest.mark.parametrize("name", [*SMALL, *COLUMNS, *BOOSTED, *TREES, *LARGE])
def test_many_changes_are_noticed(
    name: str,
    kernel: str,
    entries: frozenset[str],
    require_tool: Callable[[str], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On 100,000 inputs, and of large models."""
    require_tool("gcc")
    monkeypatch.setattr(near_ties, "ALL_CELLS", WHOLE_SEARCH)
    check(
        (SMALL | COLUMNS | BOOSTED | TREES | LARGE)[name](), kernel, 1000, 100_000, entries=entries
    )


def test_the_campaign_changes_every_number_and_every_array() -> None:
    """Numbers inside functions and macros, none in declarations; each array with its width."""
    files = emit_c(hand.tan_float(), EmitOptions("m", kernel="plain")).files
    spoiled = spoilable(files["m.c"])
    assert ("m_costs", 24, 8) in spoiled.arrays
    assert "(0U ^ (unsigned)m_flips[" in spoiled.source
    assert "(-1 ^" not in spoiled.source
    assert len(spoiled.numbers) > 20
    every = list(spoiled.mutants())
    assert len(every) == sum(n * bits for _, n, bits in spoiled.arrays) + sum(
        bits for _, bits in spoiled.numbers
    )


def status(gcc: str, folder: Path, text: str, *flags: str) -> int:
    (folder / "m.c").write_text(text, encoding="utf-8")
    build = (gcc, "-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wmissing-prototypes", "-Werror")
    subprocess.run((*build, *flags, "m.c", "m_selftest.c", "-o", "test"), cwd=folder, check=True)
    return subprocess.run(folder / "test", check=False).returncode


@pytest.mark.parametrize("kernel", ["plain", "bit-slice", "lanes"])
def test_a_wrong_label_is_noticed_and_counted_by_the_crc_too(
    kernel: str, tmp_path: Path, require_tool: Callable[[str], str]
) -> None:
    """With the macro for both files and without it; nothing else changes."""
    gcc = require_tool("gcc")
    files = emit_c(hand.sum_of_tables(), EmitOptions("m", kernel=kernel, optimize="speed")).files
    for file, text in files.items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    wrong = files["m.c"].replace('"c0\\000"', '"c8\\000"')
    assert wrong != files["m.c"]
    assert status(gcc, tmp_path, files["m.c"]) == 0
    assert status(gcc, tmp_path, files["m.c"], "-DM_SELFTEST_CRC") == 0
    # The labels have a CRC of their own, which needs no macro.
    assert status(gcc, tmp_path, wrong) == 1
    assert status(gcc, tmp_path, wrong, "-DM_SELFTEST_CRC") == 2


def test_without_the_macro_the_classifier_has_no_byte_of_the_crc(
    tmp_path: Path, require_tool: Callable[[str], str]
) -> None:
    gcc = require_tool("gcc")
    for file, text in emit_c(hand.tan_float(), EmitOptions("m")).files.items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    subprocess.run((gcc, "-c", "m.c"), cwd=tmp_path, check=True)
    assert b"crc" not in (tmp_path / "m.o").read_bytes()
    subprocess.run((gcc, "-c", "-DM_SELFTEST_CRC", "m.c"), cwd=tmp_path, check=True)
    assert b"m_constants_crc" in (tmp_path / "m.o").read_bytes()
