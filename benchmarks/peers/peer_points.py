"""
Baselines from other tools, and the model of bncc that each is compared with.

    python -m benchmarks.peers.peer_points --study study

A baseline is a point of test error, flash on a Cortex-M4 at -Os and instructions on a Cortex-M0 at
-O2, in ``peers.csv``. The candidates are boosted tables in the forms of `SUMS`, and the Pareto
front of the networks in the studies of `benchmarks.accuracy.study` by validation error and flash.
Each is emitted with every ``--optimize``, boosted tables also with the kernel ``cuts``. Among the
models that need no more flash and no more instructions than a baseline, the one of lowest
validation error is compared with it. It is better if its test error is not larger. Measurements
stay in a file next to the studies, so the command can resume.
"""

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import click
import numpy as np

from benchmarks.peers import equal_resources
from benchmarks.shared.markdown import renew, table
from bncc.cli.console import Console
from bncc.cli.inputs import rows_to_classify, training_parts
from bncc.device.cross import find_toolchain
from bncc.device.measure import bench_inputs
from bncc.device.meter import Inputs
from bncc.emit.emitter import EmitOptions
from bncc.emit.options import WRITTEN
from bncc.errors import MisfitError
from bncc.lower.cost_model import LEVELS
from bncc.model.model import Model
from bncc.on_device import measure_ours
from bncc.search.config import settings_of
from bncc.search.ensemble_configs import EnsembleConfig
from bncc.search.objective import front
from bncc.search.study import read_study
from bncc.search.trial import measured_rows
from bncc.search.trial_result import Point
from bncc.structure.decision_tables import TableEnsemble
from bncc.targets import find_target
from bncc.train.repeats import train_repeats
from bncc.train.settings import TrainSettings

SETS = ("letter", "satimage", "usps")
SPLITS = {"letter": 1, "satimage": 5, "usps": 1}
"""Number of validation folds; small sets have more, since errors on one fold are noisy."""
CUTS = "cuts"
"""The kernel of straight-line code that takes the fewest bytes for few tables."""
HELD = 0.2
"""Validation share of the training rows; the errors of different ensembles are close together."""
FEW = (3, 5, 8, 12, 16, 20, 30, 45, 60, 90, 130, 180)
SUMS: tuple[tuple[EnsembleConfig, tuple[int, ...]], ...] = (
    (EnsembleConfig(rows=8), FEW),
    (EnsembleConfig(rows=16), FEW),
    (EnsembleConfig(rows=32), FEW[:9]),
    (EnsembleConfig(rows=64), FEW[:7]),
    (EnsembleConfig(rows=128, bits=2), FEW[:4]),
    (EnsembleConfig(rows=16, bits=4), (5, 12, 20, 60)),
    (EnsembleConfig(rows=16, bits=5, dictionary=256), (60, 130, 180)),
    (EnsembleConfig(rows=4), (4, 8, 16, 24)),
    (EnsembleConfig(rows=16), (4, 6, 7)),
    (EnsembleConfig(rows=64, features=6), (4, 5, 6)),
    (EnsembleConfig(rows=128, bits=2, features=7), (4, 5, 6)),
    (EnsembleConfig(rows=256, bits=2, features=8), (4, 5)),
    (EnsembleConfig(rows=8), (4, 6, 7)),
    (EnsembleConfig(rows=16, features=6), (5, 6)),
    (EnsembleConfig(rows=32, bits=2, features=5), (4, 5)),
    (EnsembleConfig(rows=16, refit="soft"), (60, 130, 170, 250)),
    (EnsembleConfig(rows=32, refit="soft"), (40, 60, 130)),
    (EnsembleConfig(rows=16, bits=4, refit="soft"), (130,)),
)
"""Forms of boosted tables, and their numbers of tables."""
PEERS = Path(__file__).with_name("peers.csv")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "peers.md"


