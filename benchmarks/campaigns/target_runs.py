"""One model on one target: every option that selects a kernel, each resulting C checked once."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import cast

import numpy as np

from benchmarks.campaigns.multiplications import offenses
from benchmarks.shared.reference_models import Recipe, Reference, reference, some_rows
from bncc.device.agreement import Agreement, compare
from bncc.device.cross import CrossHarness, find_toolchain
from bncc.device.host import build_library
from bncc.device.inputs.cases import Case, Effort, cases, strength
from bncc.device.sources import sources
from bncc.emit.emitter import Emission, EmitOptions, emit_c
from bncc.errors import BnccError, OptionError
from bncc.lower.kernels.families import FAMILIES
from bncc.resources import Optimize
from bncc.targets import find_target

WAYS = ("balanced", "size", "speed", *FAMILIES)
"""Values of --optimize, and kernel families."""
N_ROWS = 200
EFFORT = Effort(n_random=1000)
ENTRIES = frozenset({"raw", "scores", "trusted"})
LEVEL = "-O2"


@dataclass(frozen=True)
class Place:
    """A model on a target."""

    recipe: Recipe
    target: str  # ``host`` or a key of `bncc.targets.TARGETS`
    data: Path  # Folder with ``paper/``

    def __str__(self) -> str:
        return f"{self.recipe} {self.target}"

    def options(self, way: str) -> EmitOptions:
        """Return the emit options for one of `WAYS`."""
        target = None if self.target == "host" else self.target
        if way in FAMILIES:
            return EmitOptions("m", ENTRIES, kernel=way, target=target)
        return EmitOptions("m", ENTRIES, optimize=cast(Optimize, way), target=target)


@dataclass(frozen=True)
class Outcome:
    """Result of one way at one place."""

    place: str
    way: str
    c_digest: str  # Digest of the emitted C, empty if there is no layout
    inputs_digest: str  # Digest of the inputs with their answers
    agree: bool  # All inputs compared, none differed, and nothing multiplies or divides
    checked: int
    mismatches: int
    strength: str  # Description of the inputs
    toolchain: str  # Compiler and simulator
    story: str | None  # The first mismatch, or the reason if nothing was compared
    seconds: float  # Build, run and comparison
    as_way: str | None = None  # The way with the same C, if that was compared instead

    def __str__(self) -> str:
        return f"{self.place} {self.way}"


@dataclass(frozen=True, eq=False)
class Inputs:
    """All inputs of a model, one block per kind, so that a simulator starts once for all."""

    blocks: tuple[Case, ...]
    strength: str  # Description
    digest: str  # Digest of all values and answers


@lru_cache(maxsize=2)
def inputs_of(known: Reference) -> Inputs:
    """Return the inputs of a model, the same on every target."""
    rows = some_rows(known.test, N_ROWS)
    kinds: dict[str, list[Case]] = {}
    for case in cases(known.model, rows, EFFORT):
        kinds.setdefault(case.kind, []).append(case)
    blocks = tuple(_joined(parts) for parts in kinds.values())
    arrays = [array for block in blocks for array in (block.x, block.y, block.scores)]
    held = b"".join(array.tobytes() for array in arrays if array is not None)
    return Inputs(blocks, strength(known.model, rows, EFFORT), _short_digest(held))


def _joined(parts: Sequence[Case]) -> Case:
    scores = [part.scores for part in parts if part.scores is not None]
    return Case(
        parts[0].kind,
        np.concatenate([part.x for part in parts]),
        np.concatenate([part.y for part in parts]),
        np.concatenate(scores) if scores else None,
    )


def check(place: Place, ways: Iterable[str], before: Iterable[Outcome] = ()) -> list[Outcome]:
    """
    Compare the C of every way with Python, each text once.

    C that agreed on the same inputs in `before` is not compared again.
    """
    known = reference(place.recipe, place.data)
    inputs = inputs_of(known)
    done = {
        outcome.c_digest: outcome
        for outcome in before
        if outcome.agree and outcome.as_way is None and outcome.inputs_digest == inputs.digest
    }
    found = []
    for way in ways:
        nothing = Outcome(str(place), way, "", inputs.digest, True, 0, 0, "", "", None, 0.0)
        try:
            emission = emit_c(known.model, place.options(way))
        except OptionError as error:  # a family without a layout for this model
            found.append(replace(nothing, story=str(error)))
            continue
        digest = _short_digest(json.dumps(dict(emission.files), sort_keys=True).encode())
        outcome = done.get(digest)
        if outcome is None:
            outcome = _checked(known, place, emission, replace(nothing, c_digest=digest))
            if outcome.agree:
                done[digest] = outcome
        elif outcome.way != way:
            outcome = replace(outcome, way=way, as_way=outcome.way, seconds=0.0)
        found.append(outcome)
    return found


def _checked(known: Reference, place: Place, emission: Emission, empty: Outcome) -> Outcome:
    """Build, run and compare."""
    begin = perf_counter()
    inputs = inputs_of(known)
    try:
        found, wrong = _compared(known, place, emission, inputs)
    except BnccError as error:
        return replace(empty, agree=False, story=str(error), seconds=_since(begin))
    story = found.first_mismatch
    if wrong:
        story = f"the compiled C holds {', '.join(sorted(wrong))}"
    return replace(
        empty,
        agree=found.agree and not wrong,
        checked=found.checked,
        mismatches=found.mismatches,
        strength=inputs.strength,
        toolchain=found.toolchain,
        story=story,
        seconds=_since(begin),
    )


def _compared(
    known: Reference, place: Place, emission: Emission, inputs: Inputs
) -> tuple[Agreement, set[str]]:
    """Return the comparison, and the multiplications, divisions and library calls."""
    if place.target == "host":
        with build_library(sources(known.model, emission.files), opt_level=LEVEL) as library:
            return compare(library, inputs.blocks), set()
    (bench,) = find_toolchain(find_target(place.target))
    with CrossHarness(sources(known.model, emission.files), bench, LEVEL) as harness:
        return compare(harness, inputs.blocks), offenses(place.target, harness.compiled)


def _short_digest(content: bytes) -> str:
    return sha256(content).hexdigest()[:16]


def _since(begin: float) -> float:
    return round(perf_counter() - begin, 1)
