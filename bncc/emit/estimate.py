"""What the classifier will cost on a device, before a cross compiler has been asked."""

from dataclasses import dataclass

from bncc.compiler.ir import Program
from bncc.emit.layout import Layout


@dataclass(frozen=True)
class Estimate:
    """Estimated cost of a classifier.

    Parameters
    ----------
    flash : int
        Bytes of code and constants.
    ram : int
        Bytes of stack of the deepest entry point; there is no static RAM.
    instructions : int
        Executed instructions of one ``predict``.
    """

    flash: int
    ram: int
    instructions: int


def estimate(program: Program, layout: Layout) -> Estimate:
    """Estimate flash, RAM and instructions of the plain kernel.

    Parameters
    ----------
    program : Program
        The program after all passes.
    layout : Layout
        Types and arrays of the C.

    Returns
    -------
    Estimate
        For Cortex-M0 at -Os.
    """
    n_tables, n_classes = len(layout.kernel.tables), program.n_classes
    lookups = sum(term.n_tables for term in layout.kernel.terms)
    code = 300 + 150 * layout.entries.raw + 60 * layout.entries.scores
    stack = 48 + n_classes * layout.kernel.sum_bits // 8
    if layout.entries.raw:
        stack += len(program.features) * layout.state_bits // 8
    return Estimate(
        flash=layout.table_bytes + layout.other_bytes + code,
        ram=stack,
        instructions=30 + 10 * lookups + 20 * n_tables + 7 * n_tables * n_classes + 7 * n_classes,
    )
