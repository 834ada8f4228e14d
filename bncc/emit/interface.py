"""The names that a header offers, for editors that color them."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Interface:
    """The public names of an emitted model, each in the order of the header."""

    # types, functions, constants: What C calls them; constants are macros and class indices
    types: tuple[str, ...]
    functions: tuple[str, ...]
    constants: tuple[str, ...]


def interface_of(header: str, name: str) -> Interface:
    """Find the public names of a header."""
    code = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    macro, index = rf"^#define ({name.upper()}_\w+) ", rf"^    ({name.upper()}_\w+) = \d"
    constants = dict.fromkeys(re.findall(macro, code, re.MULTILINE))
    constants |= dict.fromkeys(re.findall(index, code, re.MULTILINE))
    types = dict.fromkeys(re.findall(rf"\b({name}_\w+_t);", code))
    functions = dict.fromkeys(re.findall(rf"\b({name}_\w+)\(", code))
    return Interface(tuple(types), tuple(functions), tuple(constants))
