"""S4's study: its networks, its learners, and the learners' results on samples of a network."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np

from bncc.errors import DataError
from bncc.network.bif import read_bif
from bncc.network.inference import sample
from bncc.network.network import Network
from bncc.papers.runs import Log, Program, Result, kept
from bncc.progress import Progress, silence
from bncc.structure.dags.climbing import climb, tabu_search
from bncc.structure.dags.curriculum import (
    CurriculumSettings,
    choose_step,
    held_rows,
    learn_by_curriculum,
    order_of,
)
from bncc.structure.dags.dag_score import (
    Columns,
    Dag,
    DagScore,
    ScoreKind,
    arcs_of,
    measure,
    structural_distance,
)
from bncc.structure.dags.neighbors import parents_and_children, varying_pairs

PROGRAM = Program("S4's study", ("structure", "network", "papers/s4_study.py"))
"""Sources that determine the study's results."""

FOLDER = "networks"
SUFFIXES = (".bif", ".bif.gz")
NETWORKS: Mapping[str, tuple[int, int]] = {
    "alarm": (37, 46), "andes": (223, 338), "asia": (8, 8), "child": (20, 25),
    "hailfinder": (56, 66), "hepar2": (70, 123), "insurance": (27, 52), "sachs": (11, 17),
    "water": (32, 66), "win95pts": (76, 112),
}  # fmt: skip
"""Numbers of variables and arcs by name, as in the slides."""
QUICK = ("alarm", "asia", "child", "insurance", "sachs", "win95pts")
"""Networks of a quick study."""


def network_files(folder: Path, names: Sequence[str]) -> dict[str, Path]:
    """Find the files of networks."""
    place = folder / FOLDER if (folder / FOLDER).is_dir() else folder
    found = {}
    for name in names:
        paths = [place / f"{name}{suffix}" for suffix in SUFFIXES]
        present = [path for path in paths if path.is_file()]
        if not present:
            raise DataError(
                f"'{place}' has no {name}.bif or {name}.bif.gz; name the folder of the networks "
                "with --data"
            )
        found[name] = present[0]
    return found


def read_network(name: str, path: Path) -> Network:
    """Read a network of the slides."""
    network = read_bif(path)
    found = (network.n_variables, network.n_arcs)
    if found != NETWORKS[name]:
        raise DataError(
            f"'{path}' has {found[0]} variables and {found[1]} arcs, and S4's {name} "
            f"{NETWORKS[name][0]} and {NETWORKS[name][1]}; download it from the bnlearn "
            "repository"
        )
    return network


ALPHA = 10.0
"""Equivalent sample size of all learners and of the BDeu for evaluation."""
CL, MMHC, TABU, PRICED, HC = "CL", "MMHC", "Tabu", "Priced HC", "HC"
LEARNERS = (CL, MMHC, TABU, PRICED, HC)
"""CL is curriculum learning; MMHC is hill climbing within the same sets, Tabu the same with a list
of 100 graphs; Priced HC is CL without stages, its step 0; HC may join any two variables."""


@dataclass(frozen=True)
class Reached:
    """Results of a learner on one sample."""

    bdeu: float  # bdeu, bic, kl: On the test rows, see `bncc.structure.dags.dag_score.Measures`
    bic: float
    kl: float
    # shd and shd_of_patterns: Distance to the true graph, see
    # `bncc.structure.dags.dag_score.Distance`
    shd: int
    shd_of_patterns: int
    n_arcs: int  # Number of arcs


def learn_graphs(train: Columns, seed: int) -> dict[str, Dag]:
    """Learn a graph by each learner."""
    sets, settings = parents_and_children(train), CurriculumSettings(ALPHA)
    score = DagScore(train, ScoreKind("bdeu", ALPHA))
    step = choose_step(train, held_rows(train.n_samples, seed), sets, settings)
    order = order_of(train)
    return {
        CL: learn_by_curriculum(train, sets, step, settings, order=order),
        MMHC: climb(score, sets),
        TABU: tabu_search(score, sets),
        PRICED: learn_by_curriculum(train, sets, 0, settings, order=order),
        HC: climb(score, varying_pairs(train)),
    }


def judge(dag: Dag, true: Dag, test: Columns) -> Reached:
    """Measure a graph."""
    found, distance = measure(test, dag, ALPHA), structural_distance(dag, true)
    return Reached(
        bdeu=found.bdeu,
        bic=found.bic,
        kl=found.information,
        shd=distance.total,
        shd_of_patterns=distance.of_patterns,
        n_arcs=len(arcs_of(dag)),
    )


def judge_all(train: Columns, test: Columns, true: Dag, seed: int) -> Mapping[str, Reached]:
    """Learn by each learner, and measure the learned graphs."""
    dags = learn_graphs(train, seed)
    return {name: judge(dag, true, test) for name, dag in dags.items()}


N_TEST_ROWS = 5000
TEST_SEED = 0
"""Seed of the test rows; training samples have seeds from 1 on."""


@dataclass(frozen=True)
class Draw:
    """One training sample."""

    network: str  # Name of the network
    path: Path  # Its file
    n_rows: int  # Number of rows: S4's SS
    seed: int  # Random seed of the rows and the learners; not `TEST_SEED`

    @property
    def key(self) -> str:
        """Fingerprint of sixteen hexadecimal digits."""
        words = json.dumps([self.network, self.n_rows, self.seed])
        return sha256(words.encode() + self.path.read_bytes()).hexdigest()[:16]


def try_draw(draw: Draw) -> Mapping[str, Reached]:
    """Learn from one sample by all learners."""
    network = read_network(draw.network, draw.path)
    train, test = (
        Columns(np.ascontiguousarray(sample(network, n, seed).T), network.n_states)
        for n, seed in ((draw.n_rows, draw.seed), (N_TEST_ROWS, TEST_SEED))
    )
    true = tuple(tuple(sorted(parents)) for parents in network.parents)
    return judge_all(train, test, true, draw.seed)


def study(
    files: Mapping[str, Path],
    sizes: Sequence[int],
    n_draws: int,
    jobs: int = 1,
    log: Path | None = None,
    advance: Progress = silence,
) -> dict[Draw, Mapping[str, Reached]]:
    """Evaluate all learners on samples of all networks."""
    draws = [
        Draw(name, path, n_rows, seed)
        for n_rows in sorted(sizes)
        for name, path in files.items()
        for seed in range(TEST_SEED + 1, TEST_SEED + 1 + n_draws)
    ]

    def told(done: int, n: int, draw: Draw, _: Result) -> None:
        if advance is not None:
            title = f"{draw.network}, {draw.n_rows} rows, sample {draw.seed}"
            advance(done / n, title)

    with kept(_tried, None, lambda draw: draw.key, Log(log, PROGRAM), jobs) as run:
        results = run(draws, told)
    return {
        draw: {name: Reached(**each) for name, each in found.items()}
        for draw, found in zip(draws, results, strict=True)
    }


def _tried(_: None, draw: Draw) -> Result:
    return {name: asdict(each) for name, each in try_draw(draw).items()}
