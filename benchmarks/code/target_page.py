"""
Write docs/targets.md: flash, RAM, stack and speed of the reference models on every target.

Needs the cross compilers and simulators of every target (`bncc targets` lists them) and the
papers' data; takes a few minutes on two cores. The same tools give the same page:

    .venv/bin/python -m benchmarks.code.target_page --data ../shared/data -o docs/targets.md
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.code.target_figures import PEERS, Facts, Figures, measure
from benchmarks.shared.markdown import held, place, renew, table
from bncc.device.measure import Measurement
from bncc.device.meter import Cost
from bncc.model.atomic import write_whole
from bncc.on_device import TargetReport
from bncc.targets import find_target

COMMAND = ".venv/bin/python -m benchmarks.code.target_page --data ../shared/data -o docs/targets.md"
NOT_RUN = "<!-- not run: it needs the papers' data and measures for minutes -->"
ENTRIES = ("predict", "trusted", "raw")
NOTHING = "."
"""An empty cell: no thresholds, so no readings."""

HEAD = """\
# Targets: flash, RAM, stack and speed

This page gives the footprint of emitted C on each target, compared with the **textbook classifier**
of the same model: a `uint8_t` table `[row][class]`, 16-bit sums, one loop over the features and one
over the classes, as a good engineer writes it from a paper.
"""

READING = """\
A cell is bncc's figure. In brackets is the textbook classifier's figure divided by it, in **bold**
if the textbook needs less. Memory is in bytes. Speed is executed instructions per decision, on AVR
clock cycles: the mean of 100 test rows, and below it the range if rows differ. `predict` takes
states and checks them, `trusted` takes states unchecked, `raw` takes a sensor's readings; models
without thresholds have no `raw`. bncc's figures are for one build of the output of `emit-c` at -O2;
`trusted` is measured in a second emission, `--with trusted`. The textbook has the best of three
builds: -Os for memory, and for each speed the better of -O2 and -O3.
"""

LEVELS = """\
These figures compare one build of bncc with the best of three. At -O3 gcc makes the textbook's
loops longer and faster, most of all if classes are few. The next table compares `trusted` with both
at -O2:
"""

CYCLES = """\
## Cycles on a Cortex-M0

A load takes two cycles and a taken branch three, so the layout with the fewest instructions need
not have the fewest cycles. The table compares all kernels for `--optimize speed` and `size` by the
means of `predict` over 10 test rows, without wait states ([time and
energy](how-to/time-and-energy.md)). In **bold** is a layout that cycles would choose and
instructions would not; so far there is none. The last column shows that the layouts of a model
differ by about a third in cycles per instruction, so two of similar length may change places. This
command updates the table:
"""

CYCLES_COMMAND = ".venv/bin/python -m benchmarks.code.cycle_choice --data ../shared/data --write"

HOW = """\
## Measurement methods

- **Flash, RAM**: all sections of a linked program that occupy memory, less those of the same
  program with an empty classifier. Library routines that the classifier links (comparing
  floats, dividing, copying) count; start-up code does not. The program calls `predict` and, if
  there is one, `raw`; the linker drops the rest.
- **Stack**: the maximum depth below the caller's during `predict` and `raw`, the return address
  included if the call pushes it. On AVR the stack pointer is read after every instruction. On other
  targets the memory below the stack is painted before the call. This does not detect memory that a
  function reserves at the far end and never writes.
- **Speed**: a counter is read before and after the call. Argument set-up, call and return are
  included; the overhead of the counter is subtracted. In every run the counter must
  first find the exact difference between two loops of known length, else there is no figure.
  Cortex-M: QEMU's virtual time, 1,024 ns per instruction, read from a timer of 25 MHz (25.6 ticks
  per instruction, so rounding is exact); code for the M0 runs on the board of an M3, which executes
  all of it. RV32: `minstret`. AVR: simavr's cycles, those of any AVR with a 16-bit program counter.
  x86-64 and MIPS: instructions that unicorn executes.
- **Inputs**: 100 test rows, a seeded choice. They are converted to the target's types beforehand,
  and are in memory before the counter is read.
- Every measured decision is compared with the Python model; a program with a different decision
  gets no figure.

## Limitations

- Executed instructions are not cycles. On a Cortex-M0 a load takes two cycles and a taken branch
  three, slow flash adds wait states, and a Cortex-M7 starts two instructions at once. Compare
  programs on one target, not targets with each other. AVR figures are cycles.
