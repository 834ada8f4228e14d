"""
One-bit changes of proved machine code, and what `bncc prove` says about each.

The code of each model is built and proved, and the run notes which bytes it decodes and which
constants it reads. Each mutant changes one bit of these: of an instruction or a constant in turn.
A mutant is proved, refuted by a concrete input, or undecided; one that is proved is then called
with many inputs, and is wrongly accepted if one of them disagrees with the model:

    .venv/bin/python -m benchmarks.campaigns.prove_mutants MODEL.bncc --mutants 100 -o mutants.jsonl

Every mutant is one line of the output, and those that it has are skipped, so a campaign resumes. A
second run with more `--inputs` calls the proved mutants again.
The exit code is 1 if a mutant is wrongly accepted or the original is not proved.
"""

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, count, islice, product, takewhile
from multiprocessing import get_context
from pathlib import Path
from time import monotonic
from typing import Any

import click
import numpy as np

from benchmarks.campaigns.many_calls import ManyCalls
from benchmarks.campaigns.proofs import linked
from bncc._types import IntArray
from bncc.errors import BnccError
from bncc.model.file import load_model
from bncc.model.model import Model
from bncc.model.reference import predict
from bncc.prove.build import ENTRIES
from bncc.prove.code import Code
from bncc.prove.points import Points
from bncc.prove.prove import prove
from bncc.prove.refute import Counterexample, Search
from bncc.prove.replay import Replay, patched
from bncc.prove.specification import ERROR, specification
from bncc.resources import Budget

KINDS = ("opcode", "constant")
EVERY = 512
"""Number of inputs of a group of single calls."""
MANY = 8192
"""Number of inputs of a group of calls that a loop makes."""
SINGLE = 20_000
"""Number of calls of an accepted mutant that are made one by one, with each access checked."""


@dataclass(frozen=True)
class Traced(Code):
    """A program that notes which of its bytes are read."""

    reads: set[tuple[int, int]] = field(default_factory=set)

    def bytes_at(self, address: int, size: int) -> bytes | None:
        """Return bytes of code or constants, and note where they are."""
        self.reads.add((address, size))
        return super().bytes_at(address, size)


@dataclass(frozen=True)
class Binary:
    """An entry point of a built model, and the bytes that may change."""

    name: str
    model: Model
    code: Code
    symbol: str
    entry: Any
    score_size: int
    places: Mapping[str, tuple[int, ...]]  # Addresses of bytes by kind, ascending
    proved: bool

    @property
    def key(self) -> str:
        """Name in the output."""
        return f"{self.name} {self.entry}"


def places_of(code: Code, symbol: str, reads: Iterable[tuple[int, int]]) -> dict[str, set[int]]:
    """Return the bytes of instructions and of constants among those that a proof has read."""
    from bncc.prove.flow import flow_of
    from bncc.prove.machines import decoder_of

    decoder = decoder_of(code)
    instructions: set[int] = set()
    starts = [code.entry(symbol)]
    seen = set()
    while starts:
        start = starts.pop()
        if start in seen:
            continue
        seen.add(start)
        for address in flow_of(decoder.decode, start).places:
            found = decoder.decode(address)
            instructions.update(range(address, address + found.size))
            calls = [e.target for e in found.effects if getattr(e, "is_call", False)]
            starts += [target & ~1 for target in calls if isinstance(target, int)]
    every = {address + k for address, size in reads for k in range(size)}
    held = {a for a in every if code.bytes_at(a, 1) is not None}
    return {"opcode": instructions & held, "constant": held - instructions}


def built(
    path: Path, target: str, optimize: Any, level: str, entries: tuple[str, ...]
) -> Iterator[Binary]:
    """Build a model and yield each entry point, proved."""
    model = load_model(path)
    needed = Budget(target).emitted(entries)
    program = linked(model, target, optimize, level, entries, needed)
    code, symbols, score_size = program.code, program.symbols, program.score_size
    for entry in entries:
        traced = Traced(code.target, code.sections, code.symbols, code.sha256)
        verdict = prove(model, traced, symbols[entry], entry, score_size=score_size)  # type: ignore[arg-type]
        places = places_of(code, symbols[entry], traced.reads)
        name = f"{path.name.removesuffix('.bncc')} {target} {optimize} {level}"
        yield Binary(
            name,
            model,
            code,
            symbols[entry],
            entry,
            score_size,
            {kind: tuple(sorted(places[kind])) for kind in KINDS},
            verdict.status == "proved",
        )


