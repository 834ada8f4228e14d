"""
Count the single-bit changes of the emitted C that its own self-test detects.

    python -m benchmarks.campaigns.selftest_mutations [MODEL.bncc ...] [--kernel K ...]
        [--with E ...] [--mutants N] [--inputs N]

Bits of constant arrays and of numbers in the code are changed one at a time in a running program.
For each change the script tests whether a decision of `predict` or `predict_raw` on random inputs
changes, and whether the self-test and the CRC of all constants detect it. A crash or an endless
loop counts as a change and as detected, as on a board. The table counts the changes that affect a
decision, and the detected ones.
"""

import argparse
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bncc.device.inputs.cover import random_states, raw_blocks
from bncc.device.machine import pack, row_dtype
from bncc.discretize.readings import state_dtype
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.errors import BnccError
from bncc.lower.kernels.families import FAMILIES
from bncc.model.file import load_model
from bncc.model.model import Model

ARRAY = re.compile(
    r"^static const (?P<type>[\w ]+?(?: \*const)?) (?P<name>m_\w+)\[(?P<length>\d*)\] M_ROM = \{$"
)
LITERAL = re.compile(r"(?<![\w.])(?P<number>0x[0-9A-F]+|\d+)(?P<suffix>U|L|UL|LL|ULL|)(?![\w.])")
DRIVER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int m_selftest(void);

static void flip(unsigned kind, unsigned long place, unsigned bit)
{
    if (kind == 0U) {
        m_flips[place] ^= 1ULL << bit;
    } else {
        unsigned char *bytes = (unsigned char *)arrays[kind - 1U].first;

        bytes[place + bit / 8U] ^= (unsigned char)(1U << (bit % 8U));
    }
}

static long n_states, n_raw;
static STATE *states;
static RAW *raw;
static short *expected;

static void *load(const char *file, size_t size, long *n)
{
    FILE *in = fopen(file, "rb");
    void *data;

    fseek(in, 0, SEEK_END);
    *n = ftell(in) / (long)size;
    rewind(in);
    data = malloc((size_t)*n * size + 1U);
    if (fread(data, size, (size_t)*n, in) != (size_t)*n) {
        exit(3);
    }
    fclose(in);
    return data;
}

static short decision(long k)
{
    if (k < n_states) {
        return m_predict(&states[k * (long)M_N_FEATURES]);
    }
    return RAW_DECISION;
}

static int differs(void)
{
    long k;

    for (k = 0; k < n_states + n_raw; k++) {
        if (decision(k) != expected[k]) {
            return 1;
        }
    }
    return 0;
}

static struct itimerval limit;