- No hardware was used.
- Errors are those of tables by counting (`--parameters ml`), so that the figures can be reproduced
  on every computer. Other training methods give tables of the same shape and lower errors.
- The AVR here has 128 KB of flash: a model of more than 32,768 bytes does not fit an ATmega328P.
"""

PEERS_TEXT = """\
## Comparison with an independent measurement

A study made before bncc was built measured a hand-written naive Bayes with 8-bit tables, with its
own tools. The table gives our count for the textbook classifier, also without checks (`trusted`)
and at -O2, then the study's count and the difference. Data and fold are the same; the 100 test
rows are not. The two programs differ little: the study's has a rectangular table
`[feature][state][class]` and computes a row's address by a multiplication, ours reads the address
of a feature's rows.
"""

PEERS_X86 = """\
On x86 the study's program is position-independent code, gcc's default for programs on Debian, which
takes one more instruction for every feature and class; ours is linked at fixed addresses, as for
the microcontrollers. Built as position-independent code and counted by callgrind, as in the study,
our letter classifier takes 3,006.
"""


def page(figures: Figures) -> str:
    """Return the page in Markdown."""
    models = list(figures.facts)
    targets = list(dict.fromkeys(target for target, _ in figures.reports))
    links = ", ".join(f"[{target}](#{target})" for target in targets)
    parts = [
        HEAD,
        f"**How to read this page**: select your target ({links}), then your model's row. The "
        "first tables compare targets.\n",
        READING,
        f"This command writes the page:\n\n{NOT_RUN}\n```sh\n{COMMAND}\n```\n",
        "## All targets: `predict`\n",
        _overview(figures, models, targets, lambda r: _versus(r, "predict", is_ranged=False)),
        "## All targets: flash\n",
        _overview(figures, models, targets, lambda r: _ratio(r.ours.flash, r.ratio["flash"])),
        "## Cases in favor of the textbook classifier\n",
        "".join(_losses(figures, kind) for kind in ("flash", *ENTRIES)),
        *([LEVELS, _at_one_level(figures)] if figures.ours else []),
        "## The models\n",
        _models(figures.facts),
    ]
    for target in targets:
        found = {model: figures.reports[target, model] for model in models}
        parts += [f"## {target}\n", *_machine(found)]
    if figures.ours:
        parts += [PEERS_TEXT, _peers(figures), PEERS_X86]
    parts += [CYCLES, f"{NOT_RUN}\n```sh\n{CYCLES_COMMAND}\n```\n", place("cycles")]
    return "\n".join([*parts, HOW])


def _overview(
    figures: Figures,
    models: Sequence[str],
    targets: Sequence[str],
    cell: Callable[[TargetReport], str],
) -> str:
    rows = ([m, *(cell(figures.reports[t, m]) for t in targets)] for m in models)
    return table(["model", *targets], rows)


def _models(facts: Mapping[str, Facts]) -> str:
    head = ["model", "features", "classes", "readings", "bytes of tables", "test error"]
    rows = (
        [
            name, f"{f.features}", f"{f.classes}", f.readings, f"{f.table_bytes:,}",
            f"{f.error:.2f} %",
        ]
        for name, f in facts.items()
    )  # fmt: skip
    return table(head, rows)


def _machine(found: Mapping[str, TargetReport]) -> Iterator[str]:
    """Yield the section of one target: its tools, bncc's figures, and the textbook's."""
    first = next(iter(found.values()))
    title = find_target(first.target).title
    yield f"{title}. Built by {first.toolchain}, run by {first.simulator}. Speed in {first.unit}.\n"
    head = ["flash", "RAM", "stack", *(f"`{entry}`" for entry in ENTRIES)]
    yield table(["bncc", *head], ([name, *_ours(report)] for name, report in found.items()))
    yield table(["textbook", *head], ([name, *_book(report)] for name, report in found.items()))
    reasons = {name: r.baseline_misfit for name, r in found.items() if r.baseline_misfit}
    for reason in dict.fromkeys(reasons.values()):
        names = ", ".join(name for name in reasons if reasons[name] == reason)
        yield f"No textbook for {names}: {reason.rstrip('.')}.\n"


def _ours(report: TargetReport) -> list[str]:
    ours = report.ours
    speeds = [_versus(report, entry) for entry in ENTRIES]
    return [_ratio(ours.flash, report.ratio["flash"]), f"{ours.ram:,}", f"{ours.stack:,}", *speeds]


def _book(report: TargetReport) -> list[str]:
    book = report.baseline
    if book is None:
        return ["none", *[NOTHING] * (2 + len(ENTRIES))]
    levels = _levels(book)
    speeds = [
        f"{book.costs[e].mean:,.0f} {levels[e]}{_range(book.costs[e])}"
        if e in book.costs
        else NOTHING
        for e in ENTRIES
    ]
    return [f"{book.flash:,}", f"{book.ram:,}", f"{book.stack:,}", *speeds]


def _levels(book: Measurement) -> dict[str, str]:
    """Return the compiler level of each figure of the textbook."""
    words = (pair.partition(" ") for pair in book.optimization.split(", "))
    return {figure: level for figure, _, level in words}


def _versus(report: TargetReport, entry: str, *, is_ranged: bool = True) -> str:
    cost = report.ours.costs.get(entry)
    if cost is None:
        return NOTHING
    return _ratio(cost.mean, report.ratio[entry]) + (_range(cost) if is_ranged else "")


def _ratio(figure: float, ratio: float | None) -> str:
    if ratio is None:
        return f"{figure:,.0f}"
    words = f"**{ratio:.2f}**" if _is_ahead(ratio) else f"{ratio:.2f}"
    return f"{figure:,.0f} ({words})"


def _is_ahead(ratio: float) -> bool:
    """Return True if the textbook needs less, to two decimals."""
    return round(ratio, 2) < 1


def _range(cost: Cost) -> str:
    return "" if cost.min == cost.max else f"<br><sub>{cost.min:,} .. {cost.max:,}</sub>"


def _losses(figures: Figures, kind: str) -> str:
    """Format in how many cases and by how much the textbook needs less."""
    ratios = {place: r.ratio[kind] for place, r in figures.reports.items()}
    known = {place: ratio for place, ratio in ratios.items() if ratio is not None}
    n_lost = sum(_is_ahead(ratio) for ratio in known.values())
    what = "Flash" if kind == "flash" else f"`{kind}`"
    if not known:
        return f"- {what}: not measured.\n"
    (best_at, best), (worst_at, worst) = (
        (" on ".join(reversed(place)), known[place])
        for place in (max(known, key=known.__getitem__), min(known, key=known.__getitem__))
    )
    return (
        f"- {what}: in {n_lost} of {len(known)} cases. The ratio is between {worst:.2f} "
        f"({worst_at}) and {best:.2f} ({best_at}).\n"
    )


def _at_one_level(figures: Figures) -> str:
    """Return the table of figures that were compiled at -O2 alone."""
    targets = list(dict.fromkeys(target for _, target in figures.ours))
    rows = []
    for name in PEERS:
        model = f"{name} naive B=8"
        means = {t: figures.reports[t, model].ours.costs["trusted"].mean for t in targets}
        rows.append([model, *(_ratio(means[t], figures.ours[name, t] / means[t]) for t in targets)])
    return table(["model", *targets], rows)


def _peers(figures: Figures) -> str:
    targets = list(dict.fromkeys(target for _, target in figures.ours))
    rows = (
        [
            f"{name} naive B=8",
            *(_pair(figures.ours[name, target], PEERS[name][target]) for target in targets),
        ]
        for name in PEERS
    )
    return table(["model", *targets], rows)


def _pair(ours: float, theirs: int) -> str:
    return f"{ours:,.0f} / {theirs:,} ({100 * (ours / theirs - 1):+.1f} %)"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with paper/")
    parser.add_argument("-o", dest="to", type=Path, required=True, help="output page")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    if not (options.data / "paper").is_dir():
        parser.error(f"there is no folder paper in '{options.data}'; name the data with --data")
    return options


def main() -> None:
    """Measure and write."""
    options = _arguments()
    figures = measure(
        options.data, options.processes, lambda line: print(line, file=sys.stderr, flush=True)
    )
    old = options.to.read_text("utf-8") if options.to.exists() else place("cycles")
    write_whole(options.to, page(figures).encode("utf-8"))
    renew(options.to, {"cycles": held(old, "cycles")})


if __name__ == "__main__":
    main()
