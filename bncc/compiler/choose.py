"""Which kernel computes a program: every family's proved candidates, and the choice among them."""

from collections.abc import Callable, Iterator, Mapping
from typing import Literal

from bncc.compiler.cost_model import code_bytes, decision_cost
from bncc.compiler.ir import Program
from bncc.compiler.kernels.base import Kernel
from bncc.compiler.kernels.lanes import lanes
from bncc.compiler.kernels.packed import packed
from bncc.compiler.kernels.plain import plain
from bncc.errors import OptionError

Optimize = Literal["balanced", "size", "speed"]

FAMILIES: Mapping[str, Callable[[Program], Iterator[Kernel]]] = {
    "plain": lambda program: iter((plain(program),)),
    "lanes": lanes,
    "packed": packed,
}
"""By the name in ``--kernel``: all layouts of that family that are proved exact for a program."""


def choose(
    program: Program,
    *,
    optimize: Optimize = "balanced",
    family: str | None = None,
    target: str | None = None,
) -> Kernel:
    """Return the best proved layout of a program.

    Parameters
    ----------
    program : Program
        A verified program.
    optimize : {"balanced", "size", "speed"}
        What is best.
    family : str or None
        A key of `FAMILIES` to choose within; None for all.
    target : str or None
        The machine, as in ``--target``; None for generic C.

    Returns
    -------
    Kernel
        Margins are those of the program for every input.

    Raises
    ------
    OptionError
        If there is no such family, or it has no layout for this program.
    """
    if family not in (None, *FAMILIES):
        raise OptionError(f"there is no kernel '{family}'; there are {', '.join(FAMILIES)}")
    candidates = list(FAMILIES[family or "plain"](program))
    if not candidates:
        raise OptionError(
            f"the kernel '{family}' has no layout that is safe for this model; name another or none"
        )
    if optimize == "size":
        return min(candidates, key=lambda kernel: kernel.rom_bytes + code_bytes(kernel, target))
    return min(candidates, key=lambda kernel: decision_cost(kernel, target))