def title_of(form: EnsembleConfig, n_tables: int) -> str:
    """Return the name of a form of boosted tables."""
    parts = [f"{n_tables} tables of {form.rows} rows", f"{form.bits} bits"]
    if form.features > EnsembleConfig.features:
        parts.append(f"{form.features} features")
    if form.dictionary:
        parts.append(f"{form.dictionary} distinct rows")
    if form.refit != EnsembleConfig.refit:
        parts.append(f"{form.refit} refit")
    return ", ".join(parts)


@dataclass(frozen=True)
class Peer:
    """A classifier from another tool."""

    model: str
    generator: str
    is_frontier: bool  # No other baseline is better in all three figures
    error: float  # On test rows, percent
    flash: int  # Bytes on a Cortex-M4 at -Os
    instructions: int  # Executed on a Cortex-M0 per decision


@dataclass(frozen=True)
class Ours:
    """A model of bncc's with one set of emit options."""

    name: str  # Structure and options, or number in the study
    optimize: str  # Value of --optimize, or the kernel option
    validation: float  # On validation rows, percent
    error: float  # On test rows, percent
    flash: int  # Bytes on a Cortex-M4 at -Os
    instructions: float  # Executed on a Cortex-M0 per decision, mean of 100 test rows

    @property
    def words(self) -> str:
        """Label in the table."""
        return f"{self.name}, {self.optimize}"


def peers_of(name: str) -> list[Peer]:
    """Return the baselines of a data set."""
    with PEERS.open(encoding="utf-8", newline="") as file:
        return [
            Peer(
                row["model"], row["generator"], row["is_frontier"] == "1", float(row["error"]),
                int(row["flash_m4"]), int(row["instructions_m0"]),
            )
            for row in csv.DictReader(file)
            if row["set"] == name
        ]  # fmt: skip


def against(peer: Peer, ours: Sequence[Ours]) -> Ours | None:
    """Return the model compared with a baseline: lowest validation error among those that fit."""
    fitting = [
        one for one in ours
        if one.flash <= peer.flash and one.instructions <= peer.instructions
    ]  # fmt: skip
    return min(fitting, key=lambda one: (one.validation, one.flash, one.name), default=None)


def candidates(study: Path) -> dict[str, TrainSettings]:
    """Return the training settings of all candidates, by name."""
    found: dict[str, TrainSettings] = {}
    base = TrainSettings(validation=HELD)
    for form, sizes in SUMS:
        found |= {title_of(form, n): form.settings(base, n) for n in sizes}
    (known,) = read_study(str(study))
    networks = [point for point in known.points if point.is_network and point.test is not None]
    for point in front(networks, _flash, lambda point: point.validation.mean):
        settings = settings_of(point.params, known.facts["seed"])
        found[f"{point.family}, trial {point.number}"] = replace(settings, validation=HELD)
    return found


def _flash(point: Point) -> float | None:
    found = point.footprint("cortex-m4")
    return None if found is None else found.flash


def measured(data: str, name: str, study: Path, cache: Path, console: Console) -> list[Ours]:
    """Train and measure the candidates that are not in the cache."""
    known = _cached(cache)
    path = f"{data}/paper/{name}.npz"
    train, test = training_parts(path, None, 1, console)
    readings = measured_rows(rows_to_classify(path, None, 1, console))
    for title, settings in candidates(study).items():
        if title in known:
            continue
        repeats = train_repeats(train, settings, SPLITS[name], test=test)
        model = repeats.first.model
        validation = 100 * float(np.mean(repeats.errors("validation")))
        ones = emissions(title, validation, model, bench_inputs(model, readings))
        with cache.open("a", encoding="utf-8") as file:
            print(json.dumps({"name": title, "ours": [asdict(o) for o in ones]}), file=file)
        known[title] = ones
        print(f"{name}: {title}", flush=True)
    return [one for ones in known.values() for one in ones]


