"""The files of weights that the package reads: one per folder of kernels, and the textbook's."""

import subprocess
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path

from bncc.lower import textbook_weights
from bncc.lower.cost_model import DISCRETIZERS, FAMILY, OF_FOUND, OF_READINGS, weights_of
from bncc.lower.discretizers import weights as discretizer_weights
from bncc.lower.kernels.base import Weights
from bncc.lower.kernels.families import FOLDERS, FOR_CUTS, FOR_TREES

_HEAD = '''"""
Cost-model weights, fitted by benchmarks/fit/{program}.py; first values may be estimates.

By family, machine and the compiler's level: executed instructions (cycles on AVR) per term of
``Kernel.work``, and bytes per term of ``Kernel.code``.{readings}{found}
"""
'''
_START = """
from bncc.lower.kernels.base import Weights

# fmt: off
WEIGHTS: Weights = {
"""
_READINGS = """ Those of kernels that compare readings
are fitted by benchmarks/fit/fit_reading_costs.py, to the terms of
`bncc.lower.reading_cost.reading_terms`."""
_FOUND = """ Those behind discretizers are fitted
by benchmarks/fit/fit_state_costs.py, to the terms of `bncc.lower.state_cost`."""
_TEXTBOOK = """ Those from readings are fitted
by benchmarks/fit/fit_state_costs.py, to the terms of `bncc.lower.textbook_readings`."""
_DISCRETIZERS = '''"""
Weights of the operations of discretizers, fitted by benchmarks/fit/fit_state_costs.py.

By machine and the compiler's level: executed instructions (cycles on AVR) and bytes of each
operation of `bncc.lower.discretizers.counts`, in its order.
"""
'''


def files() -> Mapping[Path, tuple[str, ...]]:
    """Return each file with the families whose weights it holds."""
    found = {
        Path(textbook_weights.__file__): (FAMILY, FAMILY + OF_READINGS),
        Path(discretizer_weights.__file__): (DISCRETIZERS,),
    }
    for folder in FOLDERS:
        package = import_module(f"bncc.lower.kernels.{folder}")
        families = [family.name for family in package.FAMILIES]
        of_readings = (f + OF_READINGS for f in families if f in FOR_CUTS | FOR_TREES)
        names = (*families, *of_readings, *(f + OF_FOUND for f in families if f not in FOR_TREES))
        found[Path(package.__path__[0]) / "weights.py"] = names
    return found


def text_of(families: Sequence[str], weights: Weights) -> str:
    """Return a file's text, which ruff has yet to format."""
    program, readings, found = "fit_cost_model", "", ""
    if FOR_CUTS.intersection(families):
        program = "fit_cut_costs"
    elif FOR_TREES.intersection(families):
        program = "fit_branch_costs"
    if any(name.endswith(OF_READINGS) for name in families):
        readings = _TEXTBOOK if FAMILY in families else _READINGS
    if any(key[0].endswith(OF_FOUND) for key in weights if key[0] in families):
        found = _FOUND
    head = _HEAD.format(program=program, readings=readings, found=found)
    lines = [_DISCRETIZERS if DISCRETIZERS in families else head, _START]
    for key in sorted(key for key in weights if key[0] in families):
        family, machine, level = (f'"{word}"' for word in key)
        lines.append(f"    ({family}, {machine}, {level}): (\n")
        lines += (f"{_numbers(each)}\n" for each in weights[key])
        lines.append("    ),\n")
    return "".join((*lines, "}\n# fmt: on\n"))


def write(found: Weights) -> None:
    """Write fitted weights to their files; those of other families, machines and levels stay."""
    for path, families in files().items():
        if not any(key[0] in families for key in found):
            continue
        known = {key: each for family in families for key, each in weights_of(family).items()}
        path.write_text(text_of(families, {**known, **found}), encoding="utf-8")
        subprocess.run([sys.executable, "-m", "ruff", "format", "-q", path], check=True)


def _numbers(weights: Iterable[float]) -> str:
    """Print a tuple, as many numbers in a line as it holds."""
    text = f"({', '.join(f'{weight:.3g}' for weight in weights)}),"
    return textwrap.fill(
        text, 100, initial_indent=8 * " ", subsequent_indent=9 * " ", break_on_hyphens=False
    )
