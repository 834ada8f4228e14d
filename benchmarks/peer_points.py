"""The classifiers of PEERS.md, and for each the network of bncc's that is better in all.

    python -m benchmarks.peer_points --study study

A peer is a point of test error, flash on a Cortex-M4 at -Os and instructions on a Cortex-M0 at -O2,
in ``peers.csv``. Networks are those of the studies that `benchmarks.study` left, each emitted for
size, balanced and for speed. Of the networks that take no more flash and no more instructions than
a peer, the one of least validation error stands against it: it is better if its test error is
not larger. What was measured stays in a file beside the studies, so that the command can go on.
"""

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from bncc.bench.measurement import WRITTEN, measure_ours
from bncc.bench.on_target import bench_inputs
from bncc.build.cross import find_bench
from bncc.build.targets import find_target
from bncc.cli.console import Console
from bncc.cli.inputs import rows_to_classify, training_parts
from bncc.compiler.cost_model import LEVELS
from bncc.emit.emitter import EmitOptions
from bncc.errors import MisfitError
from bncc.model.model import Model
from bncc.sweep.config import settings_of
from bncc.sweep.point import Point
from bncc.sweep.study import read_study
from bncc.sweep.workload import measured_rows
from bncc.train.pipeline import train_model

SETS = ("letter", "satimage", "usps")
PEERS = Path(__file__).with_name("peers.csv")
PAGE = Path(__file__).resolve().parents[1] / "docs" / "peers.md"


@dataclass(frozen=True)
class Peer:
    """A classifier that another tool has generated.

    Parameters
    ----------
    model, generator : str
        Its name and its tool.
    is_frontier : bool
        Whether no other peer is better in all.
    error : float
        On test rows, percent.
    flash, instructions : int
        Bytes on a Cortex-M4 at -Os; executed on a Cortex-M0 per decision.
    """

    model: str
    generator: str
    is_frontier: bool
    error: float
    flash: int
    instructions: int


@dataclass(frozen=True)
class Ours:
    """A network of bncc's, emitted in one way.

    Parameters
    ----------
    trial : int
        Its number in the study.
    family, optimize : str
        Its structure, and what the C is emitted for.
    bits : int or None
        Of a cost.
    validation, error : float
        On rows held out and on test rows, percent.
    flash : int
        Bytes on a Cortex-M4 at -Os.
    instructions : float
        Executed on a Cortex-M0 per decision, mean of 100 test rows.
    """

    trial: int
    family: str
    optimize: str
    bits: int | None
    validation: float
    error: float
    flash: int
    instructions: float

    @property
    def words(self) -> str:
        """What it is, for people."""
        return f"{self.family}, {self.bits} bits, for {self.optimize} (trial {self.trial})"


def peers_of(name: str) -> list[Peer]:
    """Return the peers of a data set."""
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
    """Return the network that stands against a peer: chosen on validation rows, of what fits."""
    fitting = [
        one for one in ours
        if one.flash <= peer.flash and one.instructions <= peer.instructions
    ]  # fmt: skip
    return min(fitting, key=lambda one: (one.validation, one.flash, one.trial), default=None)


def measured(data: str, name: str, study: Path, cache: Path, console: Console) -> list[Ours]:
    """Train and measure the networks of a study, but those that the cache has."""
    known = _cached(cache)
    path = f"{data}/paper/{name}.npz"
    train, _ = training_parts(path, None, 1, console)
    readings = measured_rows(rows_to_classify(path, None, 1, console))
    (found,) = read_study(str(study))
    for point in found.points:
        if not point.is_network or point.number in known or point.test is None:
            continue
        model = train_model(train, settings_of(point.params, found.facts["seed"])).model
        ones = _emissions(point, model, bench_inputs(model, readings))
        with cache.open("a", encoding="utf-8") as file:
            print(json.dumps({"trial": point.number, "ours": [asdict(o) for o in ones]}), file=file)
        known[point.number] = ones
        print(f"{name}: trial {point.number}", flush=True)
    return [one for ones in known.values() for one in ones]


def _cached(cache: Path) -> dict[int, list[Ours]]:
    if not cache.exists():
        return {}
    entries = map(json.loads, cache.read_text("utf-8").splitlines())
    return {entry["trial"]: [Ours(**one) for one in entry["ours"]] for entry in entries}


def _emissions(point: Point, model: Model, inputs: object) -> list[Ours]:
    (m4,), (m0,) = (find_bench(find_target(f"cortex-{core}")) for core in ("m4", "m0"))
    assert point.test is not None
    found = []
    for optimize in LEVELS:
        options = EmitOptions(WRITTEN.name, optimize=optimize, target="cortex-m0")
        how = {"options": options, "with_trusted": True}
        try:
            small = measure_ours(model, m4, inputs, opt_level="-Os", **how)
            fast = measure_ours(model, m0, inputs, opt_level="-O2", **how)
        except MisfitError:
            continue
        found.append(
            Ours(
                point.number, point.family, optimize,
                None if point.q_format is None else sum(point.q_format),
                100 * point.validation.mean, 100 * point.test.mean,
                small.flash, fast.costs["trusted"].mean,
            )
        )  # fmt: skip
    return found


def page(tables: Mapping[str, Sequence[tuple[Peer, Ours | None]]]) -> str:
    """Return the tables as Markdown, the frontier's peers in bold."""
    parts = []
    for name, rows in tables.items():
        better = [peer for peer, one in rows if one is not None and one.error <= peer.error]
        stars = [peer for peer in better if peer.is_frontier]
        n_stars = sum(peer.is_frontier for peer, _ in rows)
        parts += [
            f"## {name}: {len(better)} of {len(rows)}, of the frontier {len(stars)} of {n_stars}",
            "",
            "| peer | by | error | flash | instructions | bncc | error | flash | instructions |",
            "| --- | --- | --: | --: | --: | --- | --: | --: | --: |",
        ]
        for peer, one in sorted(rows, key=lambda row: row[0].error):
            title = f"**{peer.model}**" if peer.is_frontier else peer.model
            theirs = f"{peer.error:.2f} % | {peer.flash:,} B | {peer.instructions:,}"
            mine = "none | | | "
            if one is not None and one.error <= peer.error:
                mine = (
                    f"{one.words} | {one.error:.2f} % | {one.flash:,} B | {one.instructions:,.0f}"
                )
            parts.append(f"| {title} | {peer.generator} | {theirs} | {mine} |")
        parts.append("")
    return "\n".join(parts)


@click.command()
@click.option("--data", default="../shared/data", help="Holds `paper/letter.npz`, ...")
@click.option("--study", "folder", default="study", help="What `benchmarks.study` has left.")
@click.option("-o", "--output", default=str(PAGE), help="The page whose tables are renewed.")
def main(data: str, folder: str, output: str) -> None:
    """Measure the networks, and write the tables."""
    tables = {}
    for name in SETS:
        study = Path(folder) / f"{name}.db"
        ours = measured(data, name, study, Path(folder) / f"{name}.peers.jsonl", Console())
        tables[name] = [(peer, against(peer, ours)) for peer in peers_of(name)]
    Path(output).write_text(page(tables), encoding="utf-8")


if __name__ == "__main__":
    main()
