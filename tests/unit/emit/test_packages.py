"""What is put around the C files."""

import pytest

from bncc.emit.emitter import EmitOptions, emit_c
from bncc.emit.packages import package_files
from bncc.errors import OptionError
from tests import models as hand


def test_an_unknown_package_names_those_that_exist():
    with pytest.raises(OptionError, match="no package 'tar'; there are plain"):
        package_files("tar", {})


RAW_ARRAY = "m_raw_t reading[M_N_FEATURES];\nint16_t class_index = m_predict_raw(reading);"
RAW_STRUCT = "m_raw_t reading;\nint16_t class_index = m_predict_raw(&reading);"
STATES = "uint16_t state[M_N_FEATURES];\nint16_t class_index = m_predict(state);"


@pytest.mark.parametrize(
    ("name", "entries", "call"),
    [
        ("naive_integer", set(), RAW_ARRAY),
        ("category_with_missing", set(), RAW_STRUCT),
        ("wide_states", set(), STATES),
        ("ties", {"raw"}, RAW_ARRAY),
    ],
)
def test_the_readme_calls_the_entry_point_that_a_firmware_wants(name, entries, call):
    options = EmitOptions("m", frozenset(entries))
    assert call in emit_c(hand.NAMED[name](), options).files["README.md"]


def test_the_readme_names_every_file():
    emission = emit_c(hand.naive_integer(), EmitOptions("m"))
    for file in emission.files:
        assert file == "README.md" or f"`{file}`" in emission.files["README.md"]
