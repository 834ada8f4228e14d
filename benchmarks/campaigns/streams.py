"""
Emitted front ends compared with Python on many samples, and their mutants.

- ``agree``: a front end of all features of six signals, of their ratios and of sums of panes, on
  this computer or a simulated target; samples of every kind, as many as asked for, in segments of
  random length.
- ``mutants``: each statement of the C is deleted, and each operator and constant is replaced. Those
  that agree with Python on samples as in the tests are printed. All known ones are equivalent: the
  least level, which is never crossed; the mean of a jerk, which is 0 at first; the last ``return``
  of a lifting, after which the detail is 0; the condition of a negative base, both branches of
  which agree where conversions wrap.
- ``price``: instructions or cycles per sample, and bytes of state, on a target, for
  docs/recordings.md.
- ``share``: the same of channels that share code, for the same page.

The campaign of the release; exit code 1 means that a sample differs:

    .venv/bin/python -m benchmarks.campaigns.streams agree --n 100000000
    .venv/bin/python -m benchmarks.campaigns.streams agree --n 1000000 --target cortex-m0
    .venv/bin/python -m benchmarks.campaigns.streams mutants
    .venv/bin/python -m benchmarks.campaigns.streams price --target cortex-m0 --write
    .venv/bin/python -m benchmarks.campaigns.streams share --write
"""

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks.shared.markdown import renew, table
from bncc._types import IntArray
from bncc.device.cross import find_toolchain
from bncc.device.inputs.samples import segments
from bncc.device.samples import (
    StreamCost,
    StreamProgram,
    StreamSources,
    cross_stream,
    host_stream,
    stream_cost,
)
from bncc.emit.front_end import front_end_c
from bncc.errors import ToolchainError
from bncc.lower.sample_shared import plan_shared
from bncc.lower.sample_stream import plan_samples
from bncc.on_device import stream_sources
from bncc.recordings.front_end import FrontEnd
from bncc.targets import find_target
from tests.front_ends import SIGNALS, front_end, with_levels

PAGE = Path(__file__).resolve().parents[2] / "docs" / "recordings.md"
CHUNK = 100_000
"""Samples of a segment of the comparison, at most."""
COMPARED = "default,ratios,panes,hoc"
"""Features of the comparison."""
KINDS = ",".join(["sum,min,max,range,change,crossings", *(f"haar{k}" for k in range(1, 8))])
"""The 13 kinds of features, whose price is stated together."""
COSTS = ("flash", "state", "stack", "mean per sample", "worst")
"""Columns of a price."""
_SWAPS = (
    (r" \+ ", " - "), (r" - ", " + "), (r" < ", " > "), (r" > ", " < "), (r" >= ", " > "),
    (r" >> (\d+)", r" >> (\1 + 1)"), (r" << (\d+)", r" << (\1 + 1)"), (r" \^ ", " | "),
    (r"\b0U;", "1U;"), (r"\b([1-9]\d*)U\b", r"(\1U - 1U)"), (r" == ", " != "), (r" != ", " == "),
)  # fmt: skip


_MUTANT_FLAGS = ("-O0", "-Wno-error", "-Werror=return-type")


