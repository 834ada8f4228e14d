"""
Proofs of trained models' machine code: how many `bncc prove` decides, and in how many seconds.

    python -m benchmarks.campaigns.proofs --data ../shared/data -o proofs

Models are trained on raw readings of `SETS` with fixed options and kept in the folder of ``-o``
with ``proofs.jsonl``, so the command resumes. ``--write`` updates the table of ``docs/prove.md``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
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
from bncc.prove.build import build, score_size
from bncc.prove.prove import prove
from bncc.targets import find_target

SETS = ("wifi_localization", "robot_wall_following_24", "spambase", "satimage", "letter")
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
    kernel: str
    status: str
    reason: str
    instructions: int | None
    seconds: float


class Proofs:
    """Trained models and the verdicts about their programs, kept in a folder."""

    def __init__(self, folder: Path, data: Path, targets: Sequence[str] = TARGETS) -> None:
        self._folder, self._data, self._targets = folder, data, targets
        self._known = Memory(folder / "proofs.jsonl")

    def outcomes(self, names: Sequence[str]) -> Iterator[Outcome]:
        """Yield every verdict, and find those that are not known."""
        for name in names:
            for structure in STRUCTURES:
                for bits in BITS.get(structure, (4,)):
                    path = self._model(name, structure, bits)
                    if path is not None:
                        yield from self._of_model(path)

    def known(self, names: Sequence[str]) -> list[Outcome]:
        """Return the verdicts that are known."""
        keys = self._keys(names)
        return [Outcome(**self._known[key][k]) for key in keys for k in range(len(ENTRIES))]

    def _keys(self, names: Sequence[str]) -> list[str]:
        models = [
            f"{name}.{structure}.{bits}"
            for name in names
            for structure in STRUCTURES
            for bits in BITS.get(structure, (4,))
        ]
        every = [f"{m} {t} {o}" for m, t, (o, _) in product(models, TARGETS, CODE)]
        return [key for key in every if key in self._known]

    def _model(self, name: str, structure: str, bits: int) -> Path | None:
        """Return a trained model; None where training leaves out a front."""
        path = self._folder / f"{name}.{structure}.{bits}.bncc"
        if not path.exists():
            kind = structure if structure in ("naive", "chow-liu") else "tables"
            arguments = [
                "train", str(self._data / "raw" / f"{name}.csv.gz"), "-o", str(path),
                "--structure", kind, "--bits", str(bits), "--folds", "0", "--quiet",
                *STRUCTURES[structure],
            ]  # fmt: skip
            try:
                bncc(arguments, standalone_mode=False)
            except SystemExit as end:
                if end.code:
                    raise
        return path

    def _of_model(self, path: Path) -> Iterator[Outcome]:
        for target, (optimize, level) in product(self._targets, CODE):
            key = f"{path.stem} {target} {optimize}"
            asked = partial(_proved, path, target, optimize, LEVELS.get(target, level))
            found = self._known.get(key, asked)
            for one in found:
                yield Outcome(**one)


def _proved(path: Path, target: str, optimize: Any, level: str) -> list[dict[str, Any]]:
    model = load_model(path)
    entries = frozenset({"raw", "trusted", "scores"})
    emission = emit_c(model, EmitOptions("m", entries, target=target, optimize=optimize))
    (bench,) = find_toolchain(find_target(target))
    code, symbols = build(model, emission, bench, level, ENTRIES)
    found = []
    for entry in ENTRIES:
        verdict = prove(
            model, code, symbols[entry], entry, time_limit=LIMIT, cost_size=score_size(emission)
        )
        outcome = Outcome(
            target, entry, optimize, emission.kernel, verdict.status, verdict.reason,
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
@click.option("--report", "only_report", is_flag=True, help="Only print what is known.")
@click.option("--write", is_flag=True, help="Update the table of docs/prove.md.")
def main(data: Path, output: Path, sets: str, targets: str, only_report: bool, write: bool) -> None:
    """Prove the programs of trained models, and print how many are proved."""
    output.mkdir(parents=True, exist_ok=True)
    proofs, names = Proofs(output, data, targets.split(",")), sets.split(",")
    if not only_report:
        for _ in proofs.outcomes(names):
            pass
    text = report(proofs.known(names))
    print(text)
    if write:
        renew(PAGE, {"proofs": text})


if __name__ == "__main__":
    main()
