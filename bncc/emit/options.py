"""Options of an emission, and the bounds of compiled C that its header may state."""

from collections.abc import Iterator
from dataclasses import dataclass

from bncc.emit.vectors import Vectors
from bncc.lower.c.c99 import wrap_words
from bncc.lower.request import LowerOptions

STACK = (
    "STACK: bytes of stack per call, callees and return addresses included, as the compiler "
    "reports with -fstack-usage. There is no recursion and no function pointer."
)


@dataclass(frozen=True)
class Counts:
    """Execution counts of one entry point."""

    min: int  # min and max: Instructions or cycles, over all inputs tried
    max: int


@dataclass(frozen=True)
class Bounds:
    """Measured footprint of the C on one target with one compiler."""

    compiler: str  # compiler and simulator: With version and options, for people
    simulator: str
    unit: str  # What is counted
    # Entry points without the model's prefix, and the bytes of stack that each takes with all that
    # it calls
    stack: tuple[tuple[str, int], ...]
    counts: tuple[tuple[str, Counts], ...]  # Entry points that were run
    n_inputs: int  # How many inputs each was run on
    # True if no branch depends on the input, so that a count that is the same for all inputs tried
    # is that of every input
    is_exact: bool

    @property
    def exact(self) -> tuple[tuple[str, int], ...]:
        """Entry points whose count is that of every input, and the count."""
        return tuple(
            (entry, found.min)
            for entry, found in self.counts
            if self.is_exact and found.min == found.max
        )


def bound_lines(bounds: Bounds, name: str) -> list[str]:
    """Return the comment and the macros for the header."""
    text = [_origin(bounds), STACK, *_count_remarks(bounds)]
    comment = ["/* Bounds", " * ------"]
    for paragraph in text:
        comment += [f" * {line}" for line in wrap_words(paragraph.split())]
    macros = [(f"{entry}_STACK", value) for entry, value in bounds.stack]
    macros += [(f"{entry}_{bounds.unit}", value) for entry, value in bounds.exact]
    defines = [f"#define {f'{name}_{macro}'.upper()} {value}U" for macro, value in macros]
    return [*comment, " */", *defines]


def _origin(bounds: Bounds) -> str:
    return f"Measured on this C, compiled by {bounds.compiler} and run by {bounds.simulator}."


def _count_remarks(bounds: Bounds) -> Iterator[str]:
    exact = dict(bounds.exact)
    if exact:
        yield (
            f"{bounds.unit.upper()}: exact for every call, since no branch depends on the input; "
            f"counted for {bounds.n_inputs} inputs each."
        )
    for entry, found in bounds.counts:
        if entry not in exact:
            yield (
                f"{entry}: {found.min} .. {found.max} {bounds.unit} observed over "
                f"{bounds.n_inputs} inputs; not a bound."
            )
    if bounds.unit == "instructions":
        yield "Executed instructions are not cycles."


@dataclass(frozen=True)
class EmitOptions(LowerOptions):
    """
    Options of an emission.

    Parameters
    ----------
    name : str, default="model"
        Prefix of every symbol and of the file names.
    entries : frozenset of str, default=frozenset()
        Entry points in addition to ``predict``, of `ENTRIES`; ``raw`` is always there if the model
        has thresholds. ``checked`` needs a model that records the ranges of its training readings.
        ``stream`` needs a kernel that adds rows one by one, ``missing`` a network, see
        `bncc.model.missing.why_not`.
    kernel : str or None, default=None
        A key of `bncc.lower.kernels.families.FAMILIES`; None for the best.
    optimize : {"balanced", "size", "speed"}, default="balanced"
        What is best.
    target : str or None, default=None
        The machine to choose for; None for generic C.
    max_flash, max_ram : int or None, default=None
        Bytes of the classifier; None for any number.
    reserve : int, default=0
        Bytes of `max_flash` kept for the caller's own code.
    priced : tuple of str, default=()
        Entry points that the budget covers, keys of `bncc.resources.FUNCTIONS`; empty for
        `bncc.resources.default_entries`.
    constant_time : bool, default=False
        Whether no branch may depend on a reading or on a state in range.
    range_margin : float, default=10.0
        Percent of a feature's trained span by which ``checked`` lets a reading exceed it.
    package : str, default="plain"
        A key of `bncc.emit.packages.PACKAGES`: what is put around the C.
    vectors : Vectors or None, default=None
        Inputs and answers of the self-test; None for some that are drawn.
    is_bounded : bool, default=False
        Whether the number of these vectors bounds what else the self-test tries.
    bounds : Bounds or None, default=None
        What the same C was found to take; for the header.
    spdx : str or None, default=None
        SPDX license expression that every file is tagged with; None for no tag.
    command : tuple of str, default=()
        The command line that emits the same from the model's file; for the header.
    """

    package: str = "plain"
    vectors: Vectors | None = None
    is_bounded: bool = False
    bounds: Bounds | None = None
    spdx: str | None = None
    command: tuple[str, ...] = ()


WRITTEN = EmitOptions(name="m")
"""Options of ``bncc emit-c`` without arguments."""
