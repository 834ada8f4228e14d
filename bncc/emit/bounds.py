"""What was found of the emitted C once it was compiled: macros and a comment for its header."""

from collections.abc import Iterator
from dataclasses import dataclass

from bncc.lower.c.c99 import wrap_words

STACK = (
    "STACK: bytes of a call with all that it calls, return addresses included, as the compiler "
    "tells them by -fstack-usage. Nothing calls itself or by address."
)


@dataclass(frozen=True)
class Counts:
    """What one entry point executed."""

    min: int  # min and max: Instructions or cycles, over all inputs tried
    max: int


@dataclass(frozen=True)
class Bounds:
    """What the C takes on one machine, compiled by one compiler."""

    compiler: str  # compiler and simulator: With version and options, for people
    simulator: str
    unit: str  # What is counted
    # Entry points without the model's prefix, and the bytes of stack that each takes with all that
    # it calls
    stack: tuple[tuple[str, int], ...]
    counts: tuple[tuple[str, Counts], ...]  # Entry points that were run
    n_inputs: int  # How many inputs each was run on
    # Whether no branch depends on the input, so that a count that is the same for all inputs tried
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
    return f"Of this C, compiled by {bounds.compiler} and run by {bounds.simulator}."


def _count_remarks(bounds: Bounds) -> Iterator[str]:
    exact = dict(bounds.exact)
    if exact:
        yield (
            f"{bounds.unit.upper()}: of every call, for no branch depends on its input; so counted "
            f"for {bounds.n_inputs} inputs of each."
        )
    for entry, found in bounds.counts:
        if entry not in exact:
            yield (
                f"{entry}: {found.min} .. {found.max} {bounds.unit} seen over {bounds.n_inputs} "
                "inputs; not a bound."
            )
    if bounds.unit == "instructions":
        yield "Executed instructions are not cycles."