def mutant(binary: Binary, seed: int, k: int) -> tuple[Code, dict[str, Any]]:
    """Return the k-th mutant of a binary, and what is changed."""
    rng = np.random.default_rng([seed, k, *binary.key.encode()])
    kind = KINDS[k % 2] if binary.places[KINDS[k % 2]] else KINDS[1 - k % 2]
    address = int(rng.choice(binary.places[kind]))
    bit = int(rng.integers(8))
    old = binary.code.bytes_at(address, 1)
    assert old is not None
    changed = patched(binary.code, address, bytes([old[0] ^ 1 << bit]))
    return changed, {"kind": kind, "address": address, "bit": bit}


def judged(binary: Binary, seed: int, k: int, time_limit: float, n_inputs: int) -> dict[str, Any]:
    """Prove one mutant, and call it if it is proved."""
    code, facts = mutant(binary, seed, k)
    facts = {"binary": binary.key, "k": k, "seed": seed, **facts}
    start = monotonic()
    try:
        verdict = prove(
            binary.model,
            code,
            binary.symbol,
            binary.entry,
            time_limit=time_limit,
            score_size=binary.score_size,
        )
    except Exception as error:  # a defect of the prover, which the table lists
        name = f"{type(error).__name__}: {error}"
        return facts | {"status": "failed", "reason": name, "seconds": monotonic() - start}
    facts |= {
        "status": verdict.status,
        "reason": verdict.reason,
        "detail": verdict.detail,
        "input": None if verdict.input is None else {k: str(v) for k, v in verdict.input.items()},
        "expected": verdict.expected,
        "actual": verdict.actual,
        "seconds": round(verdict.seconds, 3),
    }
    if verdict.status == "proved":
        facts["inputs"] = n_inputs
        found = disagreeing(binary, code, n_inputs, k)
        if found is not None:
            facts["status"] = "wrongly accepted"
            facts["reason"] = f"{found.reason}: {found.detail}"
            facts["input"] = {name: str(value) for name, value in found.input.items()}
            facts["expected"], facts["actual"] = found.expected, found.actual
    return facts


def disagreeing(binary: Binary, code: Code, n: int, seed: int) -> Counterexample | None:
    """
    Call a mutant with borders, ties and random inputs; return the first that disagrees.

    Each access to memory is checked in the first `SINGLE` calls, only the answer in others.
    """
    of = specification(
        binary.model, binary.entry, packed=code.target.packed, score_size=binary.score_size
    )
    points = Points(binary.model, binary.entry, of, packed=code.target.packed, seed=seed)
    search = Search(Replay(code, binary.symbol), points)
    found = search.refuting(_inputs(points), min(n, SINGLE))
    if found is not None or n <= SINGLE or of.score_size or code.target.name == "avr":
        return found or search.refuting(_inputs(points), n)
    calls = ManyCalls(code, binary.symbol)
    groups = chain(points.borders(), (points.mixed(MANY) for _ in count()))
    done = SINGLE
    while done < n:
        group = next(groups)
        odd = suspects(points, group, calls.answers(points.buffers(group)))
        if len(odd):
            confirmed = search.refuting([group[odd]], search.n_calls + len(odd))
            # A single call begins with other registers and another stack.
            return confirmed or Counterexample("registers", "no single call gives this answer", {})
        done += len(group)
    return None


def suspects(points: Points, group: IntArray, answers: IntArray | None) -> IntArray:
    """Return which calls of a group gave another answer than the model, all if one broke off."""
    if answers is None:
        return np.arange(len(group))
    X, valid = points.states(group)
    expected = np.where(valid, predict(points.model, X), ERROR)
    # An unused state out of range may be refused or not.
    may_refuse = (group >= points.n_numbers).any(axis=1)
    return np.flatnonzero((answers != expected) & ~((answers == ERROR) & may_refuse))


def _inputs(points: Points) -> Iterator[IntArray]:
    yield from points.borders()
    ties = points.cells()
    while True:
        yield from islice(ties, 4)
        yield points.mixed(EVERY)


