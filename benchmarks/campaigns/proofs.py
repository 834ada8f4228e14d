"""
Proofs of trained models' machine code: how many `bncc prove` decides, and in how many seconds.

    python -m benchmarks.campaigns.proofs --data ../shared/data -o proofs

Models are trained on raw readings of `SETS` with fixed options and kept in the folder of ``-o``
with ``proofs.jsonl``, so the command resumes. ``--write`` updates the table of ``docs/prove.md``.
"""

from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

import click

from benchmarks.shared.markdown import renew, table
from benchmarks.shared.memory import Memory
from bncc.cli.main import main as bncc
from bncc.device.cross import find_toolchain
from bncc.emit.emitter import EmitOptions, emit_c
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
}  # fmt: skip
BITS = {"naive": (2, 4, 8), "chow-liu": (2, 4, 8), "tables": (2, 4, 8)}
TARGETS = ("cortex-m0", "cortex-m4", "rv32", "avr")
CODE = (("size", "-Os"), ("balanced", "-Os"), ("speed", "-O2"))
LEVELS = {"avr": "-Os"}
"""Level of all code for a target, whatever the goal."""
ENTRIES = ("trusted", "predict", "predict-raw")
LIMIT = 120.0
PAGE = Path(__file__).resolve().parents[2] / "docs" / "prove.md"


@dataclass(frozen=True)
class Outcome:
    """Verdict about one entry point of one program."""

    target: str
    entry: str
    optimize: str
    kernel: str | None
    status: str
    reason: str
    instructions: int | None
    seconds: float


class Proofs:
    """Trained models and the verdicts about their programs, kept in a folder."""

    def __init__(self, folder: Path, data: Path, targets: Sequence[str] = TARGETS) -> None:
        self._folder, self._data, self._targets = folder, data, targets
        self._known = Memory(folder / "proofs.jsonl")

    def find(self, names: Sequence[str], jobs: int) -> None:
        """Find every verdict that is not known, in processes, as many as `jobs`."""
        with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
            keys: dict[Future[Any], str] = {}
            waiting: set[Future[Any]] = {pool.submit(self._trained, *one) for one in _models(names)}
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for one in done:
                    if one in keys:
                        self._known.get(keys[one], one.result)
                        continue
                    for target, (optimize, usual) in product(self._targets, CODE):
                        key = f"{one.result().stem} {target} {optimize}"
                        if key not in self._known:
                            level = LEVELS.get(target, usual)
                            asked = pool.submit(_proved, one.result(), target, optimize, level)
                            keys[asked] = key
                            waiting.add(asked)

    def known(self, names: Sequence[str]) -> list[Outcome]:
        """Return the verdicts that are known."""
        keys = self._keys(names)
        return [Outcome(**self._known[key][k]) for key in keys for k in range(len(ENTRIES))]

    def _keys(self, names: Sequence[str]) -> list[str]:
        models = [".".join(map(str, one)) for one in _models(names)]
        every = [f"{m} {t} {o}" for m, t, (o, _) in product(models, TARGETS, CODE)]
        return [key for key in every if key in self._known]

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


def _models(names: Sequence[str]) -> list[tuple[str, str, int]]:
    """Return data set, structure and bits of every model."""
    return [
        (name, structure, bits)
        for name in names
        for structure in STRUCTURES
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


def _proved(path: Path, target: str, optimize: Any, level: str) -> list[dict[str, Any]]:
    model = load_model(path)
    emitted = frozenset({"raw", "trusted", "scores"})
    program = linked(model, target, optimize, level, ENTRIES, emitted)
    found = []
    for entry in ENTRIES:
        verdict = prove(
            model,
            program.code,
            program.symbols[entry],
            entry,
            time_limit=LIMIT,
            score_size=program.score_size,
        )
        outcome = Outcome(
            target, entry, optimize, program.kernel, verdict.status, verdict.reason,
            verdict.instructions, verdict.seconds,
        )  # fmt: skip
        print(path.stem, target, optimize, verdict.sentence, flush=True)
        found.append(asdict(outcome))
    return found


def report(outcomes: Sequence[Outcome]) -> str:
    """Return the table of verdicts and seconds by target and entry point."""
    rows = []
    for target, entry in product(TARGETS, ENTRIES):
        some = [one for one in outcomes if (one.target, one.entry) == (target, entry)]
        if not some:
            continue
        proved = [one for one in some if one.status == "proved"]
        seconds = [one.seconds for one in proved] or [0.0]
        refuted = sum(one.status == "refuted" for one in some)
        rows.append(
            (
                target, entry, str(len(some)), str(len(proved)), str(refuted),
                str(len(some) - len(proved) - refuted),
                f"{median(seconds):.1f}", f"{max(seconds):.1f}",
            )
        )  # fmt: skip
    head = (
        "target", "entry point", "programs", "proved", "refuted", "undecided",
        "median seconds", "largest",
    )  # fmt: skip
    return table(head, rows)


@click.command()
@click.option("--data", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True)
@click.option("--sets", default=",".join(SETS), help="Data sets, separated by commas.")
@click.option("--targets", default=",".join(TARGETS), help="Targets, separated by commas.")
@click.option("--jobs", default=1, show_default=True, help="Processes.")
@click.option("--report", "only_report", is_flag=True, help="Only print what is known.")
@click.option("--write", is_flag=True, help="Update the table of docs/prove.md.")
def main(
    data: Path,
    output: Path,
    sets: str,
    targets: str,
    jobs: int,
    only_report: bool,
    write: bool,
) -> None:
    """Prove the programs of trained models, and print how many are proved."""
    output.mkdir(parents=True, exist_ok=True)
    proofs, names = Proofs(output, data, targets.split(",")), sets.split(",")
    if not only_report:
        proofs.find(names, jobs)
    text = report(proofs.known(names))
    print(text)
    if write:
        renew(PAGE, {"proofs": text})


if __name__ == "__main__":
    main()
