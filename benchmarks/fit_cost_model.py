"""Measure layouts of the reference models and fit the cost model's weights to them.

For every kernel family and machine some layouts of each model, those that are estimated best and
the farthest of the rest: instructions of `trusted` (cycles on AVR) and bytes of flash of `predict`,
compiled with -O2 and with -Os. Every weight is at least zero and the sum of squared relative
errors least. Then each model in turn is estimated by weights fitted to all others.

    .venv/bin/python benchmarks/fit_cost_model.py --data ../shared/data
    .venv/bin/python benchmarks/fit_cost_model.py --data ../shared/data --fit-only

Every measurement is one line of build/cost_model.jsonl; run it again to go on. Layouts whose C has
changed are measured again. The weights go to bncc/compiler/cost_weights.py.
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from typing import TypeAlias

import numpy as np
from scipy.optimize import nnls

from benchmarks.reference_models import BUNDLED_SETS, PAPER_SETS, STRUCTURES, Recipe, reference
from bncc.bench.measurement import Measurement, measure_ours, measure_textbook
from bncc.bench.on_target import bench_inputs
from bncc.build.cross import find_bench
from bncc.build.targets import TARGETS
from bncc.compiler import textbook_cost
from bncc.compiler.candidate import Candidate, candidate
from bncc.compiler.choose import FAMILIES
from bncc.compiler.cost_model import Level
from bncc.compiler.importer import program_of
from bncc.compiler.ir import Program
from bncc.compiler.pipeline import optimize
from bncc.emit.emitter import Emission, EmitOptions, emit_candidate
from bncc.errors import BnccError

MACHINES = ("cortex-m0", "cortex-m4", "rv32", "x86", "avr")
LEVELS: tuple[Level, ...] = ("-O2", "-Os")
WIDTHS = (1, 2, 4, 8)
N_ROWS = 5
MOST_LAYOUTS = 4
"""Of a family for one model."""
CLOSE = 0.15
"""Relative error within which an estimate is good."""
ROOT = Path(__file__).parent.parent
WEIGHTS = ROOT / "bncc" / "compiler" / "cost_weights.py"


@dataclass(frozen=True)
class Job:
    """One model on one machine."""

    recipe: Recipe
    target: str
    level: Level
    data: Path


@dataclass(frozen=True)
class Sample:
    """What one layout was measured to cost.

    Parameters
    ----------
    key : str
        Model, machine, level, family and number of the layout.
    c_digest : str
        Of its C.
    model, family, target, level : str
        What was measured where.
    n_features : int
        Inputs of the model.
    rom_bytes : int
        Bytes of its constants.
    work, code : tuple of float
        Its terms.
    trusted, predict : float or None
        Instructions of both; None where it does not fit.
    flash : float or None
        Bytes of `predict`.
    """

    key: str
    c_digest: str
    model: str
    family: str
    target: str
    level: str
    n_features: int
    rom_bytes: int
    work: tuple[float, ...]
    code: tuple[float, ...]
    trusted: float | None
    predict: float | None
    flash: float | None


Terms: TypeAlias = tuple[tuple[float, ...], tuple[float, ...]]
Figures: TypeAlias = tuple[float, float, float]
Measure: TypeAlias = Callable[[], Figures]


def jobs(options: argparse.Namespace) -> Iterator[Job]:
    """Yield every model on every machine."""
    recipes = [Recipe(s, k, b) for s in PAPER_SETS for k in STRUCTURES for b in WIDTHS]
    recipes += [Recipe(s, k, b) for s in BUNDLED_SETS for k in STRUCTURES for b in (2, 8)]
    for recipe in recipes:
        for target in options.machine or MACHINES:
            if target == "avr" and recipe.structure != "naive":
                continue
            for level in LEVELS:
                yield Job(recipe, target, level, options.data)


def layouts(program: Program, family: str, job: Job) -> list[tuple[int, Candidate]]:
    """Return some layouts of a family: the first by each estimate, and some of the rest."""
    kernels = FAMILIES[family](program)
    found = [candidate(program, kernel, job.target, job.level) for kernel in kernels]
    by_speed = sorted(range(len(found)), key=lambda i: found[i].instructions)
    by_size = sorted(range(len(found)), key=lambda i: found[i].flash)
    chosen = dict.fromkeys([*by_speed[:2], *by_size[:1], *by_speed[2:]])
    return [(i, found[i]) for i in sorted(list(chosen)[:MOST_LAYOUTS])]


def work(job: Job, known: Mapping[str, Sample]) -> list[Sample]:
    """Measure what is not known of a model on a machine."""
    found = reference(job.recipe, job.data)
    imported = program_of(found.model)
    program, _ = optimize(imported)
    (bench,) = find_bench(TARGETS[job.target])
    inputs = bench_inputs(found.model, found.test, n_rows=N_ROWS)
    options = EmitOptions("m", frozenset({"trusted"}), target=job.target)

    def sample(
        family: str, number: int, digest: str, constants: int, terms: Terms, measure: Measure
    ) -> Sample:
        key = f"{job.recipe} {job.target} {job.level} {family} {number}"
        before = known.get(key)
        figures = None, None, None
        if before is not None and before.c_digest == digest:
            figures = before.trusted, before.predict, before.flash
        else:
            try:
                figures = measure()
            except BnccError as error:
                print(f"{key}: {error}", file=sys.stderr)
        where = str(job.recipe), family, job.target, job.level
        n_features = len(imported.features)
        return Sample(key, digest, *where, n_features, constants, *terms, *figures)

    def textbook() -> Figures:
        measured, reason = measure_textbook(found.model, bench, inputs)
        if measured is None:
            raise BnccError(reason or "")
        return _figures(measured)

    terms = textbook_cost.work_terms(imported), textbook_cost.code_terms(imported)
    constants = textbook_cost.table_bytes(imported)
    samples = [sample(textbook_cost.FAMILY, 0, "", constants, terms, textbook)]
    for family in FAMILIES:
        for i, chosen in layouts(program, family, job):
            emission = emit_candidate(found.model, chosen, options)
            kernel = chosen.kernel

            def ours(emission: Emission = emission) -> Figures:
                return _figures(
                    measure_ours(found.model, bench, inputs, opt_level=job.level, emission=emission)
                )

            terms = kernel.work, kernel.code
            digest = _digest(emission)
            samples.append(sample(family, i, digest, kernel.rom_bytes, terms, ours))
    return samples


def _figures(found: Measurement) -> Figures:
    return found.costs["trusted"].mean, found.costs["predict"].mean, found.flash


def _digest(emission: Emission) -> str:
    text = json.dumps(dict(emission.files), sort_keys=True)
    return sha256(text.encode()).hexdigest()[:16]


def fitted(terms: Sequence[Sequence[float]], wanted: Sequence[float]) -> np.ndarray:
    """Return the weights >= 0 of least squared relative error."""
    A = np.asarray(terms, dtype=float) / np.asarray(wanted, dtype=float)[:, None]
    scale = np.maximum(np.abs(A).max(axis=0), 1e-12)
    return nnls(A / scale, np.ones(len(A)))[0] / scale


def errors(
    samples: Sequence[Sample], terms: Sequence[Sequence[float]], wanted: Sequence[float]
) -> tuple[np.ndarray, np.ndarray]:
    """Return relative errors of weights fitted to all, and to all but the model in question."""
    A, y = np.asarray(terms, dtype=float), np.asarray(wanted, dtype=float)
    names = np.array([sample.model for sample in samples])
    together = A @ fitted(A, y) / y - 1
    apart = np.zeros(len(y))
    for name in set(names):
        held = names == name
        if not held.all():
            apart[held] = A[held] @ fitted(A[~held], y[~held]) / y[held] - 1
    return together, apart


def known_samples(log: Path) -> dict[str, Sample]:
    """Return the last sample of every key in a file; a line cut off is passed over."""
    found = {}
    for line in log.read_text("utf-8").splitlines() if log.exists() else ():
        try:
            values = json.loads(line)
            values["work"], values["code"] = tuple(values["work"]), tuple(values["code"])
            sample = Sample(**values)
        except (ValueError, TypeError, KeyError):
            continue
        found[sample.key] = sample
    return found


def fit(samples: Sequence[Sample]) -> str:
    """Fit all weights, print how well, and return the module that holds them."""
    groups: dict[tuple[str, str, str], list[Sample]] = defaultdict(list)
    for sample in samples:
        if sample.trusted is not None and sample.flash is not None:
            groups[sample.family, sample.target, sample.level].append(sample)
    total: dict[str, list[np.ndarray]] = defaultdict(list)
    entries = []
    print(f"{'family':10} {'machine':10} {'level':5} {'n':>3}  within 15 %: instructions, flash")
    for key in sorted(groups):
        some = groups[key]
        work_terms = [sample.work for sample in some]
        code_terms = [sample.code for sample in some]
        spent = [sample.trusted or 0 for sample in some]
        code = [(sample.flash or 0) - sample.rom_bytes for sample in some]
        flash = np.array([sample.flash for sample in some], dtype=float)
        weights = fitted(work_terms, spent), _fitted_code(code_terms, code, flash)
        both, alone = errors(some, work_terms, spent)
        size = (np.asarray(code_terms) @ weights[1] - np.asarray(code)) / flash
        total["instructions"].append(both)
        total["instructions, its model left out"].append(alone)
        total["flash"].append(size)
        shares = [f"{np.mean(np.abs(e) <= CLOSE):4.0%}" for e in (both, alone, size)]
        worst = f"{np.abs(both).max():.0%} {np.abs(size).max():.0%}"
        print(f"{key[0]:10} {key[1]:10} {key[2]:5} {len(some):3}  {' '.join(shares)}  {worst}")
        numbers = ", ".join(_numbers(w) for w in weights)
        entries.append(f'    ("{key[0]}", "{key[1]}", "{key[2]}"): ({numbers}),\n')
    for what, parts in total.items():
        every = np.abs(np.concatenate(parts))
        print(f"{what}: {np.mean(every <= CLOSE):.1%} of {len(every)} within {CLOSE:.0%}")
    return HEAD + "".join(entries) + "}\n"


def _fitted_code(
    terms: Sequence[Sequence[float]], wanted: Sequence[float], flash: np.ndarray
) -> np.ndarray:
    """Return the weights of code whose error is least relative to all of the flash."""
    A, y = np.asarray(terms, dtype=float), np.asarray(wanted, dtype=float)
    A, y = A / flash[:, None], y / flash
    scale = np.maximum(np.abs(A).max(axis=0), 1e-12)
    return nnls(A / scale, y)[0] / scale


def _numbers(weights: np.ndarray) -> str:
    return f"({', '.join(f'{weight:.4g}' for weight in weights)},)"


HEAD = '''"""Weights of the cost model, written by benchmarks/fit_cost_model.py; do not edit.

