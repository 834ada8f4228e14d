"""Training, validation and measurement of the forms of `peer_forms`; no test error is computed."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from benchmarks.peers.peer_forms import FORMS, Form, emissions, way_of
from benchmarks.peers.uint8_sets import archive_of
from benchmarks.shared.log import appending, last_results
from bncc.data.dataset import Dataset, Table
from bncc.data.readers import read_table
from bncc.data.target import fold_parts
from bncc.device.cross import find_toolchain
from bncc.device.measure import bench_inputs, bench_rows
from bncc.device.meter import Inputs, Meter
from bncc.emit.emitter import Emission, emit_c
from bncc.emit.provenance import code_digest
from bncc.errors import MisfitError
from bncc.model.file import save_model
from bncc.model.model import Model
from bncc.on_device import measure_ours, sources_of
from bncc.targets import find_target
from bncc.train.repeats import Repeats, train_repeats

SEEDS = {"letter": 2, "satimage": 5, "usps": 2}
"""Numbers of validation sets; the errors on one of a small set are noisy."""
RAW = ("raw",)
"""The one entry point that is linked and called, ``predict_raw``."""


@dataclass(frozen=True)
class Program:
    """One C file of a model, as ``predict_raw`` is called."""

    way: str  # Options of the emission, from `way_of`
    flash: int  # Bytes on a Cortex-M4 at -Os
    instructions: float  # Executed on a Cortex-M0 at -O2, mean of 100 random rows
    code: str  # Digest of the C


@dataclass(frozen=True)
class Trained:
    """A form trained on the training rows of a set, with all its programs."""

    set: str
    form: str  # `Form.key`
    validation: float  # Percent, mean over the validation sets
    programs: Sequence[Program]

    def __post_init__(self) -> None:
        read = tuple(one if isinstance(one, Program) else Program(**one) for one in self.programs)
        object.__setattr__(self, "programs", read)

    @property
    def key(self) -> str:
        """Key in the log."""
        return f"{self.set} {self.form}"


def model_path(folder: Path, name: str, form: Form) -> Path:
    """Return the path of a model file."""
    return folder / name / f"{form.key}.bncc"


@lru_cache(maxsize=1)
def rows_of(archive: Path) -> tuple[Dataset, Table]:
    """Return labeled training rows, and readings for measurements, which have no labels."""
    train, test = fold_parts(read_table(archive, fold=1), None, 1)
    assert test is not None
    return train, bench_rows(test.table)


def trained(folder: Path, name: str, form: Form) -> Trained:
    """Train a form, write its model, and measure its programs."""
    _, readings = rows_of(archive_of(folder, name))
    repeats = train_form(folder, name, form, SEEDS[name])
    validation = 100 * float(np.mean(repeats.errors("validation")))
    programs = programs_of(repeats.first.model, form, readings)
    return Trained(name, form.key, validation, programs)


def train_form(folder: Path, name: str, form: Form, n_seeds: int = 1) -> Repeats:
    """Train a form with some seeds, and write the first one's model."""
    train, _ = rows_of(archive_of(folder, name))
    repeats = train_repeats(train, form.settings(), n_seeds)
    path = model_path(folder, name, form)
    path.parent.mkdir(parents=True, exist_ok=True)
    save_model(repeats.first.model, path, overwrite=True)
    return repeats


def programs_of(model: Model, form: Form, readings: Table) -> tuple[Program, ...]:
    """Emit and measure the C of a model in every way; equal C is measured once."""
    inputs = bench_inputs(model, readings)
    found: dict[str, Program] = {}
    for options in emissions(form):
        try:
            emission = emit_c(model, options)
            code = code_digest(emission.files, emission.name)
            if code not in found:
                found[code] = Program(way_of(options), *_costs(model, emission, inputs), code)
        except MisfitError:
            continue
    return tuple(found.values())


def _costs(model: Model, emission: Emission, inputs: Inputs) -> tuple[int, float]:
    """Return bytes and mean instructions of ``predict_raw`` and everything that it links."""
    (m4,), (m0,) = (find_toolchain(find_target(f"cortex-{core}")) for core in ("m4", "m0"))
    with Meter(sources_of(model, emission), m4, "-Os") as meter:
        flash = meter.footprint(RAW).flash
    timed = measure_ours(
        model, m0, inputs, opt_level="-O2", emission=emission, with_trusted=False, kept=RAW
    )
    return flash, timed.costs["raw"].mean


def measure(folder: Path, sets: Sequence[str], jobs: int) -> Iterator[tuple[Trained, int, int]]:
    """Yield every form of every set, those of the log first, with its number and the total."""
    log = folder / "measured.jsonl"
    known = last_results(log, Trained)
    tasks = [(name, form) for name in sets for form in FORMS]
    missing = [task for task in tasks if f"{task[0]} {task[1].key}" not in known]
    done = 0
    for name, form in tasks:
        if (name, form) not in missing:
            done += 1
            yield known[f"{name} {form.key}"], done, len(tasks)
    if not missing:
        return
    # A forked process would inherit threads of libraries.
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"))
    with appending(log) as append:
        try:
            futures = [pool.submit(trained, folder, *task) for task in missing]
            for future in as_completed(futures):
                one = future.result()
                append(one)
                done += 1
                yield one, done, len(tasks)
        finally:
            pool.shutdown(cancel_futures=True)