def _cached(cache: Path) -> dict[str, list[Ours]]:
    if not cache.exists():
        return {}
    entries = map(json.loads, cache.read_text("utf-8").splitlines())
    return {entry["name"]: [Ours(**one) for one in entry["ours"]] for entry in entries}


def emissions(title: str, validation: float, model: Model, inputs: Inputs) -> list[Ours]:
    """Measure the C of a model with every --optimize."""
    (m4,), (m0,) = (find_toolchain(find_target(f"cortex-{core}")) for core in ("m4", "m0"))
    found = []
    ways = [EmitOptions(WRITTEN.name, optimize=goal, target="cortex-m0") for goal in LEVELS]
    if isinstance(model.structure, TableEnsemble):
        ways.append(replace(ways[0], kernel=CUTS))
    for options in ways:
        try:
            small = measure_ours(
                model, m4, inputs, opt_level="-Os", options=options, with_trusted=False
            )
            fast = measure_ours(model, m0, inputs, opt_level="-O2", options=options)
        except MisfitError:
            continue
        error = 100 * model.training["error_test"]
        costs = small.flash, fast.costs["trusted"].mean
        way = options.optimize if options.kernel is None else f"--kernel {options.kernel}"
        found.append(Ours(title, way, validation, error, *costs))
    return found


Row = tuple[Peer, Ours | None]
"""A baseline, and the model compared with it."""


def is_better(row: Row) -> bool:
    """Return whether the model is at least as good as the baseline in all three figures."""
    peer, one = row
    return one is not None and one.error <= peer.error


def counts(tables: Mapping[str, Sequence[Row]]) -> str:
    """Return the table of the numbers of beaten baselines, by set."""
    rows = []
    for name, found in tables.items():
        stars = [row for row in found if row[0].is_frontier]
        rows.append(
            (name, *(f"{sum(map(is_better, part))} of {len(part)}" for part in (found, stars)))
        )
    return table(("set", "all", "frontier"), rows)


def peer_rows(found: Sequence[Row]) -> str:
    """Return the table of a set, by ascending error, with the frontier in bold."""
    rows = []
    for peer, one in sorted(found, key=lambda row: (row[0].error, row[0].flash)):
        title = f"**{peer.model}**" if peer.is_frontier else peer.model
        theirs = (
            title,
            peer.generator,
            f"{peer.error:.2f}",
            f"{peer.flash:,}",
            f"{peer.instructions:,}",
        )
        rows.append((*theirs, *_ours(peer, one)))
    head = ("baseline", "tool", "error", "flash", "instr.", "bncc", "error", "flash", "instr.")
    return table(head, rows)


def _ours(peer: Peer, one: Ours | None) -> tuple[str, str, str, str]:
    if one is None:
        return "none within its flash and instructions", "", "", ""
    title = one.words if is_better((peer, one)) else f"none; lowest error: {one.words}"
    return title, f"{one.error:.2f}", f"{one.flash:,}", f"{one.instructions:,.0f}"


@click.command()
@click.option("--data", default="../shared/data", help="Folder with `paper/letter.npz` etc.")
@click.option("--study", "folder", default="study", help="Output of `benchmarks.accuracy.study`.")
@click.option(
    "-o",
    "--output",
    default=str(PAGE),
    help="Page to update; the default one together with the README.",
)
def main(data: str, folder: str, output: str) -> None:
    """Measure the candidates, and write the tables."""
    tables = {}
    for name in SETS:
        study = Path(folder) / f"{name}.db"
        ours = measured(data, name, study, Path(folder) / f"{name}.peers.jsonl", Console())
        tables[name] = [(peer, against(peer, ours)) for peer in peers_of(name)]
    texts = {"counts": counts(tables), **{name: peer_rows(tables[name]) for name in SETS}}
    renew(Path(output), texts)
    if Path(output) == PAGE:
        equal_resources.write()


if __name__ == "__main__":
    main()