/* 1 if a check fails, crashes or hangs. */
static int asked(int what, unsigned kind, unsigned long place, unsigned bit)
{
    int status;
    const pid_t child = fork();

    if (child == 0) {
        int found;

        flip(kind, place, bit);
        setitimer(ITIMER_PROF, &limit, NULL);
        found = (what == 0) ? differs()
            : (what == 1) ? m_selftest() : m_constants_crc() != M_CONSTANTS_CRC;
        _exit(found != 0);
    }
    waitpid(child, &status, 0);
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

int main(void)
{
    unsigned kind, bit;
    unsigned long place;
    long k;

    states = load("states.bin", sizeof(STATE) * M_N_FEATURES, &n_states);
    raw = load("raw.bin", RAW_BYTES, &n_raw);
    expected = malloc((size_t)(n_states + n_raw) * sizeof *expected);
    for (k = 0; k < n_states + n_raw; k++) {
        expected[k] = decision(k);
    }
    if (m_selftest() != 0 || m_constants_crc() != M_CONSTANTS_CRC) {
        return 4;
    }
    /* Twenty times the normal time, and a tenth of a second: a longer run hangs. */
    limit.it_value.tv_usec = 100000 + 20 * (long)(clock() / (CLOCKS_PER_SEC / 1000000));
    limit.it_value.tv_sec = limit.it_value.tv_usec / 1000000;
    limit.it_value.tv_usec %= 1000000;
    while (scanf("%u %lu %u", &kind, &place, &bit) == 3) {
        const int shows = asked(0, kind, place, bit);

        printf("%d %d %d\n", shows, shows ? asked(1, kind, place, bit) : 0,
            kind == 0U ? 0 : asked(2, kind, place, bit));
        fflush(stdout);
    }
    return 0;
}
"""


@dataclass(frozen=True)
class Mutant:
    """One bit: of number `place` in the code if `kind` is 0, else of array `kind` - 1."""

    kind: int
    place: int
    bit: int


@dataclass(frozen=True)
class Tally:
    """Numbers of mutants: all, those that affect a decision, those detected."""

    n: int = 0
    shown: int = 0
    noticed: int = 0
    by_crc: int = 0

    @property
    def rate(self) -> float:
        """Share of the effective mutants that the self-test detects without its CRC."""
        return self.noticed / self.shown if self.shown else 1.0


@dataclass(frozen=True)
class Spoilable:
    """An emission whose constants and numbers can be changed at run time."""

    source: str  # ``m.c`` with flips of numbers, and without const arrays
    arrays: tuple[tuple[str, int, int], ...]  # Name, entries and bits per entry
    numbers: tuple[tuple[int, int], ...]  # Value and number of changed bits

    def mutants(self) -> Iterator[Mutant]:
        """Generate every change of one bit."""
        for kind, (_, length, bits) in enumerate(self.arrays, 1):
            for k in range(length):
                for bit in range(bits):
                    yield Mutant(kind, k * bits // 8, bit)
        for place, (_, bits) in enumerate(self.numbers):
            for bit in range(bits):
                yield Mutant(0, place, bit)


def spoilable(text: str) -> Spoilable:
    """Rewrite ``m.c`` for changes at run time; addresses of rows are left as they are."""
    arrays: list[tuple[str, int, int]] = []
    numbers: list[tuple[int, int]] = []
    lines, is_data, depth, is_check = [], False, 0, False
    code = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), text, flags=re.DOTALL)

    def flipped(match: re.Match[str]) -> str:
        value, suffix = int(match["number"], 0), match["suffix"]
        numbers.append((value, 8 if value < 256 else 16 if value < 65536 else 32))
        kind = {"": "int", "U": "unsigned", "L": "long", "LL": "long long"}.get(
            suffix, "unsigned long long"
        )
        return f"({match.group()} ^ ({kind})m_flips[{len(numbers) - 1}])"

    for line in code.split("\n"):
        found = ARRAY.match(line)
        is_check |= "SELFTEST_CRC" in line
        if found:
            is_data = True
            if "*" not in found["type"] and found["length"]:
                bits = int(found["type"].removesuffix("_t").lstrip("uint"))
                arrays.append((found["name"], int(found["length"]), bits))
                line = line.replace("static const", "static")
        is_macro = re.match(r"#define M_\w+ [0-9]", line) is not None
        plain = "__asm__" in line or (
            "[" in line and re.match(r"\s*(volatile )?\w+ \w+\[\d+U?\];", line)
        )
        if (
            not is_data
            and not is_check
            and not plain
            and ((depth > 0 and line[:1] != "#") or is_macro)
        ):
            head, body = (line.split(" ", 2)[:2], line.split(" ", 2)[2]) if is_macro else ([], line)
            line = " ".join([*head, LITERAL.sub(flipped, body)])
        if is_data:
            is_data = line != "};"
        else:
            depth += line.count("{") - line.count("}")
            depth -= line.count('extern "C" {')
        lines.append(line)
    flips = f"static unsigned long long m_flips[{max(len(numbers), 1)}];"
    source = "\n".join(lines).replace('#include "m.h"', f'#include "m.h"\n{flips}', 1)
    return Spoilable(source, tuple(arrays), tuple(numbers))


def campaign(
    model: Model,
    files: Mapping[str, str],
    n_mutants: int | None,
    n_inputs: int,
    seed: int = 0,
    compiler: str = "gcc",
) -> dict[str, Tally]:
    """
    Change bits of an emission and count the detected changes, for tables and for immediates.

    The model was emitted as `files`, the plain package, under the name ``m``. `n_mutants` is the
    size of a random sample of each kind, None for all; half of the `n_inputs` random inputs are
    readings.
    """
    spoiled = spoilable(files["m.c"])
    rng = np.random.default_rng(seed)
    every = list(spoiled.mutants())
    groups = [[m for m in every if m.kind], [m for m in every if not m.kind]]
    chosen = [
        group if n_mutants is None or len(group) <= n_mutants
        else [group[k] for k in rng.choice(len(group), n_mutants, replace=False)]
        for group in groups
    ]  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="bncc-") as name:
        folder = Path(name)
        _build(folder, model, files, spoiled, n_inputs, rng, compiler)
        asked = "".join(f"{m.kind} {m.place} {m.bit}\n" for group in chosen for m in group)
        done = subprocess.run(
            "./test", cwd=folder, input=asked, capture_output=True, text=True, check=True
        )
    answers = np.array([line.split() for line in done.stdout.splitlines()], int).reshape(-1, 3)
    cut = len(chosen[0])
    parts = {"tables": answers[:cut], "immediates": answers[cut:]}
    return {kind: Tally(len(part), *part.sum(axis=0).tolist()) for kind, part in parts.items()}


def _build(
    folder: Path,
    model: Model,
    files: Mapping[str, str],
    spoiled: Spoilable,
    n_inputs: int,
    rng: np.random.Generator,
    compiler: str,
) -> None:
    """Write inputs and build the program that changes itself."""
    dtype = state_dtype(model.n_states)
    has_raw = "m_predict_raw(" in files["m.h"]
    is_array = "_raw_t;" in files["m.h"] and "} m_raw_t;" not in files["m.h"]
    n_states = n_inputs // 2 if has_raw else n_inputs
    random_states(model, n_states, rng).astype(dtype).tofile(folder / "states.bin")
    blocks = raw_blocks(model, n_inputs - n_states, rng, max(n_inputs - n_states, 1))
    readings = next(blocks) if has_raw else np.zeros((0, model.n_features))
    rows = pack(readings, row_dtype(model.features))
    (folder / "raw.bin").write_bytes(rows.tobytes())
    step = "(long)M_N_FEATURES" if is_array else "1"
    defines = {
        "STATE": f"uint{8 * dtype.itemsize}_t",
        "RAW": "m_raw_t" if has_raw else "char",
        "RAW_BYTES": ("sizeof(RAW)" + (" * M_N_FEATURES" if is_array else "")) if has_raw else "1U",
        "RAW_DECISION": f"m_predict_raw(&raw[(k - n_states) * {step}])" if has_raw else "0",
    }
    listed = "".join(f"    {{ {name} }},\n" for name, *_ in spoiled.arrays)
    text = (
        f'{spoiled.source}\n#include "m_vectors.h"\n'
        f"static const struct {{ void *first; }} arrays[] = {{\n{listed}}};\n"
        + "".join(f"#define {name} {value}\n" for name, value in defines.items())
        + DRIVER
    )
    for file, content in {**files, "spoiled.c": text}.items():
        if file.endswith((".c", ".h")):
            (folder / file).write_text(content, encoding="utf-8")
    for source, flags in (
        ("spoiled.c", ("-DM_SELFTEST_CRC", "-w")),
        ("m_selftest.c", ("-DM_SELFTEST_NO_MAIN",)),
    ):
        subprocess.run(
            (compiler, "-std=gnu99", "-O1", *flags, "-c", source), cwd=folder, check=True
        )
    subprocess.run((compiler, "spoiled.o", "m_selftest.o", "-o", "test"), cwd=folder, check=True)


def emissions(
    model: Model, kernels: Sequence[str], entries: frozenset[str]
) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Generate the files of a model with each kernel that has a layout for it."""
    for kernel in kernels:
        try:
            emission = emit_c(model, EmitOptions("m", entries, kernel=kernel))
        except BnccError:
            continue
        yield kernel, emission.files


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="+", metavar="MODEL.bncc")
    parser.add_argument("--kernel", action="append", choices=tuple(FAMILIES), dest="kernels")
    parser.add_argument("--with", action="append", default=[], dest="entries")
    parser.add_argument("--mutants", type=int, default=1000, help="per kernel and kind")
    parser.add_argument("--inputs", type=int, default=100_000)
    options = parser.parse_args()
    columns = "| {:16} | {:10} | {:10} | {:>7} | {:>9} | {:>8} | {:>8} |"
    print(columns.format("model", "kernel", "changed", "bits", "effective", "detected", "by CRC"))
    print(columns.format(*["---"] * 7))
    for path in options.models:
        model = load_model(path)
        kernels = options.kernels or tuple(FAMILIES)
        for kernel, files in emissions(model, kernels, frozenset(options.entries)):
            found = campaign(model, files, options.mutants, options.inputs)
            for kind, tally in found.items():
                crc = f"{tally.by_crc / max(tally.n, 1):.1%}" if kind == "tables" else "-"
                row = (
                    Path(path).stem,
                    kernel,
                    kind,
                    tally.n,
                    tally.shown,
                    f"{tally.rate:.1%}",
                    crc,
                )
                print(columns.format(*row), flush=True)


if __name__ == "__main__":
    main()
