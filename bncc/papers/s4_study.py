"""S4's study: what each learner reaches on samples of known networks."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np

from bncc.network.sampling import sample
from bncc.papers.pool import results_of
from bncc.papers.request import Advance
from bncc.papers.s2_log import SetLog
from bncc.papers.s4_learners import Reached, judge_all
from bncc.papers.s4_networks import read_network
from bncc.structure.dags.dag_score import Columns

TEXTS = (
    "structure/dags", "structure/scores.py", "structure/counts.py",
    "network/bif_reader.py", "network/bif_scanner.py",
    "network/network.py", "network/sampling.py",
    "papers/s4_learners.py", "papers/s4_networks.py", "papers/s4_study.py",
)  # fmt: skip
"""Folders and files of bncc whose text decides what the study gives."""
N_TEST_ROWS = 5000
TEST_SEED = 0
"""Samples to learn of have the seeds from 1 on."""


@dataclass(frozen=True)
class Draw:
    """One sample to learn of."""

    network: str  # Name of the network
    path: Path  # Its file
    n_rows: int  # Rows: S4's SS
    seed: int  # Of the rows, and of what the learners draw; not `TEST_SEED`

    @property
    def key(self) -> str:
        """Sixteen hexadecimal digits that tell it from others."""
        words = json.dumps([self.network, self.n_rows, self.seed])
        return sha256(words.encode() + self.path.read_bytes()).hexdigest()[:16]


def try_draw(draw: Draw) -> Mapping[str, Reached]:
    """Learn of one sample by all learners."""
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
    advance: Advance | None = None,
) -> dict[Draw, Mapping[str, Reached]]:
    """Try all learners on samples of all networks."""
    known = SetLog(log, TEXTS, "S4")
    draws = [
        Draw(name, path, n_rows, seed)
        for n_rows in sorted(sizes)
        for name, path in files.items()
        for seed in range(TEST_SEED + 1, TEST_SEED + 1 + n_draws)
    ]
    keys = {draw: draw.key for draw in draws}
    missing = [draw for draw in draws if keys[draw] not in known]
    done, tell = len(draws) - len(missing), advance or (lambda share, what: None)
    for index, found in results_of(try_draw, missing, jobs):
        draw, done = missing[index], done + 1
        title = f"{draw.network}, {draw.n_rows} rows, sample {draw.seed}"
        known.add(keys[draw], title, {name: asdict(each) for name, each in found.items()})
        tell(done / len(draws), title)
    return {
        draw: {name: Reached(**each) for name, each in known[key].items()}
        for draw, key in keys.items()
    }
