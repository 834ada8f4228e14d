"""Every discretizer form on targets: no warning, no multiplication, no call."""

import re
from functools import cache

import pytest

from tests.agreement.discretizer_ways import FEATURES, METHODS, emitted
from tests.firmware.compiled import faults, write_all
from tests.firmware.machines import MACHINES
from tests.firmware.test_strict import C99, CPP17, OLD_CPP17

pytestmark = [pytest.mark.cc, pytest.mark.firmware]


@cache
def every_way():
    """Return every discretizer form, with few classes: the forms do not depend on them."""
    return {
        f"{label} {method}": emitted(features, method, n_classes=5)
        for label, features in FEATURES.items()
        for method in METHODS
    }


@pytest.mark.parametrize(
    ("name", "language"),
    [("atmega1284p", C99), ("atmega1284p", OLD_CPP17), ("cortex-m0", C99), ("host-gcc", CPP17)],
    ids=["avr", "avr-c++", "cortex-m0", "host-c++"],
)
def test_every_way_is_strict_and_adds_only(name, language, require_machine, require_tool, tmp_path):
    machine = MACHINES[name]
    require_machine(machine)
    if "-xc++" in language:
        require_tool(re.sub("gcc$", "g++", machine.compiler))
    assert faults(machine, tmp_path, write_all(tmp_path, every_way()), ["-O2"], language) == {}
