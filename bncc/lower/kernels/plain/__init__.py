"""Plain kernel: the reference."""

from collections.abc import Iterator

from bncc.lower.kernels.base import Family
from bncc.lower.kernels.plain.layout import PlainKernel, plain
from bncc.lower.kernels.plain.text import plain_text
from bncc.lower.kernels.plain.weights import WEIGHTS
from bncc.program.ir import Program


def _layouts(program: Program) -> Iterator[PlainKernel]:
    yield plain(program)


FAMILIES = (
    Family(
        "plain",
        _layouts,
        PlainKernel,
        plain_text,
        WEIGHTS,
        streams=True,
        no_branches="one loop over all tables and one over all classes; a table's number decides "
        "the rest",
    ),
)