def parts_of(tested: FrontEnd, n: int, seed: int) -> Iterator[list[IntArray]]:
    """Yield lists of segments of every kind with n samples in all."""
    rng = np.random.default_rng(seed)
    sources, left = stream_sources(tested), n
    while left > 0:
        length = int(rng.integers(1, min(CHUNK, left // 11 + 1) + 1))
        kinds = list(segments(tested.form, sources.sample_type, length, sources.n_channels, rng))
        yield kinds
        left -= length * len(kinds)


def built_for(target: str, sources: StreamSources) -> AbstractContextManager[StreamProgram]:
    """Build a front end for this computer or a simulated target."""
    if target == "host":
        return host_stream(sources)
    return cross_stream(sources, find_toolchain(find_target(target))[0])


def agree(n: int, seed: int, target: str) -> int:
    """Compare n samples, and print the time."""
    start, n_samples, n_windows, wrong = perf_counter(), 0, 0, 0
    forms = {"int16": 64, "int8": 32, "uint16": 64, "-2048..2047": 16}
    for form, hop in forms.items():
        signals = "x,jerk(x,y)" if target == "avr" else SIGNALS
        tested = front_end(form, 128, hop, COMPARED, signals)
        with built_for(target, stream_sources(tested)) as program:
            for parts in parts_of(tested, n // len(forms), seed):
                found = program.features(parts)
                expected = np.concatenate([tested.values(part) for part in parts])
                wrong += int((found != expected).any(axis=1).sum())
                n_samples += sum(map(len, parts))
                n_windows += len(found)
    seconds = perf_counter() - start
    print(
        f"{target}: {n_samples:,} samples, {n_windows:,} windows, {wrong} differ, {seconds:.0f} s"
    )
    return int(wrong > 0)


def mutants_of(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the line, the mutated line and the mutated text of every mutant."""
    lines = text.split("\n")
    begin = next(k for k, line in enumerate(lines) if "_offset_of(" in line)
    for k in range(begin, len(lines)):
        line = lines[k]
        if line.lstrip().startswith(("/*", "*", "static", "void", "const int16_t sample")):
            continue
        changed = []
        if re.fullmatch(r"\s+(?!return|const|u?int|else)[^{}]*;", line):
            changed.append("")
        for pattern, by in _SWAPS:
            changed += [
                line[: match.start()] + match.expand(by) + line[match.end() :]
                for match in re.finditer(pattern, line)
            ]
        for new in changed:
            yield k + 1, new, "\n".join([*lines[:k], new, *lines[k + 1 :]])


def mutants(step: int) -> int:
    """Print each mutant that no sample finds."""
    n = n_rejected = 0
    survivors = []
    for tested in (with_levels("-300..300", 12, 4), front_end("int16", 32, 32, signals="x")):
        sources = stream_sources(tested)
        parts = [part for each in parts_of_tests(tested, sources) for part in each]
        expected = np.concatenate([tested.values(part) for part in parts])
        source = sources.files[f"{sources.name}.c"]
        for number, line, text in list(mutants_of(source))[::step]:
            n += 1
            files = {**sources.files, f"{sources.name}.c": text}
            try:
                with host_stream(replace(sources, files=files), _MUTANT_FLAGS) as program:
                    found = program.features(parts)
            except ToolchainError:
                n_rejected += 1
                continue
            if found.shape == expected.shape and (found == expected).all():
                survivors.append(f"line {number}: {source.split(chr(10))[number - 1]} -> {line}")
    print("\n".join(survivors))
    print(f"{n} mutants, {n_rejected} rejected by the compiler, {len(survivors)} survive")
    return 0


def parts_of_tests(tested: FrontEnd, sources: StreamSources) -> Iterator[list[IntArray]]:
    """Yield segments as in the tests: of every kind, and short ones."""
    rng, length = np.random.default_rng(0), tested.windows.length
    for n in (3 * length + 200, length - 1, 2 * length + 3, 1, *[length] * 60):
        yield list(segments(tested.form, sources.sample_type, n, sources.n_channels, rng))


def price(target: str, level: str, *, is_written: bool) -> int:
    """Print what features of one channel cost, windows of 128 samples."""
    bench = find_toolchain(find_target(target))[0]
    titles = ("sum", "min,max,range", "change", "haar1", "haar7", "hoc1", "hoc5", "crossings")
    rows: Sequence[tuple[str, str, int]] = (
        *((title, title, 128) for title in titles),
        ("all 13 kinds", KINDS, 128),
        ("all 13 kinds", KINDS, 64),
    )
    rng, cells = np.random.default_rng(0), []
    for title, features, hop in rows:
        tested = front_end("int16", 128, hop, features, "x", "x")
        part = next(segments(tested.form, "int16", 1024, 1, rng))
        cost = stream_cost(stream_sources(tested), bench, [part], level)
        cells.append([f"{title.replace(',', ', ')}; hop {hop}", *cells_of(cost)])
    print(f"one int16 channel, {bench.target.unit} at {level}, {bench.place}")
    return show(f"price-{target}", ["features", *COSTS], cells, is_written=is_written)


def share(level: str, *, is_written: bool) -> int:
    """Print what front ends cost with code for each channel, and with code that channels share."""
    rng = np.random.default_rng(0)
    rows = []
    for title, features in (("five kinds", "sum,min,max,change,haar3"), ("all 13 kinds", KINDS)):
        tested = front_end("int16", 128, 64, features, None)
        part = next(segments(tested.form, "int16", 1024, 3, rng))
        for target in ("cortex-m0", "avr"):
            bench = find_toolchain(find_target(target))[0]
            for plan, form in ((plan_samples, "per channel"), (plan_shared, "shared")):
                files = front_end_c(tested, "features", plan)
                cost = stream_cost(
                    replace(stream_sources(tested), files=files), bench, [part], level
                )
                rows.append([f"{title}, {target}, {form}", *cells_of(cost)])
    head = ["features, target, code", *COSTS]
    return show("share", head, rows, is_written=is_written)


def cells_of(cost: StreamCost) -> list[str]:
    """Return the cells of `COSTS`."""
    sizes = (f"{n:,}" for n in (cost.flash, cost.state, cost.stack))
    return [*sizes, f"{cost.samples.mean():,.0f}", f"{cost.samples.max():,}"]


def show(name: str, head: list[str], rows: list[list[str]], *, is_written: bool) -> int:
    """Print a table, and write it to the page."""
    found = table(head, rows)
    print(found)
    if is_written:
        renew(PAGE, {name: found})
    return 0


def main() -> int:
    """Run a part."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("part", choices=("agree", "mutants", "price", "share"))
    parser.add_argument("--n", type=int, default=10**7, help="samples")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--step", type=int, default=1, help="try only every step-th mutant")
    parser.add_argument("--target", default="host", help="target; not host for `price`")
    parser.add_argument("--level", default="-Os")
    parser.add_argument("--write", action="store_true", help="update the page: `price`, `share`")
    options = parser.parse_args()
    if options.part == "agree":
        return agree(options.n, options.seed, options.target)
    if options.part == "mutants":
        return mutants(options.step)
    if options.part == "share":
        return share(options.level, is_written=options.write)
    return price(options.target, options.level, is_written=options.write)


if __name__ == "__main__":
    sys.exit(main())
