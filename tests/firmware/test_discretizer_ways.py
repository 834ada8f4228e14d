"""Every way to find a state, for machines: not a warning, not a multiplication, not a call."""

import re

import pytest

from tests.agreement.discretizer_ways import FEATURES, METHODS, emitted
from tests.firmware.machines import MACHINES
from tests.firmware.test_strict import C99, CPP17, OLD_CPP17

pytestmark = [pytest.mark.cc, pytest.mark.firmware]


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
    names = []
    for label, features in FEATURES.items():
        for method in METHODS:
            names.append(re.sub(r"\W", "_", f"{label}_{method}"))
            files = emitted(features, method, names[-1])
            for end in "ch":
                (tmp_path / f"{names[-1]}.{end}").write_text(files[f"{names[-1]}.{end}"])
    machine.compile(tmp_path, tuple(f"{one}.c" for one in names), *language, "-O2")
    objects = tuple(f"{one}.o" for one in names)
    found = machine.mnemonics(tmp_path, objects)
    assert not [mnemonic for mnemonic in found if re.fullmatch(machine.multiplies, mnemonic)]
    assert not machine.undefined(tmp_path, objects)