def table_of(lines: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the counts of a campaign as lines of text, by binary and reason."""
    counts: dict[str, Counter[str]] = {}
    for line in lines:
        own = counts.setdefault(line["binary"], Counter())
        own[line["status"]] += 1
        own["mutants"] += 1
        if line["status"] in ("refuted", "undecided", "failed"):
            own[f"{line['status']}: {line['reason']}"] += 1
    total = sum(counts.values(), Counter())
    found = []
    for name, own in (*sorted(counts.items()), ("total", total)):
        parts = [f"{own[s]} {s}" for s in ("proved", "refuted", "undecided", "failed") if own[s]]
        reasons = [f"{what} {n}" for what, n in sorted(own.items()) if ": " in what]
        parts.append(f"{own['wrongly accepted']} wrongly accepted")
        found.append(f"{name}: {own['mutants']} mutants: {', '.join(parts)}")
        found += [f"    {reason}" for reason in reasons]
    return found


def lines_of(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a campaign so far; half a line at the end is dropped."""
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        path.write_text(whole, encoding="utf-8")
    return [json.loads(line) for line in whole.splitlines()]


def key_of(line: Mapping[str, Any]) -> tuple[str, int, int]:
    """Return what tells a mutant from others."""
    return line["binary"], line["k"], line["seed"]


def _judged(task: tuple[int, Binary], **settings: Any) -> dict[str, Any]:
    k, binary = task
    return judged(binary, settings["seed"], k, settings["time_limit"], settings["n_inputs"])


@contextmanager
def _mapping(jobs: int) -> Iterator[Callable[..., Iterable[dict[str, Any]]]]:
    """Yield a `map`, in several processes if `jobs` is more than one, a few tasks ahead."""
    if jobs == 1:
        yield map
        return
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:

        def mapped(work: Callable[..., dict[str, Any]], tasks: Iterator[Any]) -> Iterator[Any]:
            waiting = {pool.submit(work, one) for one in islice(tasks, 2 * jobs)}
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                waiting |= {pool.submit(work, one) for one in islice(tasks, len(done))}
                yield from (future.result() for future in done)

        yield mapped


@click.command(help=__doc__)
@click.argument("models", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--target", default="cortex-m0", show_default=True)
@click.option("--optimize", default="balanced", show_default=True)
@click.option("--opt-level", "level", default="-Os", show_default=True)
@click.option("--entry", "entries", multiple=True, type=click.Choice(ENTRIES))
@click.option("--mutants", "n", default=100, show_default=True, help="Mutants of each binary.")
@click.option("--jobs", default=1, show_default=True, help="Processes.")
@click.option("--minutes", type=float, help="Time after which no mutant starts.")
@click.option("--time-limit", default=10.0, show_default=True, help="Seconds of each proof.")
@click.option("--inputs", "n_inputs", default=100_000, show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("-o", "output", type=click.Path(path_type=Path), default=Path("mutants.jsonl"))
def main(
    models: tuple[Path, ...],
    target: str,
    optimize: str,
    level: str,
    entries: tuple[str, ...],
    n: int,
    jobs: int,
    minutes: float | None,
    time_limit: float,
    n_inputs: int,
    seed: int,
    output: Path,
) -> None:
    start = monotonic()
    lines = {key_of(line): line for line in lines_of(output)}
    entries = entries or ("trusted", "predict", "predict-raw")
    binaries = []
    is_bad = False
    for path in models:
        try:
            for binary in built(path, target, optimize, level, entries):
                sizes = ", ".join(f"{len(binary.places[kind])} bytes of {kind}" for kind in KINDS)
                print(f"{binary.key}: {'' if binary.proved else 'NOT '}proved, {sizes}", flush=True)
                binaries += [binary] if binary.proved else []
                is_bad |= not binary.proved
        except BnccError as error:
            sys.exit(f"{path}: {error}")

    def is_open(task: tuple[int, Binary]) -> bool:
        known = lines.get((task[1].key, task[0], seed))
        return known is None or (known["status"] == "proved" and known["inputs"] < n_inputs)

    def in_time(_: object) -> bool:
        return minutes is None or monotonic() - start <= 60 * minutes

    work = partial(_judged, seed=seed, time_limit=time_limit, n_inputs=n_inputs)
    tasks = takewhile(in_time, filter(is_open, product(range(n), binaries)))
    with output.open("a", encoding="utf-8") as file, _mapping(jobs) as mapped:
        for line in mapped(work, tasks):
            file.write(json.dumps(line) + "\n")
            file.flush()
            lines[key_of(line)] = line
            if line["status"] in ("wrongly accepted", "failed"):
                print(json.dumps(line), flush=True)
    print("\n".join(table_of(lines.values())))
    sys.exit(is_bad or any(line["status"] == "wrongly accepted" for line in lines.values()))


if __name__ == "__main__":
    main()
