"""
CPU seconds of an epoch: the native engine, the torch engine, and a plain torch loop.

The papers' fold 1 of letter, satimage and usps; naive Bayes, Chow-Liu TAN, and TAN learned from 8
candidate parents; S0's hybrid loss, its batches, float tables. All three take the same batches in
one process on one thread, one after the other, and each figure is the minimum of --repeat. The
plain loop is `F.embedding_bag`, `log_softmax` and `torch.optim.Adam` under autograd; if it learns
the structure, rows of all candidates are weighted by relaxed indicators.

    OMP_NUM_THREADS=1 .venv/bin/python -m benchmarks.speed.train_speed --data ../shared/data
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bncc._types import FloatArray, IntArray
from bncc.data.readers import read_table
from bncc.data.target import fold_parts
from bncc.discretize.feature import states_of
from bncc.discretize.fit import fit_features
from bncc.structure.candidates import find_candidates
from bncc.structure.learners.trees import chow_liu_tree, naive_bayes
from bncc.train.gradient.engine import Chance, Engine, Problem, StructureEngine, StructureProblem
from bncc.train.gradient.layout import layout_of
from bncc.train.gradient.native_engine import NativeEngine
from bncc.train.gradient.torch_engine import TorchEngine, loss_of
from bncc.train.hyperparameters import Hyperparameters, hyperparameters_of
from bncc.train.joint.candidate_layout import counted_start
from bncc.train.joint.descent import chance_of
from bncc.train.joint.native_engine import NativeStructureEngine
from bncc.train.joint.torch_engine import TorchStructureEngine
from bncc.train.maximum_likelihood import ml_log_tables
from bncc.train.settings import TrainSettings

SETS = {"letter": 100, "satimage": 50, "usps": 100}
"""Rows of a minibatch in S0."""
FLOORS = {
    ("letter", "naive"): 25, ("usps", "naive"): 10,
    ("letter", "tan-subset"): 15, ("satimage", "tan-subset"): 20, ("usps", "tan-subset"): 15,
}  # fmt: skip
"""Required speed-up of the native engine over the plain loop."""
LEARNERS = {"naive": lambda X, *_: naive_bayes(X.shape[1]), "chow-liu": chow_liu_tree}


class PlainEngine:
    """Plain torch: no custom gradients, no fused optimizer."""

    def __init__(self, problem: Problem, hyper: Hyperparameters) -> None:
        self.hyper, self.layout = hyper, layout_of(problem.structure, problem.n_states)
        prior, tables = problem.start
        self.prior = torch.tensor(prior, dtype=torch.float32, requires_grad=True)
        stacked = torch.tensor(self.layout.stack(tables), dtype=torch.float32)
        self.rho = stacked.requires_grad_()
        rows = problem.X + self.layout.offset
        for parent, stride in zip(self.layout.parent.T, self.layout.stride.T, strict=True):
            rows = rows + problem.X[:, parent] * stride
        self.rows, self.y = torch.from_numpy(rows), torch.from_numpy(problem.y)
        self.optimizer = torch.optim.Adam([self.rho, self.prior], lr=hyper.lr)

    def tables(self) -> Tensor:
        """Return normalized log-probabilities."""
        parts = torch.split(self.rho, [q * r for q, r in self.layout.groups])
        return torch.cat([
            part.view(q, r, -1).log_softmax(dim=1).view(q * r, -1)
            for part, (q, r) in zip(parts, self.layout.groups, strict=True)
        ])  # fmt: skip

    def epoch(self, order: IntArray, noise: IntArray, lr: float) -> float:
        """Take one step for each batch."""
        self.optimizer.param_groups[0]["lr"] = lr
        for batch in torch.split(torch.from_numpy(order), self.hyper.batch_size):
            log_joint = torch.nn.functional.embedding_bag(
                self.rows[batch], self.tables(), mode="sum"
            ) + self.prior.log_softmax(dim=0)
            hyper = self.hyper
            loss = loss_of(log_joint, self.y[batch], hyper)
            self.optimizer.zero_grad()
            torch.autograd.backward(loss)
            self.optimizer.step()
        return float(loss.detach())


class PlainStructureEngine:
    """Plain torch: every candidate's row is gathered and weighted."""

    def __init__(self, problem: StructureProblem, hyper: Hyperparameters) -> None:
        layout = problem.layout
        prior, table = counted_start(problem.X, problem.y, layout, problem.n_classes)
        self.hyper, self.y = hyper, torch.from_numpy(problem.y)
        self.prior = torch.tensor(prior, dtype=torch.float32, requires_grad=True)
        self.rho = torch.tensor(table, dtype=torch.float32, requires_grad=True)
        self.phi = torch.zeros(layout.offset.shape, requires_grad=True)
        self.absent = torch.from_numpy(layout.n_table_rows == 0)
        self.blocks = [
            (int(n), int(r))
            for n, r in zip(layout.n_table_rows.sum(axis=1), layout.n_states, strict=True)
        ]
        self.x = torch.from_numpy(problem.X)
        self.parent, self.stride, self.offset = (
            torch.from_numpy(part) for part in (layout.parent, layout.stride, layout.offset)
        )
        self.optimizer = torch.optim.Adam([self.rho, self.prior], lr=hyper.lr)
        self.of_structure = torch.optim.Adam([self.phi], lr=problem.step)

    def epoch(self, chance: Chance, lr: float, tau: float, _prices: FloatArray) -> float:
        """Take one step for each batch; there is no penalty on size."""
        self.optimizer.param_groups[0]["lr"] = lr
        hyper, loss = self.hyper, torch.zeros(())
        batches = torch.split(torch.from_numpy(chance.order), hyper.batch_size)
        for batch, gumbel in zip(batches, torch.from_numpy(chance.gumbel).float(), strict=True):
            parts = torch.split(self.rho, [n for n, _ in self.blocks])
            theta = torch.cat([
                part.view(-1, r, part.shape[1]).log_softmax(dim=1).view(part.shape)
                for part, (_, r) in zip(parts, self.blocks, strict=True)
            ])  # fmt: skip
            noisy = self.phi.masked_fill(self.absent, -torch.inf).log_softmax(dim=1) + gumbel
            soft = (noisy / tau).softmax(dim=1)
            hard = torch.nn.functional.one_hot(noisy.argmax(dim=1), soft.shape[1])
            indicator = hard + soft - soft.detach()
            x = self.x[batch]
            rows = x[:, self.parent] * self.stride + x[:, :, None] + self.offset
            log_joint = torch.nn.functional.embedding_bag(
                rows.view(len(batch), -1), theta, mode="sum",
                per_sample_weights=indicator.reshape(1, -1).expand(len(batch), -1),
            ) + self.prior.log_softmax(dim=0)  # fmt: skip
            loss = loss_of(log_joint, self.y[batch], hyper)
            for optimizer in (self.optimizer, self.of_structure):
                optimizer.zero_grad()
            torch.autograd.backward(loss)
            for optimizer in (self.optimizer, self.of_structure):
                optimizer.step()
        return float(loss.detach())