By family, machine and the compiler's level: executed instructions (cycles on AVR) per term of
``Kernel.work``, and bytes per term of ``Kernel.code``.
"""

WEIGHTS: dict[tuple[str, str, str], tuple[tuple[float, ...], tuple[float, ...]]] = {
'''


def main(words: Sequence[str] | None = None) -> int:
    """Measure, fit, print and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with paper/")
    parser.add_argument("--machine", action="append", choices=MACHINES, help="repeatable")
    parser.add_argument("--fit-only", action="store_true", help="fit to what is known")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--log", type=Path, default=Path("build/cost_model.jsonl"))
    options = parser.parse_args(words)
    known = known_samples(options.log)
    samples = list(known.values())
    if not options.fit_only:
        samples = _measured(list(jobs(options)), known, options)
    WEIGHTS.write_text(fit(samples), encoding="utf-8")
    return 0


def _measured(
    todo: Sequence[Job], known: Mapping[str, Sample], options: argparse.Namespace
) -> list[Sample]:
    options.log.parent.mkdir(parents=True, exist_ok=True)
    found: list[Sample] = []
    with (
        options.log.open("a", encoding="utf-8") as stream,
        ProcessPoolExecutor(options.processes, mp_context=get_context("spawn")) as pool,
    ):
        stream.write("\n")  # what a run that was killed may have left
        for i, samples in enumerate(pool.map(work, todo, [known] * len(todo)), 1):
            found += samples
            for sample in samples:
                if sample != known.get(sample.key):
                    print(json.dumps(asdict(sample)), file=stream, flush=True)
            name = f"{todo[i - 1].recipe} {todo[i - 1].target} {todo[i - 1].level}"
            print(f"[{i}/{len(todo)}] {name}", file=sys.stderr, flush=True)
    return found


if __name__ == "__main__":
    sys.exit(main())
