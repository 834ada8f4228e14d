"""Options of an emission, the command that repeats it, and the bounds that its header states."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import PurePath

from bncc.emit.vectors import Vectors
from bncc.lower.c.c99 import wrap_words
from bncc.lower.c.identifiers import c_comment
from bncc.lower.request import LowerOptions
from bncc.resources import Bounds, SampleCounts

MODEL_FILE = "MODEL.bncc"
"""Printed for a model file whose name cannot be printed in a comment."""
STACK = (
    "STACK: bytes of stack per call, callees and return addresses included, as the compiler "
    "reports with -fstack-usage. There is no recursion and no function pointer."
)
PROVED = (
    "MAX_INSTRUCTIONS: no input takes more, as `bncc prove` has shown for this machine code, from "
    "the first instruction of the function to its return. Their STACK is the proved one where it "
    "is smaller."
)


def bound_lines(bounds: Bounds, name: str) -> list[str]:
    """Return the comment and the macros for the header."""
    text = [_origin(bounds), STACK, *([PROVED] if bounds.proved else []), *_count_remarks(bounds)]
    comment = ["/* Bounds", " * ------"]
    for paragraph in text:
        comment += [f" * {line}" for line in wrap_words(paragraph.split())]
    macros = [(f"{entry}_STACK", value) for entry, value in bounds.stacks.items()]
    macros += [(f"{entry}_MAX_INSTRUCTIONS", found.instructions) for entry, found in bounds.proved]
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
    proved = dict(bounds.proved)
    for entry, found in bounds.counts:
        if entry not in exact:
            what = ", call included" if entry in proved else "; not a bound"
            inputs = f"{bounds.n_inputs} inputs"
            if entry == "filter_next":
                inputs = f"{bounds.n_steps} hostile steps"
            yield (
                f"{entry}: {found.min} .. {found.max} {bounds.unit} observed over {inputs}{what}."
            )
    if bounds.samples is not None:
        yield _sample_remark(bounds.samples, bounds.unit)
        yield (
            f"Front end and classifier together take {bounds.samples.flash} bytes of flash, with "
            "all library routines that they use; their RAM is a stream and PUSH_STACK."
        )
    for entry, why in bounds.undecided:
        yield f"{entry}: the number of instructions is not proved ({why})."
    for entry, found in bounds.cycles:
        yield f"{entry}: {found.min} .. {found.max} cycles over the same inputs; not a bound."
    if bounds.timing is not None:
        yield f"{bounds.timing}."
    elif bounds.unit == "instructions":
        yield "Executed instructions are not cycles."


def _sample_remark(samples: SampleCounts, unit: str) -> str:
    every, deciding = samples.every, samples.deciding
    return (
        f"push: {every.min} .. {every.max} {unit} observed over {samples.n_samples} hostile "
        f"samples, {deciding.min} .. {deciding.max} for the {samples.n_windows} with a decision, "
        f"call included; not a bound. A stream takes {samples.state} bytes."
    )


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
    compare : {"readings", "keys", "states"} or None, default=None
        What ``predict_raw`` compares with the cuts of tables; ``keys`` are integers with the order
        of floats, converted once per call; None for whatever is best, and with
        a given `kernel` for states, except that ``cut-packed`` compares readings where that is
        smaller.
    provable : bool, default=False
        Whether only kernels are chosen whose machine code ``bncc prove`` decides.
    core : CountedCore or None, default=None
        The core by whose cycles layouts are compared; None for instructions of the target.
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


def printed_file(path: str, otherwise: str = MODEL_FILE) -> str:
    """Return the base name of a file for a comment: no folder of the user's machine is printed."""
    name = PurePath(path).name
    return name if c_comment(name) == name and not name.startswith("-") else otherwise


def emit_command(
    name: str, options: Iterable[tuple[str, ...]], model_file: str | None = None
) -> tuple[str, ...]:
    """Return the words of the command line that emits a model to a folder of its name."""
    file = f"{name}.bncc" if model_file is None else printed_file(model_file)
    return (
        "bncc",
        "emit-c",
        file,
        "-o",
        name,
        "--name",
        name,
        *chain.from_iterable(sorted(options)),
    )


def words_of(options: EmitOptions) -> list[tuple[str, ...]]:
    """Return the options of ``bncc emit-c`` for what is asked of an emission."""
    default = EmitOptions()
    named = (
        "package",
        "target",
        "optimize",
        "max_flash",
        "max_ram",
        "kernel",
        "spdx",
        "range_margin",
    )
    words: list[tuple[str, ...]] = [
        (f"--{field.replace('_', '-')}", str(getattr(options, field)))
        for field in named
        if getattr(options, field) != getattr(default, field)
    ]
    words += [("--constant-time",)] if options.constant_time else []
    words += [("--provable",)] if options.provable else []
    return [*words, *(("--with", entry) for entry in sorted(options.entries))]