def seconds_of_structure(
    engine: StructureEngine | PlainStructureEngine,
    problem: StructureProblem,
    hyper: Hyperparameters,
    n: int,
) -> float:
    """Return the minimum CPU seconds of several epochs that learn a structure."""
    rng = np.random.default_rng(0)
    prices = np.zeros(problem.layout.offset.shape, dtype=np.float32)
    best = float("inf")
    for _ in range(n):
        begin = process_time()
        engine.epoch(chance_of(problem, hyper, rng), 0.01, 1.0, prices)
        best = min(best, process_time() - begin)
    return best


def seconds(engine: Engine | PlainEngine, problem: Problem, n: int) -> float:
    """Return the minimum CPU seconds of several epochs."""
    rng = np.random.default_rng(0)
    best = float("inf")
    for _ in range(n):
        begin = process_time()
        order = rng.permutation(len(problem.y))
        noise = rng.integers(0, 256, problem.X.shape, dtype=np.uint8)
        engine.epoch(order, noise, 0.01)
        best = min(best, process_time() - begin)
    return best


def problem_of(data: Path, name: str, structure: str) -> Problem:
    """Return a paper's training rows with tables by counting."""
    path = data / "paper" / f"{name}.npz"
    train, _ = fold_parts(read_table(path, fold=1), fold=1)
    features = fit_features(train.table, train.y, "none")
    X, n_states = states_of(features, train.table), [f.n_states for f in features]
    counted = X, train.y, n_states, len(train.classes)
    graph = LEARNERS[structure](*counted)
    start = ml_log_tables(X, train.y, graph, n_states, len(train.classes))
    return Problem(X, train.y, graph, n_states, start)


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print; fail if a floor is not reached."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with paper/")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args(words)
    torch.set_num_threads(1)
    reached = True
    engines: dict[str, Callable[[Problem, Hyperparameters], Engine | PlainEngine]] = {
        "native": NativeEngine, "torch": TorchEngine, "plain": PlainEngine,
    }  # fmt: skip
    for name, batch_size in SETS.items():
        for structure in LEARNERS:
            problem = problem_of(options.data, name, structure)
            hyper = replace(hyperparameters_of(TrainSettings(), len(problem.y)), dropout=0.0)
            hyper = replace(hyper, batch_size=batch_size)
            spent = {
                which: seconds(kind(problem, hyper), problem, options.repeat)
                for which, kind in engines.items()
            }
            ratio = spent["plain"] / spent["native"]
            reached &= ratio >= FLOORS.get((name, structure), 0)
            _print(name, structure, spent)
        searched = structure_problem_of(problem_of(options.data, name, "naive"))
        kinds: dict[str, Callable[[StructureProblem, Hyperparameters], Any]] = {
            "native": NativeStructureEngine, "torch": TorchStructureEngine,
            "plain": PlainStructureEngine,
        }  # fmt: skip
        spent = {
            which: seconds_of_structure(kind(searched, hyper), searched, hyper, options.repeat)
            for which, kind in kinds.items()
        }
        reached &= spent["plain"] / spent["native"] >= FLOORS.get((name, "tan-subset"), 0)
        _print(name, "tan-subset", spent)
    return int(not reached)


def _print(name: str, structure: str, spent: dict[str, float]) -> None:
    figures = ", ".join(f"{which} {1e3 * s:.2f} ms" for which, s in spent.items())
    ratio = spent["plain"] / spent["native"]
    print(f"{name} {structure}: {figures}; native x{ratio:.0f} of plain", flush=True)


def structure_problem_of(problem: Problem) -> StructureProblem:
    """Return the choice among 8 earlier features in a random order."""
    rng = np.random.default_rng(0)
    candidates = find_candidates("tan-subset", problem.X.shape[1], {"parents": "8"}, rng)
    n_classes = len(problem.start[0])
    return StructureProblem(
        problem.X, problem.y, list(problem.n_states), n_classes, candidates, step=0.01
    )


if __name__ == "__main__":
    sys.exit(main())
