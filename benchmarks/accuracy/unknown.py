"""
Detection of readings of no known class: each class is left out of the training in turn.

    python -m benchmarks.accuracy.unknown --data ../shared/data -o unknown --write

The rule, the sets and the methods it is compared with were chosen before a result on these sets was
known; the rule was designed on eight other sets. Two thirds of the rows, by class at random, are
for training. A class of 30 rows or more is left out there, and its test rows are those to detect.
Boosted tables are trained as ``bncc train`` does by default. The methods of scikit-learn see the
same inputs, standardized, with missing readings at the mean and categories as indicators. The rate
of false alarms is that of test rows over random splits with all classes. Test rows decide nothing.
How far the conformal limit keeps a rate is also measured where its assumption holds: the test rows
of one model are dealt at random to two halves, 100 times, of which one gives the limit.
Results stay in the folder of ``-o``; with ``--write`` the tables on docs/how-to/unknown.md are new.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import click
import numpy as np

from benchmarks.shared.markdown import renew, table
from benchmarks.shared.memory import Memory
from bncc._types import FloatArray, IntArray
from bncc.data.dataset import Dataset
from bncc.data.readers import read_table
from bncc.data.splits import stratified_holdout
from bncc.data.target import dataset_of
from bncc.discretize.feature import states_of
from bncc.discretize.readings import raw_of_table
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.model.confidence import margins_of
from bncc.model.model import Model
from bncc.model.reference import scores
from bncc.model.unknown import required
from bncc.train.decision_rules import DecisionRules
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model
from bncc.train.unknown_choice import conformal_limit, effect_on

FILES = {
    "segment": "uci/segment.arff.gz",
    "vehicle": "uci/vehicle.arff.gz",
    "dermatology": "uci/dermatology.arff.gz",
    "ecoli": "uci/ecoli.arff.gz",
    "glass": "uci/glass.arff.gz",
    "hypothyroid": "uci/hypothyroid.arff.gz",
    "yeast": "raw/yeast.csv.gz",
    "ecg5000_train": "raw/ecg5000_train.csv.gz",
}
RATE = 0.05
"""Rate of false alarms that is asked for."""
LEAST_ROWS = 30
"""Fewest rows of a class that is left out."""
TEST_SHARE = 1 / 3
CLUSTERS = 32
SHUFFLES = 100
"""Random halves of the test rows of a model."""
SETTINGS = TrainSettings(structure="tables", seed=0)
PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "unknown.md"
METHODS = ("bncc", "k-means", "mixture", "isolation forest", "forest")


def trained(rows: Dataset) -> Model:
    """Return a model with a rule for unknown readings."""
    rules = DecisionRules(unknown=RATE)
    rules.check(rows)
    return rules.applied(train_model(rows, SETTINGS), rows, SETTINGS).model


def novelties(model: Model, rows: Dataset) -> IntArray:
    """Return the novelty of each row, (n_rows,) int64."""
    found = scores(model, states_of(model.features, rows.table))
    R = raw_of_table(model.features, rows.table)
    return required(model.unknown).novelty(
        model.features, R, found.argmin(axis=1), margins_of(found)
    )


def numbers_of(rows: Dataset, train: Dataset) -> FloatArray:
    """Return readings, (n_rows, n) float64, NaN for missing; categories as indicators."""
    columns = []
    for each, seen in zip(rows.table.columns, train.table.columns, strict=True):
        if each.kind in ("integer", "float"):
            columns.append(np.where(each.missing, np.nan, each.values.astype(np.float64)))
        else:
            levels = sorted({*seen.values[~seen.missing].tolist()})
            columns += [((each.values == level) & ~each.missing).astype(float) for level in levels]
    return np.column_stack(columns)


def peers(train: Dataset) -> Mapping[str, Callable[[Dataset], FloatArray]]:
    """Return the other methods by name: functions from rows to novelties."""
    from sklearn.cluster import KMeans
    from sklearn.ensemble import IsolationForest, RandomForestClassifier
    from sklearn.mixture import GaussianMixture

    raw = numbers_of(train, train)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a column without a reading
        means = np.nan_to_num(np.nanmean(raw, axis=0))
    scale = np.where(np.isnan(raw), means, raw).std(axis=0) + 1e-9

    def standardized(rows: Dataset) -> FloatArray:
        found = numbers_of(rows, train)
        return np.asarray((np.where(np.isnan(found), means, found) - means) / scale)

    Z = standardized(train)
    k_means = KMeans(min(CLUSTERS, len(Z)), n_init=3, random_state=0).fit(Z)
    mixture = GaussianMixture(len(train.classes), reg_covar=1e-3, random_state=0).fit(Z)
    isolation = IsolationForest(random_state=0).fit(Z)
    forest = RandomForestClassifier(100, random_state=0).fit(Z, train.y)
    return {
        "k-means": lambda rows: k_means.transform(standardized(rows)).min(axis=1),
        "mixture": lambda rows: -mixture.score_samples(standardized(rows)),
        "isolation forest": lambda rows: -isolation.score_samples(standardized(rows)),
        "forest": lambda rows: -forest.predict_proba(standardized(rows)).max(axis=1),
    }


def left_out(dataset: Dataset, c: int) -> dict[str, float]:
    """Return the AUROC of each method for a class, and what the rule does at its limit."""
    from sklearn.metrics import roc_auc_score

    kept, held = stratified_holdout(dataset.y, TEST_SHARE, 0)
    labels = [label for k, label in enumerate(dataset.classes) if k != c]
    parts = [
        dataset.take(rows[where(dataset.y[rows])])
        for rows, where in (
            (kept, lambda y: y != c), (held, lambda y: y != c), (held, lambda y: y == c),
        )
    ]  # fmt: skip
    train, known = (part.with_classes(labels) for part in parts[:2])
    alien = parts[2]
    is_alien = np.repeat([0, 1], [known.n_rows, alien.n_rows])
    model = trained(train)
    limit = required(model.unknown).limit
    values = [novelties(model, part) for part in (known, alien)]
    found = {"bncc": float(roc_auc_score(is_alien, np.concatenate(values)))}
    for name, novelty in peers(train).items():
        of_both = np.concatenate([novelty(part) for part in (known, alien)])
        found[name] = float(roc_auc_score(is_alien, of_both))
    found["false alarms"] = float((values[0] > limit).mean())
    found["detected"] = float((values[1] > limit).mean())
    return found


def split(dataset: Dataset, seed: int) -> dict[str, Any]:
    """Return false alarms and test rows of a random split with all classes; more of the first."""
    kept, held = stratified_holdout(dataset.y, TEST_SHARE, seed)
    model, rows = trained(dataset.take(kept)), dataset.take(held)
    effect = effect_on(model, rows)
    assert effect is not None
    found = {"false alarms": effect.false_alarms, "n": effect.n}
    return found if seed else found | {"flash": flash(model), "halves": shuffles(model, rows)}


def shuffles(model: Model, rows: Dataset) -> dict[str, float]:
    """Return false alarms on one half of test rows by a limit of the other, over random halves."""
    values = novelties(model, rows)
    rng = np.random.default_rng(0)
    rates = []
    for _ in range(SHUFFLES):
        second, first = np.array_split(values[rng.permutation(len(values))], 2)
        rates.append(float((second > conformal_limit(first, RATE)).mean()))
    return {"n": len(values) // 2, "false alarms": fmean(rates), "deviation": pstdev(rates)}


def flash(model: Model) -> dict[str, int]:
    """Return the bytes of the C on Cortex-M0, without the rule and with it."""
    found = {}
    plain = frozenset({"raw", "scores"})  # asked for in both, as they decide on the kernel
    for words, entries in (("without", plain), ("with", plain | {"unknown"})):
        options = EmitOptions("m", entries, optimize="size", target="cortex-m0")
        found[words] = measured_flash(model, options)
    return found


def measured_flash(model: Model, options: EmitOptions) -> int:
    """Return the bytes of code and constants of all that is emitted, as compiled for Cortex-M0."""
    from tempfile import TemporaryDirectory

    from bncc.device.cross import find_toolchain
    from bncc.device.image import Builder
    from bncc.on_device import sources_of
    from bncc.targets import find_target

    (bench,) = find_toolchain(find_target("cortex-m0"))
    built = sources_of(model, emit_c(model, options))
    with TemporaryDirectory(prefix="bncc-") as folder:
        builder = Builder(Path(folder), bench.target, bench.compiler)
        builder.write(built.files)
        compiled = builder.compile(built.main, "model.o", "-Os")
        return size_of_object(Path(folder) / compiled)


def size_of_object(path: Path) -> int:
    """Return the bytes of all sections of an object file that are loaded into flash."""
    from elftools.elf.constants import SH_FLAGS
    from elftools.elf.elffile import ELFFile

    with path.open("rb") as stream:
        sections = [*ELFFile(stream).iter_sections()]
        return sum(
            each["sh_size"]
            for each in sections
            if each["sh_flags"] & SH_FLAGS.SHF_ALLOC and each["sh_type"] == "SHT_PROGBITS"
        )


def means(found: Sequence[Mapping[str, float]], key: str) -> float:
    """Return the mean of a figure over the classes of a set."""
    return fmean(each[key] for each in found)


def detection(of_sets: Mapping[str, Sequence[Mapping[str, float]]]) -> str:
    """Return the table of AUROC by set."""
    rows = []
    for name, found in of_sets.items():
        cells = [f"{means(found, method):.3f}" for method in METHODS]
        rates = [f"{100 * means(found, key):.1f}" for key in ("false alarms", "detected")]
        rows.append([name, str(len(found)), *cells, *rates])
    whole = [fmean(means(found, key) for found in of_sets.values()) for key in METHODS]
    rows.append(["**mean**", "", *(f"**{each:.3f}**" for each in whole), "", ""])
    return table(("set", "classes", *METHODS, "false alarms", "detected"), rows)


def wins(of_sets: Mapping[str, Sequence[Mapping[str, float]]]) -> str:
    """Return on how many sets the rule is better and worse than each method, in a sentence."""
    parts = []
    for method in METHODS[1:]:
        gaps = [means(found, "bncc") - means(found, method) for found in of_sets.values()]
        won, lost = (sum(sign * gap > 0.0005 for gap in gaps) for sign in (1, -1))
        parts.append(f"{method} on {won} and worse on {lost}")
    return f"The rule is better than {'; than '.join(parts)} of {len(of_sets)} sets.\n"


def alarms(of_splits: Mapping[str, Sequence[Mapping[str, float]]]) -> str:
    """Return the table of false alarms over splits."""
    rows = []
    for name, found in of_splits.items():
        rates = [100 * each["false alarms"] / each["n"] for each in found]
        cells = [f"{fmean(rates):.1f}", f"{pstdev(rates):.1f}", f"{max(rates):.1f}"]
        rows.append([name, str(len(found)), f"{found[0]['n']:.0f}", *cells])
    head = ("set", "splits", "test rows", "false alarms", "standard deviation", "largest")
    return table(head, rows)


def halves(of_sets: Mapping[str, Mapping[str, float]]) -> str:
    """Return the table of false alarms over random halves of test rows, with their mean."""
    rows = []
    for name, found in of_sets.items():
        rates = [f"{100 * found[key]:.1f}" for key in ("false alarms", "deviation")]
        rows.append([name, f"{found['n']:.0f}", *rates])
    mean = fmean(found["false alarms"] for found in of_sets.values())
    rows.append(["**mean**", "", f"**{100 * mean:.1f}**", ""])
    return table(("set", "rows of the limit", "false alarms", "standard deviation"), rows)


def sizes(of_sets: Mapping[str, Mapping[str, int]]) -> str:
    """Return the table of bytes."""
    rows = []
    for name, found in of_sets.items():
        both = found["without"], found["with"]
        share = 100 * (both[1] / both[0] - 1)
        rows.append([name, *(f"{n:,}" for n in (*both, both[1] - both[0])), f"{share:.0f}"])
    return table(("set", "without", "with", "more", "more, in percent"), rows)


@click.command(help=__doc__)
@click.option("--data", type=click.Path(path_type=Path), required=True)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True)
@click.option("--splits", type=click.IntRange(1, 20), default=20, help="Random splits.")
@click.option("--write", is_flag=True)
def main(data: Path, output: Path, splits: int, *, write: bool) -> None:
    """Measure what is missing, and print or write the tables."""
    known = Memory(output / "unknown.jsonl")
    datasets = {name: dataset_of(read_table(data / file)) for name, file in FILES.items()}
    of_splits: dict[str, list[Any]] = {}
    for seed in range(splits):
        for name, dataset in datasets.items():
            key = f"{name}, split {seed}"
            found = known.get(key, lambda dataset=dataset, seed=seed: split(dataset, seed))
            of_splits.setdefault(name, []).append(found)
    of_sets: dict[str, list[Any]] = {}
    for name, dataset in datasets.items():
        counts = np.bincount(dataset.y, minlength=len(dataset.classes))
        for c in np.flatnonzero(counts >= LEAST_ROWS).tolist():
            key = f"{name}, without class {c}"
            found = known.get(key, lambda dataset=dataset, c=c: left_out(dataset, c))
            of_sets.setdefault(name, []).append(found)
    tables = {
        "detection": detection(of_sets),
        "wins": wins(of_sets),
        "alarms": alarms(of_splits),
        "halves": halves({name: found[0]["halves"] for name, found in of_splits.items()}),
        "sizes": sizes({name: found[0]["flash"] for name, found in of_splits.items()}),
    }
    if write:
        renew(PAGE, tables)
    else:
        print("\n".join(tables.values()))


if __name__ == "__main__":
    main()
