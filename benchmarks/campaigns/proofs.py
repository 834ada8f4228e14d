"""
Proofs of trained models' machine code: how many `bncc prove` decides, and in how many seconds.

    python -m benchmarks.campaigns.proofs --data ../shared/data -o proofs

Models are trained on raw readings of `SETS` with fixed options and kept in the folder of ``-o``
with ``proofs.jsonl``, so the command resumes. ``--again`` repeats what was not proved.

``--levels both`` compiles each program at -Os and at -O2, on AVR at -Os alone; otherwise it has the
usual level of its goal.

The command prints what was not proved, then tables by data set and by target. Seconds are those of
one core, without waiting. ``--limit`` includes waiting. A model that a target cannot hold has no
program there. ``--write`` updates the tables of ``docs/prove.md``: those by target and by data set,
which have both levels, or that of AVR.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import click

from benchmarks.shared.markdown import renew, table
from benchmarks.shared.memory import Memory
from bncc.cli.main import main as bncc
from bncc.device.cross import find_toolchain
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.errors import MisfitError
from bncc.model.file import load_model
from bncc.model.model import Model
from bncc.prove.build import LinkedProgram, linked_program
from bncc.prove.prove import prove
from bncc.targets import find_target

SETS = (
    "wifi_localization", "robot_wall_following_24", "spambase", "satimage", "letter", "usps_all",
)  # fmt: skip
STRUCTURES: dict[str, Sequence[str]] = {
    "naive": ("--epochs", "8"),
    "chow-liu": ("--epochs", "8"),
    "tables": ("--structure-option", "tables=24", "--structure-option", "rows=16"),
    "leaves": ("--structure-option", "tables=6", "--structure-option", "leaves=16"),
    "front": (
        "--structure-option", "tables=12", "--structure-option", "rows=16",
        "--structure-option", "front=16",
    ),
    "gate": (
        "--structure-option", "tables=24", "--structure-option", "rows=16",
        "--structure-option", "gate=8",
    ),
    "differences": (
        "--structure-option", "tables=24", "--structure-option", "rows=16",
        "--structure-option", "differences=8", "--readings", "smallest",
    ),
}  # fmt: skip
OF_INTEGERS = ("wifi_localization", "satimage", "letter", "usps_all")
"""Data sets whose columns are integers, which alone have differences."""
BITS = {"naive": (2, 4, 8), "chow-liu": (2, 4, 8), "tables": (2, 4, 8)}
TARGETS = ("cortex-m0", "cortex-m4", "rv32", "avr")
GOALS = {"size": "-Os", "balanced": "-Os", "speed": "-O2"}
"""Usual optimization level of each goal."""
LEVELS = {"avr": ("-Os",)}
"""Levels of all code for a target, whatever the goal."""
ENTRIES = ("trusted", "predict", "predict-raw")
LIMIT = 120.0
PAGE = Path(__file__).resolve().parents[2] / "docs" / "prove.md"


@dataclass(frozen=True)
class Outcome:
    """Verdict about one entry point of one program."""

    model: str  # Data set, structure and bits
    target: str
    entry: str
    optimize: str
    kernel: str | None
    status: str
    reason: str
    instructions: int | None
    seconds: float  # CPU time of one core
    level: str

    @property
    def data_set(self) -> str:
        """Name of the data set."""
        return self.model.split(".")[0]


@dataclass(frozen=True)
class Programs:
    """Programs of each model to prove, and their entry points."""

    targets: Sequence[str] = TARGETS
    has_both_levels: bool = False
    entries: Sequence[str] = ENTRIES

    def key(self, model: str, target: str, optimize: str, level: str) -> str:
        """Return the name of a program; level and entry points only if they are not the usual."""
        some = () if tuple(self.entries) == ENTRIES else self.entries
        own = () if level in LEVELS.get(target, (GOALS[optimize],)) else (level,)
        return " ".join((model, target, optimize, *own, *some))

    def __iter__(self) -> Iterator[tuple[str, str, str]]:
        """Yield target, goal and optimization level of each program of a model."""
        for target, (optimize, usual) in product(self.targets, GOALS.items()):
            both = dict.fromkeys((usual, *GOALS.values())) if self.has_both_levels else (usual,)
            for level in LEVELS.get(target, both):
                yield target, optimize, level


class Proofs:
    """Trained models and the verdicts about their programs, kept in a folder."""

    def __init__(
        self,
        folder: Path,
        data: Path,
        programs: Programs | None = None,
        limit: float = LIMIT,
        structures: Sequence[str] = tuple(STRUCTURES),
    ) -> None:
        self._folder, self._data, self._limit = folder, data, limit
        self._structures = structures
        self._programs = Programs() if programs is None else programs
        self._known = Memory(folder / "proofs.jsonl")

    def find(self, names: Sequence[str], jobs: int, *, again: bool = False) -> None:
        """
        Find every verdict that is not known, in processes, as many as `jobs`.

        `again`: also those of programs with an entry point that was not proved.
        """
        with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
            keys: dict[Future[Any], str] = {}
            waiting: set[Future[Any]] = {
                pool.submit(self._trained, *one) for one in self._models(names)
            }
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for one in done:
                    if one in keys:
                        self._known.put(keys[one], one.result())
                        continue
                    for target, optimize, level in self._programs:
                        key = self._programs.key(one.result().stem, target, optimize, level)
                        if not self._is_done(key, again=again):
                            asked = pool.submit(
                                _proved, one.result(), target, optimize, level, self._limit,
                                self._programs.entries,
                            )  # fmt: skip
                            keys[asked] = key
                            waiting.add(asked)

    def _models(self, names: Sequence[str]) -> list[tuple[str, str, int]]:
        return [one for one in models(names) if one[1] in self._structures]

    def _is_done(self, key: str, *, again: bool) -> bool:
        return key in self._known and not (
            again and any(one["status"] != "proved" for one in self._known[key])
        )

    def known(self, names: Sequence[str]) -> list[Outcome]:
        """Return the verdicts that are known."""
        found = []
        for name, structure, bits in self._models(names):
            model = f"{name}.{structure}.{bits}"
            for target, optimize, level in self._programs:
                key = self._programs.key(model, target, optimize, level)
                if key in self._known:
                    found += [
                        Outcome(**{"model": model, "level": level, **one})
                        for one in self._known[key]
                    ]
        return found

    def _trained(self, name: str, structure: str, bits: int) -> Path:
        """Return the file of a trained model."""
        path = self._folder / f"{name}.{structure}.{bits}.bncc"
        if not path.exists():
            kind = structure if structure in ("naive", "chow-liu") else "tables"
            arguments = [
                "train", str(self._data / "raw" / f"{name}.csv.gz"), "-o", str(path),
                "--structure", kind, "--bits", str(bits), "--folds", "0", "--quiet",
                *STRUCTURES[structure],
            ]  # fmt: skip
            with suppress(SystemExit):
                bncc(arguments, standalone_mode=False)
            assert path.exists(), f"{path.name} was not trained"
        return path


def models(names: Sequence[str]) -> list[tuple[str, str, int]]:
    """Return data set, structure and bits of every model."""
    return [
        (name, structure, bits)
        for name in names
        for structure in STRUCTURES
        if (structure != "differences" or name in OF_INTEGERS)
        for bits in BITS.get(structure, (4,))
    ]


def linked(
    model: Model,
    target: str,
    optimize: Any,
    level: str,
    entries: Sequence[str],
    emitted: frozenset[str],
) -> LinkedProgram:
    """Return the program of a model for a target, whose C has the emitted entry points."""
    emission = emit_c(model, EmitOptions("m", emitted, target=target, optimize=optimize))
    (bench,) = find_toolchain(find_target(target))
    return linked_program(model, emission, bench, level, entries)


def _proved(
    path: Path, target: str, optimize: Any, level: str, limit: float, entries: Sequence[str]
) -> list[dict[str, Any]]:
    model = load_model(path)
    emitted = frozenset({"raw", "trusted", "scores"})
    try:
        program = linked(model, target, optimize, level, ENTRIES, emitted)
    except MisfitError as error:
        print(path.stem, target, optimize, f"there is no program: {error}", flush=True)
        return []
    found = []
    for entry in entries:
        start = process_time()
        verdict = prove(
            model,
            program.code,
            program.symbols[entry],
            entry,
            time_limit=limit,
            score_size=program.score_size,
        )
        outcome = Outcome(
            path.stem, target, entry, optimize, program.kernel, verdict.status, verdict.reason,
            verdict.instructions, process_time() - start, level,
        )  # fmt: skip
        print(path.stem, target, optimize, verdict.sentence, flush=True)
        found.append({name: x for name, x in asdict(outcome).items() if name != "model"})
    return found


def report(outcomes: Sequence[Outcome], what: str = "target") -> str:
    """Return the table of verdicts and seconds by target or data set, and by entry point."""
    of = {one: one.data_set if what == "data set" else one.target for one in outcomes}
    rows = []
    for name, entry in product(dict.fromkeys(of.values()), ENTRIES):
        some = [one for one in outcomes if (of[one], one.entry) == (name, entry)]
        if not some:
            continue
        proved = [one for one in some if one.status == "proved"]
        seconds = [one.seconds for one in proved] or [0.0]
        refuted = sum(one.status == "refuted" for one in some)
        rows.append(
            (
                name, entry, str(len(some)), str(len(proved)), str(refuted),
                str(len(some) - len(proved) - refuted),
                f"{median(seconds):.1f}", f"{max(seconds):.1f}",
            )
        )  # fmt: skip
    head = (
        what, "entry point", "programs", "proved", "refuted", "undecided",
        "median seconds", "largest",
    )  # fmt: skip
    return table(head, rows)


def open_ones(outcomes: Sequence[Outcome]) -> list[str]:
    """Return a line for each verdict but a proof."""
    return [
        f"{one.model} {one.target} {one.optimize} {one.level} {one.entry} {one.kernel}: "
        f"{one.status}, {one.reason}, {one.seconds:.1f} s"
        for one in outcomes
        if one.status != "proved"
    ]


@click.command()
@click.option("--data", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True)
@click.option("--sets", default=",".join(SETS), help="Data sets, separated by commas.")
@click.option("--structures", default=",".join(STRUCTURES), help="Kinds of models.")
@click.option("--targets", default=",".join(TARGETS), help="Targets, separated by commas.")
@click.option("--entries", default=",".join(ENTRIES), help="Entry points, separated by commas.")
@click.option("--jobs", default=1, show_default=True, help="Processes.")
@click.option(
    "--limit", default=LIMIT, show_default=True, help="Seconds of a proof, also of waiting."
)
@click.option(
    "--levels",
    default="usual",
    show_default=True,
    type=click.Choice(["usual", "both"]),
    help="Optimization levels: that of each goal, or -Os and -O2.",
)
@click.option("--again", is_flag=True, help="Repeat proofs of programs that were not proved.")
@click.option("--report", "only_report", is_flag=True, help="Only print what is known.")
@click.option("--write", is_flag=True, help="Update the tables of docs/prove.md.")
def main(
    data: Path,
    output: Path,
    sets: str,
    structures: str,
    targets: str,
    entries: str,
    jobs: int,
    limit: float,
    levels: str,
    again: bool,
    only_report: bool,
    write: bool,
) -> None:
    """Prove the programs of trained models, and print how many are proved."""
    output.mkdir(parents=True, exist_ok=True)
    if write and targets != "avr" and levels != "both":
        raise click.BadParameter("the page has those of --levels both", param_hint="--write")
    names = sets.split(",")
    programs = Programs(targets.split(","), levels == "both", entries.split(","))
    proofs = Proofs(output, data, programs, limit, structures.split(","))
    if not only_report:
        proofs.find(names, jobs, again=again)
    outcomes = proofs.known(names)
    text, by_set = report(outcomes), report(outcomes, "data set")
    print(*open_ones(outcomes), "", by_set, "", text, sep="\n")
    if write and targets == "avr":
        renew(PAGE, {"proofs-avr": by_set})
    elif write:
        renew(PAGE, {"proofs": text, "proofs-sets": by_set})


if __name__ == "__main__":
    main()
