"""Compare the emitted C with Python, bit for bit, on every machine bncc knows.

Letter, satimage and usps; naive Bayes and Chow-Liu TAN; 1, 2, 4 and 8 bits, tables by counting;
host, AVR, four Cortex-M, RV32, a big-endian MIPS and x86-64, each with the preferred compiler at
-O2 and the preferred simulator. Inputs of each: every row of every table, 200 test rows of fold 1
(a seeded choice), 1,000 random states and as many next to a boundary between classes, states out
of range; at `predict`, `trusted`, `scores` and `raw`. All of it (216 runs of 24 models) takes some
minutes on two cores, every other way to lower the models as long again:

    .venv/bin/python benchmarks/target_matrix.py --data ../shared/data
    .venv/bin/python benchmarks/target_matrix.py --data ../shared/data --way speed --way lanes

Every finished run is one line of build/target_matrix.jsonl; run it again to go on. A run counts
as done when it agreed and the C is still the same.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import cast

from benchmarks.reference_models import PAPER_SETS, STRUCTURES, Recipe, reference, some_rows
from bncc.build.agreement import verify
from bncc.build.targets import TARGETS
from bncc.compiler.choose import FAMILIES, Optimize
from bncc.emit.emitter import Emission, EmitOptions, emit_c
from bncc.errors import BnccError, OptionError

WIDTHS = (1, 2, 4, 8)
MACHINES = ("host", *TARGETS)
WAYS = ("balanced", "size", "speed", *FAMILIES)
"""What a kernel is chosen for, or its family."""
N_ROWS = 200
N_RANDOM = 1000
ENTRIES = frozenset({"raw", "scores", "trusted"})


@dataclass(frozen=True)
class Run:
    """One model on one machine, chosen for what is one of `WAYS`, or with that kernel."""

    recipe: Recipe
    target: str
    data: Path
    way: str = WAYS[0]

    @property
    def name(self) -> str:
        """What it is called in the file of results."""
        return f"{self.recipe} {self.target}" + ("" if self.way == WAYS[0] else f" {self.way}")

    @property
    def options(self) -> EmitOptions:
        """How its C is emitted."""
        target = None if self.target == "host" else self.target
        if self.way in FAMILIES:
            return EmitOptions("m", ENTRIES, kernel=self.way, target=target)
        return EmitOptions("m", ENTRIES, optimize=cast(Optimize, self.way), target=target)


@dataclass(frozen=True)
class Outcome:
    """What came of a run.

    Parameters
    ----------
    name : str
        That of the run.
    c_digest : str
        Of the emitted C.
    agree : bool
        Whether all inputs were compared and none differed.
    checked, mismatches : int
        Inputs.
    strength, toolchain : str
        What the inputs were; compiler and simulator.
    story : str or None
        The first mismatch, or why nothing could be compared.
    seconds : float
        Build, run and comparison.
    """

    name: str
    c_digest: str
    agree: bool
    checked: int
    mismatches: int
    strength: str
    toolchain: str
    story: str | None
    seconds: float


@dataclass(frozen=True)
class Total:
    """What the runs amount to."""

    models: int
    runs: int
    failed: int
    inputs: int
    mismatches: int
    seconds: float

    def __str__(self) -> str:
        return (
            f"{self.models} models, {self.runs} runs, {self.failed} failed, {self.inputs:,} inputs "
            f"compared, {self.mismatches} mismatches, {self.seconds:.0f} s of work"
        )


def matrix(
    data: Path,
    data_sets: Sequence[str] = PAPER_SETS,
    targets: Sequence[str] = MACHINES,
    ways: Sequence[str] = WAYS[:1],
) -> tuple[Run, ...]:
    """Return all runs, those of one model one after the other."""
    return tuple(
        Run(Recipe(data_set, structure, bits), target, data, way)
        for data_set in data_sets
        for structure in STRUCTURES
        for bits in WIDTHS
        for target in targets
        for way in ways
    )


def check(run: Run, before: Outcome | None = None) -> Outcome:
    """Return the outcome of a run: the one before where the C has not changed since."""
    begin = perf_counter()
    known = reference(run.recipe, run.data)
    try:
        emission = emit_c(known.model, run.options)
    except OptionError as error:  # a family without a layout for this model
        return Outcome(run.name, "", True, 0, 0, "", "", str(error), _since(begin))
    digest = _digest(emission)
    if before is not None and before.agree and before.c_digest == digest:
        return before
    try:
        found = verify(
            known.model,
            run.target,
            table=some_rows(known.test, N_ROWS),
            n_random=N_RANDOM,
            emission=emission,
        )
    except BnccError as error:
        return Outcome(run.name, digest, False, 0, 0, "", "", str(error), _since(begin))
    return Outcome(
        run.name,
        digest,
        found.agree,
        found.checked,
        found.mismatches,
        found.strength,
        found.toolchain,
        found.first_mismatch,
        _since(begin),
    )


def _digest(emission: Emission) -> str:
    text = json.dumps(dict(emission.files), sort_keys=True)
    return sha256(text.encode()).hexdigest()[:16]


def _since(begin: float) -> float:
    return round(perf_counter() - begin, 1)


def outcomes(
    runs: Sequence[Run], before: Mapping[str, Outcome], processes: int
) -> Iterator[Outcome]:
    """Yield the outcomes of runs in their order, checked in so many processes."""
    known = [before.get(run.name) for run in runs]
    if processes == 1:
        yield from map(check, runs, known)
        return
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        yield from pool.map(check, runs, known)


def total(runs: Iterable[Run], found: Iterable[Outcome]) -> Total:
    """Add up."""
    found = list(found)
    return Total(
        models=len({run.recipe for run in runs}),
        runs=len(found),
        failed=sum(not outcome.agree for outcome in found),
        inputs=sum(outcome.checked for outcome in found),
        mismatches=sum(outcome.mismatches for outcome in found),
        seconds=sum(outcome.seconds for outcome in found),
    )


def read(log: Path) -> dict[str, Outcome]:
    """Return the last outcome of every run in a file of results; a line cut off is passed over."""
    found = {}
    for line in log.read_text("utf-8").splitlines() if log.exists() else ():
        try:
            outcome = Outcome(**json.loads(line))
        except (ValueError, TypeError):
            continue
        found[outcome.name] = outcome
    return found


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with paper/")
    parser.add_argument("--target", action="append", choices=MACHINES, help="repeatable")
    parser.add_argument("--dataset", action="append", choices=PAPER_SETS, help="repeatable")
    parser.add_argument("--way", action="append", choices=WAYS, help="repeatable [balanced]")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--log", type=Path, default=Path("build/target_matrix.jsonl"))
    options = parser.parse_args(words)
    if not (options.data / "paper").is_dir():
        parser.error(f"there is no folder paper in '{options.data}'; name the data with --data")
    return options


def main(words: Sequence[str] | None = None) -> int:
    """Check all that is not done, print one summary line, and fail unless everything agrees."""
    options = _arguments(words)
    runs = matrix(
        options.data,
        options.dataset or PAPER_SETS,
        options.target or MACHINES,
        options.way or WAYS[:1],
    )
    options.log.parent.mkdir(parents=True, exist_ok=True)
    before, found = read(options.log), []
    with options.log.open("a", encoding="utf-8") as stream:
        stream.write("\n")  # what a run that was killed may have left
        for outcome in outcomes(runs, before, options.processes):
            found.append(outcome)
            is_old = outcome.agree and outcome == before.get(outcome.name)
            verdict = "agrees" if outcome.agree else f"FAILED: {outcome.story}"
            word = "done before" if is_old else f"{outcome.seconds} s"
            line = f"[{len(found)}/{len(runs)}] {outcome.name}: {verdict} ({word})"
            print(line, file=sys.stderr, flush=True)
            if not is_old:
                print(json.dumps(asdict(outcome)), file=stream, flush=True)
    result = total(runs, found)
    for outcome in found:
        if not outcome.agree:
            print(f"{outcome.name}: {outcome.story}")
    print(result)
    return int(result.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
