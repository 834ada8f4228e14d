"""Programs of trained models whose usual optimization level is another one."""

from pathlib import Path

import pytest

import bncc
from bncc.cli.main import main
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.model.file import load_model
from bncc.prove.build import build
from bncc.prove.prove import prove

pytestmark = pytest.mark.firmware
pytest.importorskip("capstone")

DATA = Path(bncc.__file__).parent / "data" / "bundled"
ENTRIES = ("predict-raw", "predict", "trusted")
STATES = ENTRIES[1:]
NETWORK = ("--epochs", "8")
LEAVES = ("--structure-option", "tables=6", "--structure-option", "leaves=16")
DIFFERENCES = (
    "--structure-option", "tables=24", "--structure-option", "rows=16",
    "--structure-option", "differences=8", "--readings", "smallest",
)  # fmt: skip
PROGRAMS = {
    # Bytes of a negative sum are put together in a word.
    "bytes": ("wifi_localization", "naive", 4, NETWORK, "cortex-m4", "size", "-O2"),
    # A word of bits that are all zero on a path is added to 15 there.
    "bits": ("wifi_localization", "chow-liu", 2, NETWORK, "cortex-m0", "balanced", "-O2"),
    # Halfwords of two readings are put together in a word.
    "halves": ("wifi_localization", "boosted", 4, DIFFERENCES, "cortex-m0", "size", "-O2"),
    # Leaves are constants, and differences of two of them that a carry selects.
    "leaves": ("robot_wall_following_24", "boosted", 4, LEAVES, "cortex-m0", "speed", "-Os"),
}


CASES = [(name, entry) for name in PROGRAMS for entry in (STATES if name == "leaves" else ENTRIES)]
"""Programs and entry points; the proof of the readings of `leaves` takes half a minute."""


@pytest.fixture(scope="module")
def program(require_gcc, tmp_path_factory, request):
    data, structure, bits, options, target, optimize, level = PROGRAMS[request.param]
    bench = require_gcc(target)
    path = tmp_path_factory.mktemp("models") / "m.bncc"
    with pytest.raises(SystemExit):
        main([
            "train", str(DATA / f"{data}.csv.gz"), "--structure", structure, "--bits", str(bits),
            *options, "--folds", "0", "-o", str(path), "--quiet",
        ])  # fmt: skip
    model = load_model(path)
    emitted = frozenset({"raw", "trusted", "scores"})
    emission = emit_c(model, EmitOptions("m", emitted, target=target, optimize=optimize))
    return model, *build(model, emission, bench, level, ENTRIES)


@pytest.mark.parametrize(("program", "entry"), CASES, indirect=["program"])
def test_programs_of_both_levels_are_proved(program, entry):
    model, code, symbols = program
    found = prove(model, code, symbols[entry], entry)
    assert found.status == "proved", found.sentence
