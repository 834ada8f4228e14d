"""S2's study: each learner's losses and scores on each data set, by cross-validation."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from bncc.data.dataset import Dataset
from bncc.errors import DataError
from bncc.papers.pool import results_of
from bncc.papers.request import Advance
from bncc.papers.s2_learners import learn_networks
from bncc.papers.s2_log import SetLog, set_key
from bncc.papers.s2_losses import AODE, aode_losses, network_losses
from bncc.papers.s2_protocol import Part, Protocol, parts_of
from bncc.papers.s2_sets import read_set

Todo = tuple[str, Path, Protocol]
"""A set's name, its file, and how it is dealt out."""


@dataclass(frozen=True)
class SetResult:
    """What the learners reach on one data set."""

    n_rows: int  # n_rows and n_folds: Rows of the set, and folds of all repeats together
    n_folds: int
    # By learner, and by `bncc.papers.s2_losses.missing_name` where test cells are missing: wrong
    # decisions in percent of all rows of all repeats
    error: Mapping[str, float]
    log_loss: Mapping[str, float]  # By the same: mean of ``-ln p(c | x)`` over these rows, in nats
    bdeu: Mapping[str, float]  # By learner but AODE: mean of the score over folds, in nats


def study(
    files: Mapping[str, Path],
    protocol: Protocol,
    jobs: int = 1,
    log: Path | None = None,
    advance: Advance | None = None,
) -> dict[str, SetResult]:
    """Try all learners on all data sets."""
    known = SetLog(log)
    keys = {name: set_key(name, path, protocol) for name, path in files.items()}
    missing = [name for name, key in keys.items() if key not in known]
    missing.sort(key=lambda name: -files[name].stat().st_size)  # the long ones first
    todo = [(name, files[name], protocol) for name in missing]
    done = len(files) - len(missing)
    tell = advance or (lambda share, what: None)
    for index, result in results_of(try_set, todo, jobs):
        name, done = missing[index], done + 1
        known.add(keys[name], name, asdict(result))
        tell(done / len(files), name)
    return {name: SetResult(**known[key]) for name, key in keys.items()}


def try_set(todo: Todo) -> SetResult:
    """Try all learners on one data set."""
    name, path, protocol = todo
    dataset = read_set(path, name)
    errors: dict[str, float] = defaultdict(int)
    log_loss: dict[str, float] = defaultdict(float)
    bdeu: dict[str, float] = defaultdict(float)
    for repeat in range(protocol.n_repeats):
        generator = np.random.default_rng([protocol.seed, repeat])
        drawn = generator.random((dataset.n_rows, len(dataset.table.columns)))
        for part in _parts_of(name, dataset, protocol, repeat):
            fold = replace(part.fold, name=f"{name}, {part.fold.name}")
            networks = learn_networks(fold)
            found = network_losses(fold, networks, drawn[part.test_rows])
            for learner, judged in {**found, AODE: aode_losses(fold)}.items():
                errors[learner] += judged.errors
                log_loss[learner] += judged.log_loss
            for learner, network in networks.items():
                bdeu[learner] += network.bdeu
    n_judged = dataset.n_rows * protocol.n_repeats
    n_folds = protocol.n_folds * protocol.n_repeats
    return SetResult(
        n_rows=dataset.n_rows,
        n_folds=n_folds,
        error={learner: 100 * count / n_judged for learner, count in errors.items()},
        log_loss={learner: total / n_judged for learner, total in log_loss.items()},
        bdeu={learner: total / n_folds for learner, total in bdeu.items()},
    )


def _parts_of(name: str, dataset: Dataset, protocol: Protocol, repeat: int) -> Iterator[Part]:
    """Deal out a set whose name is in what is said of it."""
    try:
        yield from parts_of(dataset, protocol, repeat)
    except DataError as error:
        raise DataError(f"{name}: {error}") from None
